"""Whether the passages can answer the question at all: decided before any answer.

Never decided from fused scores: reciprocal ranks rate nonsense as high as
sense. What counts is how much of the question's weight of words the best
sentence and the best passage hold and, where the embedding model votes, the
best raw cosine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Literal

from pipelines.text import language_name, normalise, script_of, search_terms
from rag_app.answer.evidence import Evidence
from rag_app.answer.response import Decision
from rag_app.answer.support import share
from rag_app.passages import Passage, Sentence

Verdict = Literal["answered", "closest", "refused", "other_language"]
Scale = Callable[[float], float]

# Sentences in a row, about a paragraph.
_STRETCH = 5
# "How many people", "what number": what is asked for, and no statement has it.
_ASKING = "何"
# Katakana words, kanji compounds, and what is written in Latin letters or digits.
_ASKED_FOR = re.compile(rf"{_ASKING}[一-龠]{{0,2}}")
_COMPOUND = re.compile(r"[ァ-ヴー]{2,}|[一-龠々]{2,}|[a-z0-9]+")
_NO_LANGUAGE = ("none", "other")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A question is answered when its score reaches ``least``.

    The score is ``sentence * best sentence's share + stretch * best stretch's
    share``, plus ``meaning * cosine`` where the embedding model votes; in Japanese,
    where it does not, plus ``compounds * best stretch's share of compounds`` (pairs of
    characters are met by chance more often than words). Each case has its own
    ``least``. Chosen by the rule of ``benchmarks/answers.py`` on one half of
    its questions and reported on the other.
    """

    sentence: float = 0.3
    stretch: float = 0.7
    least_by_words: float = 0.4
    compounds: float = 0.2
    least_by_characters: float = 0.63
    meaning: float = 1.5
    least_with_meaning: float = 1.1
    closest_share: float = 0.4


@dataclass(frozen=True, slots=True)
class Signals:
    """What the decision rests on.

    Attributes:
        sentence: largest share of the question's weight in one sentence, 0 to 1.
        stretch: the same in a few sentences in a row, title and heading included.
        cosine: best cosine of a vector arm; ``None`` where none voted.
        has_words: whether the question has content words at all.
        in_characters: whether these are single characters and pairs of them (CJK).
        compounds: like ``stretch``, of whole compounds (runs of kanji, of katakana, numbers);
            ``stretch`` where the question has none.
    """

    sentence: float
    stretch: float
    cosine: float | None
    has_words: bool
    in_characters: bool = False
    compounds: float = 0.0


def signals(
    question: str,
    weights: Mapping[str, float],
    passages: Sequence[Passage],
    sentences: Sequence[Sentence],
    scale: Scale | None = None,
) -> Signals:
    """Measure how well the passages cover the question's content words.

    Args:
        question: as it was asked.
        weights: IDF weight of each content word of the question.
        passages: what was retrieved, best first.
        sentences: of these passages, in reading order.
        scale: a cosine of this model → the same on the scale of the thresholds.
    """
    # What a glossary says is near to its passages, whatever the question asks of them.
    found = [match for passage in passages for match in passage.matches if not match.of_glossary]
    cosines = [match.score for match in found if match.arm.startswith("vectors:")]
    best = max(cosines, default=None)
    weights = {term: weight for term, weight in weights.items() if _ASKING not in term}
    terms = [weights.keys() & sentence.terms for sentence in sentences]
    about = [set(search_terms(f"{p.title}\n{p.heading}")) for p in passages]
    stretch = _best_share(weights, _stretches(about, sentences, terms))
    in_characters = script_of(" ".join(weights)) == "cjk"
    # Runs of han without kana are clauses, not compounds.
    japanese = in_characters and language_name(question) == "Japanese"
    compounds = _compounds(question, weights) if japanese else {}
    return Signals(
        sentence=_best_share(weights, terms),
        stretch=stretch,
        cosine=best if best is None or scale is None else scale(best),
        has_words=bool(weights),
        in_characters=in_characters,
        compounds=_compounds_share(compounds, passages, sentences) if compounds else stretch,
    )


def is_answerable(measured: Signals, thresholds: Thresholds) -> bool:
    """Tell whether the passages are worth an answer."""
    if measured.cosine is None and not measured.has_words:
        return False
    return score_of(measured, thresholds) >= least_of(measured, thresholds)


def score_of(measured: Signals, thresholds: Thresholds) -> float:
    """Return how well the passages cover the question; compare it with :func:`least_of`."""
    words = thresholds.sentence * measured.sentence + thresholds.stretch * measured.stretch
    if measured.cosine is not None:
        return words + thresholds.meaning * measured.cosine
    return words + (thresholds.compounds * measured.compounds if measured.in_characters else 0.0)


def least_of(measured: Signals, thresholds: Thresholds) -> float:
    """Return the score from which on a question with such signals is answered."""
    if measured.cosine is not None:
        return thresholds.least_with_meaning
    by_characters = measured.in_characters
    return thresholds.least_by_characters if by_characters else thresholds.least_by_words


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
        return "answered"
    if _is_foreign(question, measured, passages, evidence):
        return "other_language"
    near = bool(passages) and is_near(measured, thresholds)
    return "closest" if near else "refused"


def is_near(measured: Signals, thresholds: Thresholds) -> bool:
    """Tell whether the passages are worth showing, though they do not answer."""
    least = thresholds.closest_share * least_of(measured, thresholds)
    return measured.has_words and score_of(measured, thresholds) >= least


def decision_of(measured: Signals, thresholds: Thresholds) -> Decision:
    """Return what a verdict rests on, for the reader."""
    least = least_of(measured, thresholds)
    named = {name: value for name, value in asdict(measured).items() if value is not None}
    return Decision(
        score=round(score_of(measured, thresholds), 4),
        answer_from=least,
        closest_from=thresholds.closest_share * least,
        signals={name: round(float(value), 4) for name, value in named.items()},
    )


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


def _best_share(weights: Mapping[str, float], held: Iterable[set[str]]) -> float:
    return max((share(weights, terms) for terms in held), default=0.0)


def _stretches(
    about: Sequence[set[str]], sentences: Sequence[Sentence], terms: Sequence[set[str]]
) -> Iterator[set[str]]:
    """Yield the terms of each few sentences in a row of one passage, with those of its title.

    A whole passage would not do: the longer it is, the more of any question it holds.
    """
    for first, sentence in enumerate(sentences):
        held = set(about[sentence.passage])
        for place in range(first, min(first + _STRETCH, len(sentences))):
            if sentences[place].passage == sentence.passage:
                held |= terms[place]
        yield held


def _compounds(question: str, weights: Mapping[str, float]) -> dict[str, float]:
    """Return the compounds of a Japanese question, each with the weight of its rarest pair."""
    runs = dict.fromkeys(_COMPOUND.findall(_ASKED_FOR.sub(" ", normalise(question))))
    pairs = {run: [run, *map("".join, pairwise(run))] for run in runs}
    found = {run: max(weights.get(pair, 0.0) for pair in own) for run, own in pairs.items()}
    return {run: weight for run, weight in found.items() if weight > 0}


def _compounds_share(
    compounds: Mapping[str, float], passages: Sequence[Passage], sentences: Sequence[Sentence]
) -> float:
    def held(text: str) -> set[str]:
        plain = "".join(normalise(text).split())
        return {run for run in compounds if run in plain}

    about = [held(f"{passage.title}\n{passage.heading}") for passage in passages]
    there = [held(sentence.text) for sentence in sentences]
    return _best_share(compounds, _stretches(about, sentences, there))
