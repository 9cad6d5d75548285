"""The three standard streams, in whatever state the program was started."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO

# A descriptor that is free is taken by the next file that opens, and then a print of some
# library writes into a database. Stdout is given one that refuses to be written: that
# results are lost is an error; that notes are is none.
_FLAGS = {0: os.O_RDONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}


class _Forgiving(io.TextIOWrapper):
    """A stream for notes: a failed write is ignored, so that results still come."""

    replaced: TextIO | None = None

    def write(self, text: str) -> int:
        """Write, if possible."""
        with contextlib.suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, if possible."""
        with contextlib.suppress(OSError):
            super().flush()


def prepare_streams() -> None:
    """Open closed streams, and ignore failures of a stderr that is closed, full or a dead pipe."""
    for number, flags in _FLAGS.items():
        _occupy(number, flags)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    plain = sys.stderr
    if plain is None or isinstance(plain, io.TextIOWrapper):
        encoding = "utf-8" if plain is None else plain.encoding
        sys.stderr = _Forgiving(
            io.FileIO(2, "w", closefd=False),  # unbuffered, as Python itself does with -u
            encoding=encoding,
            errors="backslashreplace",
            write_through=True,
        )
        # Whose end would close the descriptor under the new one.
        sys.stderr.replaced = plain


def _occupy(number: int, flags: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, flags)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
