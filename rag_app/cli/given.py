"""The arguments of ``rag ask``, ``search`` and ``explain``: a question, files and folders."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipelines.errors import ConfigError
from rag_app.cli.session import UsageError

STDIN = "-"
MAX_QUESTION_BYTES = 1_000_000


def question_of(given: str | None) -> str | None:
    """Return the question; it is read from stdin for ``-``, or where stdin is no terminal.

    Raises:
        UsageError: stdin was asked for and is empty, not text, or longer than a question.
    """
    if given is not None and given != STDIN:
        return text_of(given)
    if given is None and (sys.stdin is None or sys.stdin.isatty()):
        return None
    try:
        data = sys.stdin.buffer.read(MAX_QUESTION_BYTES + 1) if sys.stdin is not None else b""
    except (OSError, ValueError):  # closed, or not to be read
        data = b""
    if len(data) > MAX_QUESTION_BYTES:
        raise UsageError(
            f"stdin holds more than {MAX_QUESTION_BYTES} bytes: "
            "for many questions, one on each line, give --questions -"
        )
    from rag_app.cli.questions import decoded

    try:
        text = decoded(data, "stdin").strip()
    except ConfigError as error:
        raise UsageError(f"{error.message}: {error.hint}") from None
    if not text and given == STDIN:
        raise UsageError("there is no question on stdin")
    return text or None


def text_of(given: str) -> str:
    """Return an argument as text: Python takes it for ASCII where the locale is C."""
    try:
        return os.fsencode(given).decode("utf-8")
    except UnicodeError:
        return given


def pdfs_of(given: Sequence[str]) -> tuple[Path, ...]:
    """Return the files; a folder stands for the PDFs below it.

    Raises:
        UsageError: a folder holds none, or more than :data:`rag_app.cached.pdfs.MAX_FOLDER_PDFS`.
    """
    if "" in given:
        raise UsageError("an empty name is not a path (give . for the working folder)")
    return tuple(file for name in given for file in _files(Path(name)))


def _files(path: Path) -> Iterator[Path]:
    if not is_folder(path):
        yield path
        return
    from rag_app.cached.pdfs import MAX_FOLDER_PDFS
    from rag_app.ingest.inputs import pdfs_below

    found, _ = pdfs_below(path)
    if not found:
        raise UsageError(f"there is no PDF in the folder {shlex.quote(str(path))}")
    if len(found) > MAX_FOLDER_PDFS:
        name = shlex.quote(str(path))
        raise UsageError(
            f"there are {len(found)} PDFs in {name}, more than {MAX_FOLDER_PDFS}: make an index of "
            f'them with rag ingest {name} --index DIR, then ask it: rag ask "…" --index DIR'
        )
    yield from found


def check_source(pdfs: Sequence[Path], indexes: Sequence[Path], password: str | None) -> None:
    """Raise where PDFs, indexes and a password do not go together.

    Raises:
        UsageError: they do not.
    """
    if password is not None and not pdfs:
        raise UsageError("--password opens PDFs: name them after the question")
    if pdfs and indexes:
        raise UsageError("give PDFs or --index, not both: an index has its own documents")


def is_folder(path: Path) -> bool:
    """Tell whether a path is a folder; an impossible name is not."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_file(word: str) -> bool:
    """Tell whether a word is the path of a file; one too long for a name, or with a NUL, is not."""
    try:
        return Path(word).is_file()
    except (OSError, ValueError):
        return False


def check_words(command: str, words: Sequence[str]) -> None:
    """Raise where the first word is a file, or the next are words of an unquoted question.

    Raises:
        UsageError: shows the command line that was meant.
    """
    first = words[0]
    alone = len(words) == 1
    if (first.lower().endswith(".pdf") or alone) and is_file(first):
        raise UsageError(_files_first(command))
    if alone and "/" in first and is_folder(Path(first)):
        raise UsageError(_files_first(command))
    if alone or len(first.split()) != 1:
        return
    last = len(words)
    while last > 1 and _may_be_file(words[last - 1]):
        last -= 1
    if last > 1:
        raise UsageError(_unquoted(command, words[:last], words[last:]))


def _files_first(command: str) -> str:
    """Return the message about a file in the place of the question."""
    return f'the question comes before the files: rag {command} "…" FILE.pdf'


def _unquoted(command: str, words: Sequence[str], rest: Sequence[str]) -> str:
    """Return the message about a question that was not quoted."""
    question = " ".join(words).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    line = " ".join([f'rag {command} "{question}"', *map(shlex.quote, rest)])
    return f"put the question in quotes: {line}"


def _may_be_file(word: str) -> bool:
    if word.lower().endswith(".pdf") or "/" in word:
        return True
    try:
        return Path(word).exists()
    except (OSError, ValueError):
        return False
