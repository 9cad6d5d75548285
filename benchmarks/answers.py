"""Answers without a language model: are they right, and are they refused when they should be?

::

    RAG_EVAL_DATA=… .venv/bin/python -m benchmarks.answers [--sets xquad jsquad] [--choose]

*Quality*: the share of questions whose gold answer stands in the first sentence,
and in the first three, when all passages of the set are open (``shown``: in those
that are nearly as good as the first); the ceiling is the same for whole passages.
*Refusal*: the articles are cut in two halves. Questions asked of all passages should
be answered; asked of the other half they should not. The thresholds are chosen on
the questions of one half and reported on those of the other, by this rule
(``--choose`` prints what it gives, from the development half alone): ``least`` is the
score at 4.2 % false refusals, rounded down; for Japanese ``compounds`` is the weight
with the fewest false answers then. By words on XQuAD (``bm25``), by meaning on
XQuAD (``hybrid``), by characters on JSQuAD. A language model is only asked after
the same decision: its rate of false answers is at most this.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llama_index.core.schema import Document

from benchmarks import datasets
from benchmarks.ours import embedding
from benchmarks.quality import machine
from benchmarks.runs import RESULTS
from pipelines.text import normalise
from rag_app import Index
from rag_app.answer.evidence import IndexEvidence
from rag_app.answer.extractive import best_sentences, rank_sentences
from rag_app.answer.plan import Plan, make_plan, retrieved_of
from rag_app.answer.refusal import Signals, Thresholds, is_answerable, score_of
from rag_app.answer.similarity import SentenceSimilarity
from rag_app.session import QuerySession
from rag_app.settings import load_settings

FILE = RESULTS / "answers.json"
SETS = ("xquad", "jsquad")
STRATEGIES = ("hybrid", "bm25")
PASSAGES = 5
# The product may refuse 5 % of what it could answer; one standard error of such a share
# on the reported half of XQuAD (567 questions: .8 %) is kept free.
CHOSEN_FALSE_REFUSALS = 0.042


@dataclass(frozen=True)
class Case:
    """One question, which half of the articles it is about, and what was measured."""

    question: datasets.Question
    half: int
    right: Signals
    wrong: Signals
    first: bool
    three: bool
    shown: bool
    passage_first: bool
    passage_five: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.answers", description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--strategies", nargs="*", default=list(STRATEGIES), choices=STRATEGIES)
    parser.add_argument("--choose", action="store_true", help="show thresholds for this data")
    options = parser.parse_args(arguments)
    results = json.loads(FILE.read_text()) if FILE.exists() else {"sets": {}}
    for name in options.sets:
        try:
            data, half_of = datasets.load(name), halves(name)
        except datasets.DataMissingError as reason:
            print(f"skipped: {reason}")
            return 0
        entry = results["sets"].setdefault(name, {})
        for strategy, cases, seconds in _measure(data, half_of, options.strategies):
            entry[strategy] = _summary(cases, seconds)
            print(name, strategy, json.dumps(entry[strategy]), flush=True)
            if options.choose:
                _print_choice([case for case in cases if case.half == 0])
    results["command"] = "RAG_EVAL_DATA=… python -m benchmarks.answers"
    results["machine"] = machine()
    RESULTS.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def halves(name: str) -> dict[str, int]:
    """Return context id → half: whole articles, every other one."""
    folder = datasets.data_root() / name
    with (folder / "contexts.jsonl").open(encoding="utf-8") as file:
        titles = {row["id"]: row["title"] for row in map(json.loads, file)}
    number = {title: place for place, title in enumerate(sorted(set(titles.values())))}
    return {key: number[title] % 2 for key, title in titles.items()}


def _measure(
    data: datasets.Dataset, half_of: dict[str, int], strategies: Sequence[str]
) -> Iterator[tuple[str, list[Case], float]]:
    model = embedding(load_settings())
    similarity = SentenceSimilarity(model)
    texts = [
        {key: text for key, text in data.texts.items() if half_of[key] in kept}
        for kept in ((0,), (1,), (0, 1))
    ]
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        indexes = []
        for number, some in enumerate(texts):
            path = Path(folder) / str(number)
            index = stack.enter_context(Index.create(path, embed_model=model))
            index.ingest([Document(text=text, id_=key) for key, text in some.items()])
            indexes.append(index)
        for strategy in strategies:
            askers = [_Asker(index, strategy, similarity) for index in indexes]
            started = time.perf_counter()
            cases = [_case(question, half_of, askers) for question in data.questions]
            seconds = (time.perf_counter() - started) / max(len(cases), 1)
            yield strategy, cases, seconds


class _Asker:
    """One index with one strategy."""

    def __init__(self, index: Index, strategy: str, similarity: SentenceSimilarity) -> None:
        self._retriever = index.as_retriever(strategy, similarity_top_k=PASSAGES).as_strict()
        self._similarity = similarity

    def plan(self, question: str) -> Plan:
        with QuerySession(self._retriever.stores) as session:
            found = retrieved_of(self._retriever.retrieve_in(session, question), question)
            evidence, scale = IndexEvidence(session.snapshots), self._similarity.on_reference_scale
            return make_plan(question, found, evidence, Thresholds(), scale)

    def sentences(self, plan: Plan) -> tuple[list[str], int]:
        """Return the three best sentences, and how many of them the product shows."""
        similarity = self._similarity if plan.meaning_voted else None
        ranked = rank_sentences(
            plan.question, plan.passages, plan.sentences, plan.weights, similarity
        )
        return [one.sentence.text for one in ranked[:3]], len(best_sentences(ranked, 3))


def _case(question: datasets.Question, half_of: dict[str, int], askers: Sequence[_Asker]) -> Case:
    half = half_of[next(iter(question.relevant))]
    right = askers[2].plan(question.text)
    texts, shown = askers[2].sentences(right)
    inside = [_holds(question, text) for text in texts]
    passages = [_holds(question, passage.text) for passage in right.passages]
    return Case(
        question=question,
        half=half,
        right=right.signals,
        wrong=askers[1 - half].plan(question.text).signals,
        first=any(inside[:1]),
        three=any(inside),
        shown=any(inside[:shown]),
        passage_first=any(passages[:1]),
        passage_five=any(passages),
    )


def _holds(question: datasets.Question, text: str) -> bool:
    plain = normalise(text)
    return any(normalise(answer) in plain for answer in question.answers)


def _summary(cases: Sequence[Case], seconds: float) -> dict[str, Any]:
    reported = [case for case in cases if case.half == 1]
    return {
        "questions": len(cases),
        "first": _share(case.first for case in cases),
        "first_three": _share(case.three for case in cases),
        "shown": _share(case.shown for case in cases),
        "ceiling_first_passage": _share(case.passage_first for case in cases),
        "ceiling_five_passages": _share(case.passage_five for case in cases),
        "refusal_questions": len(reported),
        "false_refusals": _share(not is_answerable(c.right, Thresholds()) for c in reported),
        "false_answers": _share(is_answerable(c.wrong, Thresholds()) for c in reported),
        "seconds": round(seconds, 3),
    }


def _share(values: Iterator[bool]) -> float:
    listed = list(values)
    return round(sum(listed) / len(listed), 4) if listed else math.nan


def choose(cases: Sequence[Case]) -> tuple[Thresholds, float]:
    """Return the shipped thresholds with those of these cases chosen by the rule.

    Args:
        cases: of the development half, all of one kind (words, characters, meaning).

    Returns:
        The thresholds (only ``least`` of this kind, and ``compounds``, are new), and the
        share of false answers that they give on the same cases.
    """
    kind = cases[0].right
    tried = [_at_rate(cases, thresholds) for thresholds in _grid(kind)]
    return min(tried, key=lambda one: one[1])


def _grid(kind: Signals) -> list[Thresholds]:
    if kind.cosine is None and kind.in_characters:
        return [replace(Thresholds(), compounds=n / 10) for n in range(11)]
    return [Thresholds()]


def _at_rate(cases: Sequence[Case], weights: Thresholds) -> tuple[Thresholds, float]:
    """Return weights with the ``least`` of the chosen rate, and their rate of false answers."""
    kind = cases[0].right
    right = sorted(score_of(case.right, weights) for case in cases)
    least = math.floor(right[int(CHOSEN_FALSE_REFUSALS * len(right))] * 100) / 100
    name = "least_by_characters" if kind.in_characters else "least_by_words"
    chosen = replace(weights, **{name if kind.cosine is None else "least_with_meaning": least})
    return chosen, _share(is_answerable(case.wrong, chosen) for case in cases)


def _print_choice(cases: Sequence[Case]) -> None:
    kinds = {(case.right.cosine is None, case.right.in_characters) for case in cases}
    for kind in sorted(kinds):
        own = [c for c in cases if (c.right.cosine is None, c.right.in_characters) == kind]
        chosen, wrong = choose(own)
        shipped = _share(is_answerable(case.wrong, Thresholds()) for case in own)
        print(f"  chosen on {len(own)}: {chosen}, false answers {wrong}, shipped {shipped}")


if __name__ == "__main__":
    raise SystemExit(main())
