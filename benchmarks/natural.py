"""Questions as people type them, over the samples and over one-page texts: what is shown?

Each one-page text is an index of its own, the samples are one index together. Without a
language model, with the default settings.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import Document

from pipelines.text import normalise
from rag_app import Index

DATA = Path(__file__).parents[1] / "data"
HALVES = ("decide", "report")


@dataclass(frozen=True)
class NaturalQuestion:
    """One question of ``data/questions_natural.jsonl``.

    Attributes:
        question: as somebody types it.
        lang: ``en`` or ``ja``.
        document: name of a sample PDF, or of a text of ``one_page_texts.jsonl``.
        answers: words of the document of which any answers it; none: nothing does.
        pages: physical pages on which they answer it, from 1; none in a text.
        half: ``decide`` or ``report``.
    """

    question: str
    lang: str
    document: str
    answers: tuple[str, ...]
    pages: tuple[int, ...]
    half: str


@dataclass(frozen=True)
class Judged:
    """What became of one question.

    Attributes:
        question: as asked.
        document: that it is about.
        half: of the set.
        answerable: whether the document answers it.
        outcome: of the answer.
        first: whether the answer is in the first sentence or row that is shown.
        shown: whether it is in any.
        text: what is shown.
    """

    question: str
    document: str
    half: str
    answerable: bool
    outcome: str
    first: bool
    shown: bool
    text: str


def read_questions() -> list[NaturalQuestion]:
    """Return the questions in the order of their file."""
    return [
        NaturalQuestion(**{**row, "answers": tuple(row["answers"]), "pages": tuple(row["pages"])})
        for row in _rows("questions_natural.jsonl")
    ]


def read_texts() -> dict[str, str]:
    """Return the one-page texts by name."""
    return {str(row["name"]): str(row["text"]) for row in _rows("one_page_texts.jsonl")}


def _rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


@contextmanager
def indexes(embed_model: BaseEmbedding | None) -> Iterator[Callable[[str], Index]]:
    """Give a function from a document's name to the index that it is in; made when asked for."""
    texts = read_texts()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        made: dict[str, Index] = {}

        def index_of(document: str) -> Index:
            name = document if document in texts else "samples"
            if name not in made:
                index = stack.enter_context(Index.create(folder / name, embed_model=embed_model))
                if name in texts:
                    index.ingest([Document(text=texts[name], id_=name)])
                else:
                    index.ingest(*sorted(DATA.glob("*.pdf")))
                made[name] = index
            return made[name]

        yield index_of


def judge_all(
    questions: Sequence[NaturalQuestion], embed_model: BaseEmbedding | None
) -> list[Judged]:
    """Ask all questions, each of the index that its document is in."""
    with indexes(embed_model) as index_of:
        return [
            judge(one, index_of(one.document).as_query_engine().query(one.question))
            for one in questions
        ]


def judge(one: NaturalQuestion, answer: Any) -> Judged:
    """Return whether an answer shows what answers a question, on a page that does."""
    document = answer.to_dict()
    shown = list(_shown(document))
    right = [is_right(one, text, file, pages) for text, file, pages in shown]
    return Judged(
        question=one.question,
        document=one.document,
        half=one.half,
        answerable=bool(one.answers),
        outcome=str(document["outcome"]),
        first=any(right[:1]),
        shown=any(right),
        text="\n".join(text for text, _, _ in shown) or str(document["answer"]),
    )


def _shown(answer: Mapping[str, Any]) -> Iterator[tuple[str, str, Sequence[int]]]:
    """Yield each sentence, or the best lines of each passage, with the file and pages of it."""
    cited = {one["number"]: one for one in answer["citations"]}
    for sentence in answer["sentences"]:
        sources = [cited[number] for number in sentence["citations"]]
        pages = [page for source in sources for page in source["pages"]]
        yield sentence["text"], sources[0]["file"] if sources else "", pages
    for passage in answer.get("closest", ()):
        for line in passage["lines"]:
            yield line, passage["file"], passage["pages"]


def is_right(one: NaturalQuestion, text: str, file: str, pages: Sequence[int]) -> bool:
    """Tell whether a text answers a question, on a page of its document that does."""
    held = squeezed(text)
    there = file == one.document and (not one.pages or bool({*pages} & {*one.pages}))
    return there and any(squeezed(words) in held for words in one.answers)


def squeezed(text: str) -> str:
    """Return a text in Unicode's compatibility form, without case and white space."""
    return "".join(normalise(text).split())


def summary(judged: Iterable[Judged]) -> dict[str, float | int]:
    """Return the shares that the table shows."""
    listed = list(judged)
    can = [one for one in listed if one.answerable]
    cannot = [one for one in listed if not one.answerable]
    answered = [one for one in can if one.outcome == "answered"]
    return {
        "answerable": len(can),
        "shown": share(one.shown for one in can),
        "first": share(one.first for one in can),
        "answered_and_shown": share(one.shown and one.outcome == "answered" for one in can),
        "wrong_called_answered": round(sum(not a.shown for a in answered) / max(len(can), 1), 3),
        "nothing_useful": share(not a.shown and a.outcome != "answered" for a in can),
        "refused": share(one.outcome == "refused" for one in can),
        "unanswerable": len(cannot),
        "not_called_answered": share(one.outcome != "answered" for one in cannot),
    }


def share(values: Iterable[bool]) -> float:
    """Return the share of what is true, to three places; NaN of nothing."""
    listed = list(values)
    return round(sum(listed) / len(listed), 3) if listed else math.nan


def as_rows(judged: Iterable[Judged]) -> list[dict[str, Any]]:
    """Return what became of each question, as JSON."""
    return [asdict(one) for one in judged]
