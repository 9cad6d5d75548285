"""The output of the command line: results on stdout, everything else on stderr.

Text of PDFs, questions and models is not trusted: control characters and escape
sequences are removed before it reaches a terminal, and it is never parsed as markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pipelines.cleaning import without_sequences
from pipelines.errors import RagError

if TYPE_CHECKING:
    from rich.console import Console

# C0 but tab and newline, DEL, C1, and what reverses the direction of the text around it.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_JSON_CONTROLS = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# "x", "none", "EMPTY": keys of local servers that occur in any text.
_MIN_SECRET_CHARS = 8
_UNLIMITED = 100_000
MIN_COLUMNS = 20


def clean(text: str) -> str:
    """Return the text without control characters and terminal escape sequences."""
    return _CONTROLS.sub("", without_sequences(text.replace("\r\n", "\n")))


_CJK = "\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"
_CJK_BREAK = re.compile(f"(?<=[{_CJK}])[ \\t]*\\n[ \\t]*(?=[{_CJK}])")


def one_line(text: str) -> str:
    """Return the text, cleaned, on one line; Japanese and Chinese lines join without a space."""
    return " ".join(_CJK_BREAK.sub("", clean(text)).split())


def as_line(text: str) -> str:
    """Return a message, cleaned, on one line; white space within its lines stays as it is.

    It may hold names of files, which must be printed as the user can enter them.
    """
    lines = (line.strip() for line in clean(text).splitlines())
    return " ".join(line for line in lines if line)


def to_json(value: object, *, indent: int | None = None, ascii_only: bool = False) -> str:
    """Return the value as JSON; characters that steer a terminal are escaped."""
    text = json.dumps(
        value, indent=indent, ensure_ascii=ascii_only, allow_nan=False, default=_plain
    )
    return _JSON_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _plain(value: object) -> object:
    """Return a value that JSON can hold for one that it cannot."""
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Iterable):
        return list(value)
    if hasattr(value, "item"):  # a numpy scalar
        return value.item()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def console_on(stream: TextIO, width: int | None = None) -> Console:
    """Return a console that reads no markup and knows NO_COLOR.

    Args:
        stream: where it writes.
        width: columns; None: those of the terminal, and not fewer than
            :data:`MIN_COLUMNS`, whatever it says of itself (``COLUMNS=0`` left nothing).
    """
    from rich.console import Console

    console = Console(file=stream, width=width, markup=False, highlight=False, emoji=False)
    if console.width < MIN_COLUMNS:
        console.width = MIN_COLUMNS
    return console


class OutputError(RagError):
    """Stdout cannot be written."""


class Output:
    """The two streams of one command.

    Attributes:
        json: results are JSON documents.
        quiet: notes are not written, errors are.
        secrets: strings that never appear on stderr or in an error.
    """

    def __init__(self, stdout: TextIO, stderr: TextIO, *, json: bool, quiet: bool) -> None:
        self.json = json
        self.quiet = quiet
        self.secrets: tuple[str, ...] = ()
        self._stdout = _tolerant(stdout)
        self._stderr = _tolerant(stderr)
        self._console: Console | None = None

    @property
    def on_terminal(self) -> bool:
        """Whether a person reads stdout as it is written."""
        return self._stdout.isatty()

    @property
    def stderr_on_terminal(self) -> bool:
        """Whether a person reads stderr as it is written."""
        return self._stderr.isatty()

    @property
    def stderr(self) -> TextIO:
        """The stream of notes, errors and progress."""
        return self._stderr

    def redact(self, text: str) -> str:
        """Return the text with every secret replaced by asterisks."""
        for secret in self.secrets:
            if len(secret) >= _MIN_SECRET_CHARS:
                text = text.replace(secret, "***")
        return text

    def document(self, value: object) -> None:
        """Write the one JSON document of a command."""
        self._write(to_json(value, indent=2, ascii_only=self._ascii_only) + "\n")

    def record(self, value: object) -> None:
        """Write one line of JSON Lines, at once."""
        self._write(to_json(value, ascii_only=self._ascii_only) + "\n", flush=True)

    def chunk(self, text: str) -> None:
        """Write a piece of a streamed answer, at once."""
        self._write(_CONTROLS.sub("", text), flush=True)

    def text(self, text: str = "", *, indent: int = 0, style: str = "") -> None:
        """Write text for a person: wrapped and styled on a terminal, unchanged otherwise."""
        text = clean(text)
        if not self.on_terminal:
            margin = " " * indent
            self._write("".join(f"{margin}{line}".rstrip() + "\n" for line in text.split("\n")))
            return
        if not text:
            self.console.print()
            return
        from rich.padding import Padding
        from rich.text import Text

        self.console.print(Padding(Text(text, style=style), (0, 0, 0, indent), expand=False))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Write a table; numbers are right-aligned, long cells are wrapped on a terminal only."""
        from rich.table import Table
        from rich.text import Text

        rows = [list(row) for row in rows]
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for number, name in enumerate(columns):
            numeric = rows and all(_is_number(row[number]) for row in rows)
            table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(as_line("" if cell is None else str(cell))) for cell in row))
        if self.on_terminal:
            self.console.print(table)
            return
        with self.console.capture() as capture:
            self.console.print(table)
        self._write("".join(line.rstrip() + "\n" for line in capture.get().splitlines()))

    def flush(self) -> None:
        """Write out the buffers.

        Raises:
            OutputError: stdout cannot be written (a full disk).
            BrokenPipeError: the reader has gone.
        """
        self._write("", flush=True)

    def note(self, text: str) -> None:
        """Write one line of information on stderr."""
        if not self.quiet:
            self.complain(text)

    def complain(self, text: str) -> None:
        """Write one line on stderr, even when quiet."""
        self._stderr.write(self.redact(as_line(text)) + "\n")
        self._stderr.flush()

    @property
    def console(self) -> Console:
        """The console on stdout; it reads no markup and knows NO_COLOR."""
        if self._console is None:
            # Elsewhere it is used for layout only: text is written by _write.
            on_terminal = self.on_terminal
            self._console = (
                console_on(self._stdout) if on_terminal else console_on(StringIO(), _UNLIMITED)
            )
        return self._console

    @property
    def _ascii_only(self) -> bool:
        return (self._stdout.encoding or "").lower().replace("-", "") != "utf8"

    def _write(self, text: str, *, flush: bool = False) -> None:
        try:
            self._stdout.write(text)
            if flush:
                self._stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"stdout: {error.strerror}") from error


def _tolerant(stream: TextIO) -> TextIO:
    # A file name that is not UTF-8 must not end a command that has its answer.
    reconfigure: Any = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream


def _is_number(cell: object) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))
