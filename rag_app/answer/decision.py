"""Whether to answer without a language model: an answer, the closest passages, or a refusal.

Never decided from fused scores: reciprocal ranks rate nonsense as high as sense. What counts
is the best sentence or row: how much of the question it says, how much is missing around it,
how near it is in meaning, and whether it holds a thing of the kind that is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from pipelines.errors import ConfigError
from pipelines.text import language_name, script_of
from rag_app.answer.evidence import Evidence
from rag_app.answer.ranking import UnitRanking, probability
from rag_app.answer.response import Decision
from rag_app.passages import Passage

Verdict = Literal["answered", "closest", "refused", "other_language"]
_NO_LANGUAGE = ("none", "other")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When a question is answered without a language model.

    Attributes:
        answer_from: score from which on it is answered, 0 to 1.
        closest_from: score from which on the closest passages are shown.
    """

    answer_from: float = 0.5
    closest_from: float = 0.02

    def __post_init__(self) -> None:
        if not 0 <= self.closest_from <= self.answer_from <= 1:
            raise ConfigError(
                f"answer_from is {self.answer_from} and closest_from {self.closest_from}: they "
                "must be from 0 to 1, and closest_from not the larger one"
            )


def decide(ranking: UnitRanking, thresholds: Thresholds) -> Decision:
    """Return the score of what was found, with the thresholds that it is compared with."""
    best = ranking.units[0].features if ranking.units else None
    signals = {} if best is None else {k: round(v, 4) for k, v in asdict(best).items()}
    return Decision(
        score=0.0 if best is None else round(probability("answer", best, ranking.by), 4),
        answer_from=thresholds.answer_from,
        closest_from=thresholds.closest_from,
        signals=signals,
    )


def verdict(
    question: str,
    decision: Decision,
    passages: Sequence[Passage],
    evidence: Evidence,
    *,
    vectors_used: bool,
) -> Verdict:
    """Decide between an answer, closest passages, a refusal and "no document is in this language".

    Args:
        question: as it was asked.
        decision: its score.
        passages: what was retrieved.
        evidence: scripts and languages of the index.
        vectors_used: whether a vector arm found one of the passages.
    """
    if passages and decision.score >= decision.answer_from:
        return "answered"
    if _is_foreign(question, passages, evidence, vectors_used=vectors_used):
        return "other_language"
    near = bool(passages) and decision.score >= decision.closest_from
    return "closest" if near and _shares_something(decision) else "refused"


def _shares_something(decision: Decision) -> bool:
    return any(decision.signals.get(name, 0.0) > 0 for name in ("own", "around", "meaning"))


def _is_foreign(
    question: str, passages: Sequence[Passage], evidence: Evidence, *, vectors_used: bool
) -> bool:
    """Tell whether no passage is in the question's language and no model bridges the two."""
    script = script_of(question)
    if script in _NO_LANGUAGE:
        return False
    scripts: Collection[str] = evidence.scripts() or {script_of(p.text) for p in passages}
    if scripts and script not in scripts:
        return not vectors_used
    if evidence.is_multilingual():
        return False
    asked = language_name(question)
    written = {language_name(p.text) for p in passages if script_of(p.text) == script}
    return bool(written) and all(_are_known([asked, other]) and asked != other for other in written)


def documents_languages(passages: Sequence[Passage], evidence: Evidence) -> list[str]:
    """Return the names of the documents' languages, for a message."""
    names = list(dict.fromkeys(language_name(passage.text) for passage in passages))
    return names or evidence.languages() or ["another language"]


def _are_known(names: Sequence[str]) -> bool:
    # "a language in Latin script" names none: two such may be the same.
    return not any(name.startswith("a language") for name in names)
