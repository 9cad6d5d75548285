"""Whether the passages can answer the question at all: decided before any answer.

Never decided from fused scores: reciprocal ranks rate nonsense as high as
sense. What counts is how much of the question's weight of words the best
sentence and the best passage hold and, where the embedding model votes, the
best raw cosine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.text import content_words, language_name, script_of
from rag_app.answer.evidence import Evidence
from rag_app.answer.passages import Passage, Sentence
from rag_app.answer.support import share

Verdict = Literal["answer", "refuse", "other_language"]

_NO_LANGUAGE = ("none", "other")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A question is answered when its score reaches ``least``.

    The score is ``sentence * best sentence's share + passage * best passage's
    share``, plus ``meaning * cosine`` where the embedding model votes; each
    case has its own ``least``. Chosen by ``benchmarks/answers.py --choose`` on
    questions other than the reported ones.
    """

    sentence: float = 0.5
    passage: float = 0.5
    least_by_words: float = 0.4
    meaning: float = 1.0
    least_with_meaning: float = 0.75


@dataclass(frozen=True, slots=True)
class Signals:
    """What the decision rests on.

    Attributes:
        sentence: largest share of the question's weight in one sentence, 0 to 1.
        passage: the same in one passage.
        cosine: best raw cosine of a vector arm; ``None`` where none voted.
        has_words: whether the question has content words at all.
    """

    sentence: float
    passage: float
    cosine: float | None
    has_words: bool


def signals(
    weights: Mapping[str, float], passages: Sequence[Passage], sentences: Sequence[Sentence]
) -> Signals:
    """Measure how well the passages cover the question's content words.

    Args:
        weights: IDF weight of each content word of the question.
        passages: what was retrieved, best first.
        sentences: of these passages.
    """
    cosines = [m.score for p in passages for m in p.matches if m.arm.startswith("vectors:")]
    return Signals(
        sentence=max((share(weights, set(content_words(s.text))) for s in sentences), default=0.0),
        passage=max((share(weights, _terms(p)) for p in passages), default=0.0),
        cosine=max(cosines, default=None),
        has_words=bool(weights),
    )


def is_answerable(measured: Signals, thresholds: Thresholds) -> bool:
    """Tell whether the passages are worth an answer."""
    score = thresholds.sentence * measured.sentence + thresholds.passage * measured.passage
    if measured.cosine is None:
        return measured.has_words and score >= thresholds.least_by_words
    return score + thresholds.meaning * measured.cosine >= thresholds.least_with_meaning


def verdict(
    question: str,
    measured: Signals,
    passages: Sequence[Passage],
    evidence: Evidence,
    thresholds: Thresholds,
) -> Verdict:
    """Decide between an answer, a refusal and "no document is in this language".

    Args:
        question: as it was asked.
        measured: its signals.
        passages: what was retrieved.
        evidence: scripts and languages of the index.
        thresholds: as chosen on data.
    """
    if passages and is_answerable(measured, thresholds):
        return "answer"
    return "other_language" if _is_foreign(question, measured, passages, evidence) else "refuse"


def _is_foreign(
    question: str, measured: Signals, passages: Sequence[Passage], evidence: Evidence
) -> bool:
    """Tell whether no passage is in the question's language and no model bridges the two."""
    script = script_of(question)
    if script in _NO_LANGUAGE:
        return False
    scripts: Collection[str] = evidence.scripts() or {script_of(p.text) for p in passages}
    if scripts and script not in scripts:
        return measured.cosine is None
    if evidence.is_multilingual():
        return False
    asked, written = language_name(question), {language_name(p.text) for p in passages}
    return bool(written) and all(_are_known([asked, other]) and asked != other for other in written)


def documents_languages(passages: Sequence[Passage], evidence: Evidence) -> str:
    """Return the names of the documents' languages, for a message."""
    names = dict.fromkeys(language_name(passage.text) for passage in passages)
    return ", ".join(names) or ", ".join(evidence.languages()) or "another language"


def _are_known(names: Sequence[str]) -> bool:
    # "a language in Latin script" names none: two such may be the same.
    return not any(name.startswith("a language") for name in names)


def _terms(passage: Passage) -> set[str]:
    # Title and heading are what the passage is about: they were searched too.
    return set(content_words("\n".join((passage.title, passage.heading, passage.text))))
