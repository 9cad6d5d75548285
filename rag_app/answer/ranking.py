"""How likely each sentence or row answers a question: a logistic model of a few features.

Its coefficients are fitted by ``benchmarks/answers_fit.py`` on the questions that decide, and
reported on others. None of the features depends on how many passages an index holds.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Literal

from pipelines.text import normalise, script_of
from rag_app.answer.concepts import Concept, HeldText, held
from rag_app.answer.units import Unit
from rag_app.answer.wording import Wording, holds
from rag_app.passages import Match, Passage

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""Question and n texts → n cosines."""

# Embedding a sentence costs milliseconds: only the likely ones are looked at.
MEANING_CANDIDATES = 16
# Sentences before and after one that tell what it is about.
_NEIGHBOURS = 2
_MIN_CHARACTERS, _MAX_CHARACTERS = 25, 400


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of one sentence or row; each 0 to 1.

    Attributes:
        own: weighted share of the question's concepts that it says, its table's heads included.
        around: the same with its neighbours, its heading and its document's title.
        missing: weight of the heaviest concept that nothing around it says, of all weights.
        meaning: cosine with the question, on the reference scale; 0 where no model took part.
        rank: 1 divided by the rank of its passage.
        kind: 1 where it holds a thing of the kind that is asked for, 0 where it does not, and
            a half where any will do.
        row: whether it is a row.
        short: whether it is too short to say much.
        long: whether it is too long to say one thing.
    """

    own: float
    around: float
    missing: float
    meaning: float
    rank: float
    kind: float
    row: float
    short: float
    long: float


FeatureSet = Literal["meaning", "words", "characters"]
"""Which coefficients count: where an embedding model took part, where words alone did, and
where these are compared in characters."""
Coefficients = Mapping[str, Mapping[str, Mapping[str, float]]]
COEFFICIENTS_FILE = resources.files("rag_app.answer").joinpath("coefficients.toml")
RANK_FEATURES = tuple(field.name for field in fields(Features))
ANSWER_FEATURES = ("own", "around", "missing", "meaning", "kind")


@cache
def coefficients() -> Coefficients:
    """Return the fitted coefficients: model → set → name → value; ``constant`` is the intercept."""
    found: Coefficients = tomllib.loads(COEFFICIENTS_FILE.read_text(encoding="utf-8"))
    return found


def probability(model: Literal["rank", "answer"], features: Features, by: FeatureSet) -> float:
    """Return what a model makes of some features, 0 to 1."""
    total = math.fsum(
        weight * (1.0 if name == "constant" else getattr(features, name))
        for name, weight in coefficients()[model][by].items()
    )
    return 1 / (1 + math.exp(-total))


@dataclass(frozen=True, slots=True)
class RankedUnit:
    """A sentence or row, and how likely it answers.

    Attributes:
        unit: the sentence or row.
        score: probability by the model, 0 to 1.
        features: what it was computed from.
    """

    unit: Unit
    score: float
    features: Features


@dataclass(frozen=True)
class UnitRanking:
    """What a question's sentences and rows are worth.

    Attributes:
        units: best first.
        by: the coefficients that were used.
    """

    units: Sequence[RankedUnit]
    by: FeatureSet

    @property
    def score(self) -> float:
        """The score of the best one; 0 without any."""
        return self.units[0].score if self.units else 0.0


def rank_units(
    wording: Wording,
    concepts: Sequence[Concept],
    passages: Sequence[Passage],
    units: Sequence[Unit],
    similarity: Similarity | None = None,
) -> UnitRanking:
    """Return the sentences and rows, best first; of equal ones the first in reading order.

    Args:
        wording: what is asked.
        concepts: what the question is about.
        passages: what was retrieved, best first.
        units: of these passages, in reading order.
        similarity: cosines on the reference scale, asked only where a vector arm found one of
            the passages; ``None``: what the arm found has its own score.
    """
    by_meaning = any(_vector_matches(passage) for passage in passages)
    by: FeatureSet = "meaning" if by_meaning else _by_words(wording)
    similarity = similarity if by_meaning else None
    measured = measure(wording, concepts, passages, units, similarity)
    ranked = [
        RankedUnit(unit, probability("rank", features, by), features) for unit, features in measured
    ]
    return UnitRanking(sorted(ranked, key=lambda one: -one.score), by)


def measure(
    wording: Wording,
    concepts: Sequence[Concept],
    passages: Sequence[Passage],
    units: Sequence[Unit],
    similarity: Similarity | None,
) -> list[tuple[Unit, Features]]:
    """Return the features of each sentence and row that may be shown."""
    texts = [HeldText.of(unit.whole(passages[unit.sentence.passage])) for unit in units]
    about = [HeldText.of(f"{passage.title}\n{passage.file}") for passage in passages]
    said = [[held(concept, text) for concept in concepts] for text in texts]
    shared = [[held(concept, text) for concept in concepts] for text in about]
    total = math.fsum(concept.weight for concept in concepts) or 1.0
    shown = _worth_showing(units)
    drafts = []
    for at in shown:
        unit = units[at]
        around = _around(units, at, said, shared)
        lacking = [c.weight * (1 - h) for c, h in zip(concepts, around, strict=True)]
        own = _own(concepts, said[at], shared[unit.sentence.passage])
        drafts.append((at, own, 1 - math.fsum(lacking) / total, max(lacking, default=0.0) / total))
    cosines = _cosines(wording, passages, units, drafts, similarity)
    script = script_of(wording.asked)
    measured: list[tuple[Unit, Features]] = []
    for at, own, near, missing in drafts:
        meaning = max(cosines.get(at, 0.0), 0.0)
        if script_of(units[at].sentence.text) != script and at in cosines:
            # Words of two scripts cannot be the same: what they share is its meaning.
            own = near = meaning
            missing = 1 - meaning
        measured.append(
            (
                units[at],
                Features(
                    own=own,
                    around=near if concepts else 0.0,
                    missing=missing,
                    meaning=meaning,
                    rank=1 / (units[at].sentence.passage + 1),
                    kind=_kind(wording, units[at].whole(passages[units[at].sentence.passage])),
                    row=float(units[at].kind == "row"),
                    short=float(len(units[at].sentence.text) < _MIN_CHARACTERS),
                    long=float(len(units[at].sentence.text) > _MAX_CHARACTERS),
                ),
            )
        )
    return measured


def _own(concepts: Sequence[Concept], said: Sequence[float], shared: Sequence[float]) -> float:
    """Return the share of the concepts that a unit says, without those of its document's name.

    A name that all of a document goes by tells none of its sentences from another.
    """
    listed = list(zip(concepts, said, shared, strict=True))
    listed = [one for one in listed if one[2] < 1] or listed
    total = math.fsum(concept.weight for concept, _, _ in listed) or 1.0
    return math.fsum(concept.weight * own for concept, own, _ in listed) / total


def _worth_showing(units: Sequence[Unit]) -> list[int]:
    """Return the sentences and rows, each text once; without any, the headings."""
    first: dict[str, int] = {}
    for at, unit in enumerate(units):
        if unit.kind in ("sentence", "row"):
            first.setdefault(normalise(unit.sentence.text), at)
    return list(first.values()) or [a for a, unit in enumerate(units) if unit.kind == "heading"]


def _around(
    units: Sequence[Unit],
    at: int,
    said: Sequence[Sequence[float]],
    shared: Sequence[Sequence[float]],
) -> list[float]:
    """Return how much of each concept stands near a unit, or in its document's name."""
    passage = units[at].sentence.passage
    near = [
        said[other]
        for other in range(max(0, at - _NEIGHBOURS), min(len(units), at + _NEIGHBOURS + 1))
        if units[other].sentence.passage == passage
    ]
    return [max(values) for values in zip(*near, shared[passage], strict=True)]


def _cosines(
    wording: Wording,
    passages: Sequence[Passage],
    units: Sequence[Unit],
    drafts: Sequence[tuple[int, float, float, float]],
    similarity: Similarity | None,
) -> dict[int, float]:
    """Return the cosines of the units that share words or lie where a vector arm hit."""
    if similarity is None:
        scores = {one[0]: _hits(passages, units[one[0]]) for one in drafts}
        return {at: max(found) for at, found in scores.items() if found}
    by_words = sorted(drafts, key=lambda one: -(one[1] + one[2]))[: MEANING_CANDIDATES // 2]
    hit = [one for one in drafts if _hits(passages, units[one[0]])]
    chosen = list(dict.fromkeys([one[0] for one in (*by_words, *hit, *drafts)]))
    chosen = chosen[:MEANING_CANDIDATES]
    texts = [units[at].whole(passages[units[at].sentence.passage]) for at in chosen]
    return dict(zip(chosen, similarity(wording.asked, texts), strict=True))


def _hits(passages: Sequence[Passage], unit: Unit) -> list[float]:
    """Return the scores with which vector arms found what a unit lies in."""
    passage = passages[unit.sentence.passage]
    if passage.start is None:
        return []
    start, end = passage.start + unit.sentence.start, passage.start + unit.sentence.end
    return [
        match.score
        for match in _vector_matches(passage)
        if match.start is not None
        and match.end is not None
        and match.start < end
        and start < match.end
    ]


def _vector_matches(passage: Passage) -> list[Match]:
    # What a glossary says is near to its passages, whatever the question asks of them.
    found = (match for match in passage.matches if not match.of_glossary)
    return [match for match in found if match.arm.startswith("vectors:")]


def _kind(wording: Wording, text: str) -> float:
    if wording.kind in ("any", "yes_no"):
        return 0.5
    return float(holds(wording.kind, text))


def _by_words(wording: Wording) -> FeatureSet:
    return "characters" if script_of(wording.asked) == "cjk" else "words"
