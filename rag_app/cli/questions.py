"""The questions of a batch, as text or as JSON Lines."""

from __future__ import annotations

import codecs
import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import ConfigError
from pipelines.file_names import printable

MAX_QUESTIONS_BYTES = 100_000_000


@dataclass(frozen=True)
class Asked:
    """One question of a batch.

    Attributes:
        id: as it was given, else the number of its line.
        question: as it is asked.
        key: tells it from the other questions, in another run as well: the
            question with the id given to it, or with the count of its like before it.
    """

    id: Any
    question: str
    key: str


def named_key(identity: Any, question: str) -> str:
    """Return the key of a question with an id of its own."""
    return json.dumps({"id": identity, "question": question}, sort_keys=True)


def unnamed_key(question: str, before: int) -> str:
    """Return the key of a question without an id, the same one ``before`` times earlier."""
    return json.dumps([question, before])


def read_questions(source: str) -> list[Asked]:
    """Return the questions of a file (``-``: stdin), one on a line, as text or as JSON.

    Raises:
        ConfigError: the file cannot be read, a line is not a question, an id occurs twice.
    """
    name = "stdin" if source == "-" else source
    asked: list[Asked] = []
    seen: Counter[str] = Counter()
    for number, line in enumerate(_lines(source, name), start=1):
        if line.strip():
            asked.append(_asked(line.strip(), number, name, seen))
    if not asked:
        raise ConfigError(f"{name}: there is no question in it", hint="write one on each line")
    return asked


def _lines(source: str, name: str) -> list[str]:
    try:
        data = _bytes(source)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be read"
        raise ConfigError(
            f"{printable(name)}: {reason}", hint="name a file, or - for stdin"
        ) from None
    if len(data) > MAX_QUESTIONS_BYTES:
        raise ConfigError(
            f"{printable(name)}: there are more than {MAX_QUESTIONS_BYTES} bytes in it",
            hint="check that it is the right file, or split it",
        )
    # Not splitlines(): a question may hold U+2028 and the like.
    return decoded(data, name).replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _bytes(source: str) -> bytes:
    """Return what is in a file, a pipe or stdin, and a byte too many where there is more."""
    if source == "-":
        return sys.stdin.buffer.read(MAX_QUESTIONS_BYTES + 1) if sys.stdin is not None else b""
    with Path(source).open("rb") as file:
        return file.read(MAX_QUESTIONS_BYTES + 1)


def decoded(data: bytes, name: str) -> str:
    """Return UTF-8 as text, or UTF-16 that says so by its first two bytes.

    Raises:
        ConfigError: it is neither; the error names the first byte that is wrong.
    """
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        form = "UTF-16" if wide else "UTF-8"
        message = f"{name}: byte {error.start + 1} is not {form}"
        raise ConfigError(message, hint="save it as UTF-8") from None
    if "\0" in text:  # UTF-16 without a mark of its order, or no text at all
        at = text.index("\0") + 1
        raise ConfigError(f"{name}: character {at} is NUL", hint="save it as UTF-8")
    return text


def _asked(line: str, number: int, name: str, seen: Counter[str]) -> Asked:
    data = _object(line, number, name) if line.startswith("{") else {"question": line}
    question = data.get("question")
    if not isinstance(question, str) or not question.strip():
        raise ConfigError(
            f'{name}, line {number}: "question" is missing or no text',
            hint='a line is {"question": "…", "id": "…"}, or the question itself',
        )
    identity = data.get("id")
    if identity is None:
        seen[question] += 1
        return Asked(number, question, unnamed_key(question, seen[question] - 1))
    mark = json.dumps({"id": identity})
    seen[mark] += 1
    if seen[mark] > 1:
        raise ConfigError(
            f"{name}, line {number}: the id {identity!r} occurs twice", hint="give each its own"
        )
    return Asked(identity, question, named_key(identity, question))


def _object(line: str, number: int, name: str) -> Mapping[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}, line {number} is not JSON: {error}") from None
    return data if isinstance(data, dict) else {}
