"""Which PDFs need a password, found without reading more than their first page."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

from pipelines.errors import EncryptedError, ReadError

_ENCRYPT = b"/Encrypt"  # stands in the trailer of every encrypted PDF, which is not deflated


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
    """Tell whether a file contains ``/Encrypt``, without opening it as a PDF."""
    from pipelines.regular_files import open_regular

    try:
        with open_regular(path) as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            return data.find(_ENCRYPT) >= 0
    except (OSError, ValueError, ReadError):  # what is wrong with it is said when it is read
        return False
