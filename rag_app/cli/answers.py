"""The file of a batch's answers: the next run continues where this one stops."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipelines.errors import ConfigError
from pipelines.file_names import printable
from rag_app.cli.output import to_json
from rag_app.cli.questions import Asked, named_key, unnamed_key

Record = dict[str, Any]
_START = to_json({"id": ""})[:-3]  # how each line begins


class AnswerFile:
    """JSON Lines on disk, each written at once.

    Answers of an earlier run are kept, failed questions are asked again. On closing,
    the lines are put into the order of the questions.

    Raises:
        ConfigError: the file holds something else; it is left as it is.
    """

    def __init__(self, path: Path, asked: Sequence[Asked]) -> None:
        self._given = path
        self._keys = [one.key for one in asked]
        with self._named():
            self._path = path.resolve()  # a link stays one, and leads to the answers
            self._records = _read(path, set(self._keys))
            # Written once now: a file that cannot be written fails before a question is asked.
            self._replace(self._records.values())
            self._stream = path.open("a", encoding="utf-8")

    def missing(self, asked: Iterable[Asked]) -> list[Asked]:
        """Return the questions that have no answer yet."""
        return [one for one in asked if one.key not in self._records]

    def write(self, one: Asked, record: Record) -> None:
        """Write one answer."""
        self._records[one.key] = record
        with self._named():
            self._stream.write(to_json(record) + "\n")
            self._stream.flush()

    def close(self) -> None:
        """Put the answers into the order of the questions."""
        with self._named():
            self._stream.close()
            self._replace(self._records[key] for key in self._keys if key in self._records)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Let an error speak of the file that was given, not of one of ours."""
        try:
            yield
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
            reason = getattr(error, "strerror", None) or "its links lead in a circle"
            parent = self._given.absolute().parent
            raise ConfigError(
                f"--out {printable(self._given)} cannot be written: {reason}",
                hint="the folder must be there and writable, and its disk not full"
                if parent.is_dir()
                else f"there is no folder {printable(parent)}",
            ) from error

    def _replace(self, records: Iterable[Record]) -> None:
        text = "".join(to_json(one) + "\n" for one in records)
        descriptor, name = tempfile.mkstemp(prefix=f"{self._path.name}.", dir=self._path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            temporary.chmod(self._mode())
            temporary.replace(self._path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def _mode(self) -> int:
        """Return the permissions of the file: those that it has, or those of any new one."""
        try:
            return stat.S_IMODE(self._path.stat().st_mode)
        except FileNotFoundError:
            mask = os.umask(0)
            os.umask(mask)
            return 0o666 & ~mask


def _read(path: Path, keys: set[str]) -> dict[str, Record]:
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path} is not a plain file", hint="omit --out to write to stdout")
    lines = path.read_bytes().decode("utf-8", "replace").split("\n") if path.exists() else []
    records: dict[str, Record] = {}
    unnamed: Counter[str] = Counter()
    for number, line in enumerate(lines, start=1):
        if not line or (number == len(lines) and _is_torn(line)):
            continue
        record = _record(line)
        key = _key(record, keys, unnamed)
        if key is None:
            raise ConfigError(
                f"{path}, line {number} answers none of these questions; nothing was overwritten",
                hint="give --out another file, or remove this one",
            )
        if record.get("error") is None:
            records[key] = record
    return records


def _is_torn(line: str) -> bool:
    """Tell whether a line without an end is one of ours, from a run that was killed."""
    return not _record(line) and (line.startswith(_START) or _START.startswith(line))


def _record(line: str) -> Record:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _key(record: Record, keys: set[str], unnamed: Counter[str]) -> str | None:
    """Return the key of the question that a record answers, if it is one of the given."""
    question = record.get("question")
    if not isinstance(question, str) or "error" not in record:  # a question is no answer
        return None
    key = named_key(record.get("id"), question)
    if key in keys:
        return key
    key = unnamed_key(question, unnamed[question])
    unnamed[question] += 1
    return key if key in keys else None
