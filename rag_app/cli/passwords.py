"""Passwords of PDFs that the user types in without echo; they are neither stored nor shown."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pipelines.file_names import short_path
from rag_app.cli.output import Output

MAX_PROMPTS = 3


def ask_password(out: Output, files: Sequence[str], *, again: bool) -> str | None:
    """Ask for the password of encrypted files; None without a terminal, or where none is given.

    Args:
        out: where the command writes.
        files: their names.
        again: an earlier one did not open them.
    """
    if out.json or out.quiet or not (out.stderr_on_terminal and sys.stdin.isatty()):
        return None
    import getpass

    more = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
    wrong = "that did not open it; " if again else ""
    try:
        return (
            getpass.getpass(f"{wrong}password of {short_path(files[0])}{more}: ", out.stderr)
            or None
        )
    except EOFError:
        return None
