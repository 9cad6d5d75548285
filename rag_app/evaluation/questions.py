"""Questions with known evidence: one JSON object per line.

Keys: ``question``; ``id`` (else the line's number); and the evidence by which a
result is judged, the first of these:

- ``evidence``: ``[{"file": …, "page": …, "text": …}]``, pages counted from 1;
  ``text`` (the words that answer) is optional,
- ``documents`` or ``passages``: ids, as a list or as ``{id: gain}``,
- ``answers`` (or ``answer``): strings that a right passage contains.

Other keys are ignored. A question without evidence has no answer in the documents;
it is counted, not measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from pipelines.errors import ConfigError
from pipelines.regular_files import read_whole

MAX_QUESTIONS_BYTES = 1 << 30


@dataclass(frozen=True)
class Question:
    """One question and its evidence.

    Attributes:
        question: as it is asked.
        id: unique among the questions that are measured together.
        pages: (file name, physical page) of each page that holds evidence.
        texts: the words of the evidence, where they are known.
        documents, passages: gain by document id or by node id; above 0 is relevant.
        answers: strings of which a right passage contains one.
    """

    question: str
    id: str
    pages: tuple[tuple[str, int], ...] = ()
    texts: tuple[str, ...] = ()
    documents: Mapping[str, float] = field(default_factory=dict)
    passages: Mapping[str, float] = field(default_factory=dict)
    answers: tuple[str, ...] = ()

    @property
    def measurable(self) -> bool:
        """Tell whether the question has evidence."""
        return bool(self.pages or self.documents or self.passages or self.answers)


def load_questions(path: Path | str) -> list[Question]:
    """Return the questions of a JSON Lines file.

    Raises:
        ConfigError: the file cannot be read, or a line is wrong; the error names both.
    """
    data = read_whole(Path(path), "the file of questions", MAX_QUESTIONS_BYTES)
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: byte {error.start + 1} is not UTF-8", hint="save it as UTF-8"
        ) from error
    questions = [
        _question(line, f"{path}, line {number}", str(number))
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise ConfigError(f"{path}: two questions have the id {question.id!r}")
        seen.add(question.id)
    return questions


def _question(line: str, where: str, number: str) -> Question:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{where} is not JSON: {error}", hint="one JSON object per line"
        ) from error
    if not isinstance(data, dict) or not isinstance(data.get("question"), str):
        raise ConfigError(f'{where}: no "question"', hint='{"question": "…", "evidence": […]}')
    try:
        return Question(
            question=data["question"],
            id=str(data.get("id", number)),
            pages=_pages(data.get("evidence") or []),
            texts=tuple(item["text"] for item in data.get("evidence") or [] if item.get("text")),
            documents=_gains(data.get("documents") or {}),
            passages=_gains(data.get("passages") or {}),
            answers=_answers(data),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{where}: {type(error).__name__}: {error}",
            hint='evidence is [{"file": "a.pdf", "page": 1}], ids and answers are lists of strings',
        ) from error


def _pages(evidence: list[dict[str, Any]]) -> tuple[tuple[str, int], ...]:
    pages = ((PurePath(item["file"]).name, int(item["page"])) for item in evidence)
    return tuple(dict.fromkeys(pages))


def _gains(given: Mapping[str, Any] | list[Any]) -> dict[str, float]:
    pairs = given.items() if isinstance(given, Mapping) else ((item, 1.0) for item in given)
    return {str(key): float(gain) for key, gain in pairs if float(gain) > 0}


def _answers(data: Mapping[str, Any]) -> tuple[str, ...]:
    answers = data.get("answers", data.get("answer")) or ()
    listed = [answers] if isinstance(answers, str) else answers
    return tuple(str(answer) for answer in listed)
