"""XQuAD and JSQuAD: is the gold answer in the first three statements, and is it answered?

*Quality*: the share of questions whose gold answer stands in the first sentence, and in the
first three, when all passages of the set are open. *Refusal*: the articles are cut in two
halves; questions asked of their own articles should be answered, asked of the others' they
should not. The coefficients are fitted on the questions of one half
(``benchmarks.answers_fit``) and reported on those of the other.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import Document

from benchmarks import datasets
from benchmarks.natural import share, squeezed
from rag_app import Index
from rag_app.answer.decision import Thresholds
from rag_app.answer.evidence import IndexEvidence
from rag_app.answer.plan import Judgement, Plan, judge, make_plan, retrieved_of
from rag_app.answer.similarity import SentenceSimilarity
from rag_app.session import QuerySession

SETS = ("xquad", "jsquad")
PASSAGES = 5
_SEED = 7


@dataclass(frozen=True)
class Case:
    """One question: which half of the articles it is about, and what was found.

    Attributes:
        half: of the articles, 0 or 1.
        first, three: whether the gold answer is in the first of all sentences, in three.
        answered: whether it is answered, of its own half of the articles.
        answered_elsewhere: the same, of the other half, which does not hold the answer.
    """

    half: int
    first: bool
    three: bool
    answered: bool
    answered_elsewhere: bool


class Asker:
    """One index, asked without a language model.

    Args:
        index: what is asked.
        similarity: by the model of the index.
        strategy: how it is searched; None: the default.
    """

    def __init__(
        self, index: Index, similarity: SentenceSimilarity, strategy: str | None = None
    ) -> None:
        retriever = index.as_retriever(strategy, similarity_top_k=PASSAGES)
        self._retriever = retriever.as_strict()
        self._similarity = similarity

    def judge(self, question: str) -> tuple[Plan, Judgement]:
        """Return what is read, and what is made of it."""
        with QuerySession(self._retriever.stores) as session:
            found = retrieved_of(self._retriever.retrieve_in(session, question), question)
            evidence = IndexEvidence(session.snapshots)
            plan = make_plan(question, found, evidence)
            return plan, judge(plan, evidence, Thresholds(), self._similarity.on_reference)


def halves(name: str) -> dict[str, int]:
    """Return context id → half: whole articles, every other one."""
    folder = datasets.data_root() / name
    with (folder / "contexts.jsonl").open(encoding="utf-8") as file:
        titles = {row["id"]: row["title"] for row in map(json.loads, file)}
    number = {title: place for place, title in enumerate(sorted(set(titles.values())))}
    return {key: number[title] % 2 for key, title in titles.items()}


def sample(
    data: datasets.Dataset, half_of: dict[str, int], half: int | None, count: int
) -> list[datasets.Question]:
    """Return so many questions of one half (None: of both), by lot, the same at each run."""
    own = [q for q in data.questions if half in (None, half_of[next(iter(q.relevant))])]
    random.Random(_SEED).shuffle(own)
    return own[:count]


@contextmanager
def askers(
    data: datasets.Dataset, half_of: dict[str, int], model: BaseEmbedding, parts: Sequence[int]
) -> Iterator[list[Asker]]:
    """Give an asker of the articles of each part: 0 and 1 are the halves, 2 is the whole."""
    similarity = SentenceSimilarity(model)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        made = []
        for part in parts:
            index = stack.enter_context(Index.create(folder / str(part), embed_model=model))
            texts = {key: text for key, text in data.texts.items() if part in (2, half_of[key])}
            index.ingest([Document(text=text, id_=key) for key, text in texts.items()])
            made.append(Asker(index, similarity))
        yield made


def is_right(question: datasets.Question, plan: Plan, passage: int, text: str) -> bool:
    """Tell whether a text of a passage holds the gold answer, of the passage that it is from."""
    there = plan.passages[passage].document_id in question.relevant
    return there and holds_answer(question, text)


def holds_answer(question: datasets.Question, text: str) -> bool:
    """Tell whether a text holds a gold answer."""
    held = squeezed(text)
    return any(squeezed(answer) in held for answer in question.answers)


def measure(name: str, model: BaseEmbedding, count: int) -> dict[str, Any]:
    """Return the shares of one set, of so many questions by lot.

    Raises:
        DataMissingError: the set is not on this machine.
    """
    data, half_of = datasets.load(name), halves(name)
    asked = sample(data, half_of, None, count)
    with askers(data, half_of, model, (0, 1, 2)) as (first, second, whole):
        cases = [_case(one, half_of, (first, second), whole) for one in asked]
    reported = [case for case in cases if case.half == 1]
    return {
        "questions": len(cases),
        "first": share(case.first for case in cases),
        "first_three": share(case.three for case in cases),
        "refusal_questions": len(reported),
        "false_refusals": share(not case.answered for case in reported),
        "false_answers": share(case.answered_elsewhere for case in reported),
    }


def _case(
    question: datasets.Question, half_of: dict[str, int], parts: Sequence[Asker], whole: Asker
) -> Case:
    half = half_of[next(iter(question.relevant))]
    _, judged = whole.judge(question.text)
    texts = [one.unit.sentence.text for one in judged.ranked[:3]]
    inside = [holds_answer(question, text) for text in texts]
    own, other = (part.judge(question.text)[1] for part in (parts[half], parts[1 - half]))
    return Case(
        half=half,
        first=any(inside[:1]),
        three=any(inside),
        answered=own.verdict == "answered",
        answered_elsewhere=other.verdict == "answered",
    )
