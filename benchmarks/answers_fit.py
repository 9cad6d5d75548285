"""Fit the coefficients of ``rag_app/answer/coefficients.toml`` on the questions that decide.

::

    RAG_EVAL_DATA=… .venv/bin/python -m benchmarks.answers_fit [--squad 120] [--write]

Two logistic models by ridge regression (Newton's method, in numpy). *rank*: does this
sentence or row answer? Its examples are the sentences of a question's passages: the right
ones, and the nearest wrong ones. *answer*: does the best sentence of a question answer it?
The questions are those of the half ``decide`` of ``data/questions_natural.jsonl``, and of
one half of the articles of XQuAD and JSQuAD, each put to its own articles and to the others.
The constant of *answer* is moved so that at a score of .5 at most ``MAX_FALSE_ANSWERS`` of
the questions that nothing answers are answered.
"""

from __future__ import annotations

import argparse
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import datasets, natural, squad
from benchmarks.ours import embedding
from rag_app.answer.plan import Judgement, Plan
from rag_app.answer.ranking import (
    ANSWER_FEATURES,
    COEFFICIENTS_FILE,
    RANK_FEATURES,
    Features,
    FeatureSet,
)
from rag_app.settings import load_settings

MAX_FALSE_ANSWERS = 0.1
# The few natural questions are what users ask: each counts for as many of the sets.
NATURAL_WEIGHT = 3.0
WRONG_SENTENCES, RIGHT_SENTENCES = 12, 3
RIDGE = 1.0
SIGNS = {"own": 1, "around": 1, "missing": -1, "meaning": 1, "rank": 1, "kind": 1, "long": -1}
FEATURE_SETS: tuple[FeatureSet, ...] = ("meaning", "words", "characters")
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """One question put to one index.

    Attributes:
        by: the coefficients that rank its sentences.
        answerable: whether the index answers it.
        weight: how much it counts.
        sentences: features of each sentence and row, and whether it is right, best first.
    """

    by: FeatureSet
    answerable: bool
    weight: float
    sentences: Sequence[tuple[Features, bool]]


def example(
    judged: Judgement,
    plan: Plan,
    *,
    answerable: bool,
    weight: float,
    right: Callable[[int, str], bool],
) -> Example:
    """Return what a question's sentences teach."""
    listed = []
    for one in judged.ranked:
        at = one.unit.sentence.passage
        listed.append((one.features, answerable and right(at, one.unit.whole(plan.passages[at]))))
    return Example(judged.by, answerable, weight, listed)


def natural_examples() -> Iterator[Example]:
    """Yield those of the natural questions that decide."""
    model = embedding(load_settings())
    with natural.indexes(model) as index_of, ExitStack():
        similarity = squad.SentenceSimilarity(model)
        for one in natural.read_questions():
            if one.half != "decide":
                continue
            plan, judged = squad.Asker(index_of(one.document), similarity).judge(one.question)
            passages = plan.passages

            def right(at: int, text: str, one: natural.NaturalQuestion = one) -> bool:
                return natural.is_right(one, text, passages[at].file, passages[at].pages)  # noqa: B023

            yield example(
                judged, plan, answerable=bool(one.answers), weight=NATURAL_WEIGHT, right=right
            )


def squad_examples(name: str, count: int) -> Iterator[Example]:
    """Yield those of one half of a set: each question put to its own articles and to others."""
    data, half_of = datasets.load(name), squad.halves(name)
    with squad.askers(data, half_of, embedding(load_settings()), (0, 1)) as (own, other):
        for one in squad.sample(data, half_of, 0, count):
            for asker, answerable in ((own, True), (other, False)):
                plan, judged = asker.judge(one.text)

                def right(at: int, text: str) -> bool:
                    return squad.is_right(one, plan, at, text)  # noqa: B023

                yield example(judged, plan, answerable=answerable, weight=1.0, right=right)


def fit_rank(examples: Sequence[Example], by: FeatureSet) -> dict[str, float]:
    """Return the coefficients that tell right sentences from the nearest wrong ones."""
    rows, labels, weights = [], [], []
    for one in _of_set(examples, by):
        right = [features for features, is_right in one.sentences if is_right][:RIGHT_SENTENCES]
        wrong = [features for features, is_right in one.sentences if not is_right]
        if one.answerable and not right:
            continue
        for group, label in ((right, 1.0), (wrong[:WRONG_SENTENCES], 0.0)):
            for features in group:
                rows.append(_row(features, RANK_FEATURES, by))
                labels.append(label)
                weights.append(one.weight / len(group))
    return _fit(rows, labels, weights, RANK_FEATURES)


def fit_answer(
    examples: Sequence[Example], by: FeatureSet, rank: Mapping[str, float]
) -> dict[str, float]:
    """Return the coefficients that tell from the best sentence whether a question is answered."""
    rows, labels, weights = [], [], []
    for one in _of_set(examples, by):
        if not one.sentences:
            continue
        order = sorted(one.sentences, key=lambda pair: -_total(rank, pair[0], by))
        rows.append(_row(order[0][0], ANSWER_FEATURES, by))
        labels.append(float(any(is_right for _, is_right in order[:3])))
        weights.append(one.weight)
    found = _fit(rows, labels, weights, ANSWER_FEATURES)
    totals = [
        found["constant"] + float(np.dot(row, _vector(found, ANSWER_FEATURES))) for row in rows
    ]
    wrong = [(t, w) for t, w, label in zip(totals, weights, labels, strict=True) if not label]
    return {**found, "constant": round(found["constant"] - _cut(wrong), 3)}


def _cut(wrong: Sequence[tuple[float, float]]) -> float:
    """Return the least total above which at most the allowed share of the weight lies."""
    room = MAX_FALSE_ANSWERS * math.fsum(weight for _, weight in wrong)
    for total, weight in sorted(wrong, reverse=True):
        room -= weight
        if room < 0:
            return total + 1e-6
    return -math.inf


def _of_set(examples: Sequence[Example], by: FeatureSet) -> Iterator[Example]:
    """Yield the examples of a set; English ones without a model are those with one."""
    for one in examples:
        if one.by == by or (by == "words" and one.by == "meaning"):
            yield one


def _row(features: Features, names: Sequence[str], by: FeatureSet) -> list[float]:
    values = asdict(features) if by == "meaning" else {**asdict(features), "meaning": 0.0}
    return [values[name] for name in names]


def _vector(coefficients: Mapping[str, float], names: Sequence[str]) -> Matrix:
    return np.array([coefficients[name] for name in names])


def _total(coefficients: Mapping[str, float], features: Features, by: FeatureSet) -> float:
    row = _row(features, RANK_FEATURES, by)
    return coefficients["constant"] + float(np.dot(row, _vector(coefficients, RANK_FEATURES)))


def _fit(
    rows: Sequence[Sequence[float]],
    labels: Sequence[float],
    weights: Sequence[float],
    names: Sequence[str],
) -> dict[str, float]:
    """Return the coefficients of a weighted logistic regression with a ridge.

    What speaks for an answer never counts against it: a feature of the wrong sign is left out.
    """
    left = list(names)
    while True:
        found = _newton([[row[names.index(n)] for n in left] for row in rows], labels, weights)
        wrong = [n for n, value in zip(left, found[1:], strict=True) if value * SIGNS.get(n, 0) < 0]
        if not wrong:
            values = {"constant": found[0], **dict(zip(left, found[1:], strict=True))}
            return {name: round(float(values.get(name, 0.0)), 3) for name in ("constant", *names)}
        left = [name for name in left if name not in wrong]


def _newton(
    rows: Sequence[Sequence[float]], labels: Sequence[float], weights: Sequence[float]
) -> Matrix:
    """Return the intercept and the coefficients that fit best, by Newton's method."""
    x = np.c_[np.ones(len(rows)), np.array(rows)]
    y, w = np.array(labels), np.array(weights)
    ridge = RIDGE * np.r_[1e-6, np.ones(x.shape[1] - 1)]
    found = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ found))
        gradient = x.T @ (w * (p - y)) + ridge * found
        hessian = (x.T * (w * p * (1 - p))) @ x + np.diag(ridge)
        found -= np.linalg.solve(hessian, gradient)
    return found


def as_toml(fitted: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Return the file that the program reads."""
    lines = [
        "# Coefficients of two logistic models: `python -m benchmarks.answers_fit --write`.",
        "# rank: does this sentence or row answer? answer: does the best one answer the question?",
        "# meaning: where an embedding model votes; words, characters: where it does not.",
    ]
    for model, sets in fitted.items():
        for by, coefficients in sets.items():
            lines += ["", f"[{model}.{by}]", *(f"{k} = {v}" for k, v in coefficients.items())]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.answers_fit", description=__doc__)
    parser.add_argument("--squad", type=int, default=120, help="questions of XQuAD and JSQuAD")
    parser.add_argument("--write", action="store_true", help="replace the file of the program")
    options = parser.parse_args(arguments)
    examples = list(natural_examples())
    for name in squad.SETS:
        try:
            examples += squad_examples(name, options.squad)
        except datasets.DataMissingError as reason:
            print(f"skipped: {reason}")
    rank = {by: fit_rank(examples, by) for by in FEATURE_SETS}
    answer = {by: fit_answer(examples, by, rank[by]) for by in FEATURE_SETS}
    text = as_toml({"rank": rank, "answer": answer})
    assert tomllib.loads(text)
    print(text)
    if options.write:
        Path(str(COEFFICIENTS_FILE)).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
