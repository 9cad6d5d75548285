"""Results of an evaluation: per question, means with intervals, and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.errors import ConfigError
from rag_app.evaluation.bootstrap import RESAMPLES, Interval, interval


@dataclass(frozen=True)
class QuestionResult:
    """The measures of one question.

    Attributes:
        id, question: from the file of questions.
        values: measure (``recall@5``, ``mrr@10``, ``tokens@5``) → value.
        seconds: how long the retriever took.
    """

    id: str
    question: str
    values: Mapping[str, float]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON takes it."""
        return {
            "id": self.id,
            "question": self.question,
            "values": dict(self.values),
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class EvaluationReport:
    """One retriever on one set of questions.

    Attributes:
        name: of the retriever.
        results: one per measured question, in their order.
        skipped: ids of questions without evidence.
        seed, resamples: of the bootstrap.
    """

    name: str
    results: tuple[QuestionResult, ...]
    skipped: tuple[str, ...] = ()
    seed: int = 0
    resamples: int = RESAMPLES

    @property
    def measures(self) -> list[str]:
        """Return the names of the measures that at least one question has."""
        return list(dict.fromkeys(name for result in self.results for name in result.values))

    def values(self, measure: str) -> dict[str, float]:
        """Return a measure by the id of each question that has it."""
        return {r.id: r.values[measure] for r in self.results if measure in r.values}

    def mean(self, measure: str) -> Interval:
        """Return the mean of a measure with its 95 % interval.

        Raises:
            ConfigError: no question has this measure.
        """
        values = self.values(measure)
        if not values:
            raise ConfigError(
                f"{measure!r} was not measured", hint=f"measured: {', '.join(self.measures)}"
            )
        return interval(list(values.values()), seed=self.seed, resamples=self.resamples)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON takes it."""
        seconds = sorted(result.seconds for result in self.results)
        return {
            "name": self.name,
            "questions": len(self.results),
            "skipped": list(self.skipped),
            "metrics": {measure: self.mean(measure).to_dict() for measure in self.measures},
            "seconds_median": seconds[len(seconds) // 2] if seconds else None,
            "bootstrap": {"seed": self.seed, "resamples": self.resamples, "level": 0.95},
            "results": [result.to_dict() for result in self.results],
        }

    def table(self, measures: Sequence[str] | None = None) -> str:
        """Return the means with their intervals as plain text, one measure on a line."""
        chosen = list(measures or self.measures)
        width = max((len(measure) for measure in chosen), default=0)
        lines = [f"{measure:<{width}}  {self.mean(measure):.3f}" for measure in chosen]
        return "\n".join([f"{self.name}: {len(self.results)} questions", *lines])


def compare(
    ours: EvaluationReport, theirs: EvaluationReport, measures: Sequence[str] | None = None
) -> dict[str, Interval]:
    """Return the paired difference ``ours - theirs`` of each measure, with its interval.

    Args:
        ours: the report whose better values give positive differences.
        theirs: another report, of the same questions.
        measures: which to compare; None: all that both have for the same questions
            (a retriever that finds nothing has no pages per passage).

    Raises:
        ConfigError: the two were not measured on the same questions.
    """
    if measures is None:
        measures = [name for name in ours.measures if _same_questions(ours, theirs, name)]
    if not measures:
        measures = ours.measures
    differences = {}
    for measure in measures:
        left, right = ours.values(measure), theirs.values(measure)
        if left.keys() != right.keys():
            raise ConfigError(
                f"{ours.name!r} and {theirs.name!r} differ in their questions ({measure})",
                hint="a paired difference needs the same questions for both",
            )
        differences[measure] = interval(
            [left[key] - right[key] for key in left], seed=ours.seed, resamples=ours.resamples
        )
    return differences


def _same_questions(ours: EvaluationReport, theirs: EvaluationReport, measure: str) -> bool:
    return ours.values(measure).keys() == theirs.values(measure).keys()
