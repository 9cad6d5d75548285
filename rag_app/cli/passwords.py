"""Passwords of PDFs that the user types in, unseen; nothing of them is kept or shown."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Sequence
from pathlib import Path

from pipelines.errors import EncryptedError, ReadError
from rag_app.cli.output import Output
from rag_app.cli.show import path as shown

MAX_PROMPTS = 3
_MARK = b"/Encrypt"  # stands in the trailer of every encrypted PDF, which is not deflated


def ask_password(out: Output, files: Sequence[str], *, again: bool) -> str | None:
    """Ask for the password of encrypted files; None where nobody is there, or gives none.

    Args:
        out: where the command writes.
        files: their names.
        again: one was given that did not open them.
    """
    if out.json or out.quiet or not (out.stderr_on_terminal and sys.stdin.isatty()):
        return None
    import getpass

    more = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
    wrong = "that did not open it; " if again else ""
    try:
        return getpass.getpass(f"{wrong}password of {shown(files[0])}{more}: ", out.stderr) or None
    except EOFError:
        return None


def needs_password(path: Path, passwords: Sequence[str] = ()) -> bool:
    """Tell whether a file is encrypted, and opens with none of these passwords nor an empty one."""
    from pipelines.isolated import Reading, read_file
    from pipelines.readers import Limits

    try:
        # Whether it opens is known before a second page is read.
        read_file(path, reading=Reading(Limits(pages=1), tuple(passwords)))
    except EncryptedError:
        return True
    except ReadError:
        return False
    return False


def may_be_encrypted(path: Path) -> bool:
    """Tell whether a file holds the mark of encrypted ones, without opening it as a PDF."""
    from pipelines.regular_files import open_regular

    try:
        with open_regular(path) as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            return data.find(_MARK) >= 0
    except (OSError, ValueError, ReadError):  # what is wrong with it is said when it is read
        return False
