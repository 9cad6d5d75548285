"""The rule that chooses the thresholds of a refusal."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.answers import CHOSEN_FALSE_REFUSALS, Case, choose
from benchmarks.datasets import Question
from rag_app.answer.refusal import Signals, Thresholds, is_answerable

ASKED = Question("1", "Who?")


def case(right: Signals, wrong: Signals) -> Case:
    return Case(ASKED, 0, right, wrong, *[True] * 5)


def words(share: float, cosine: float | None = None, **more: float) -> Signals:
    in_characters = bool(more)
    return Signals(share, share, cosine, has_words=True, in_characters=in_characters, **more)


def test_a_few_in_a_hundred_of_what_can_be_answered_may_be_refused() -> None:
    cases = [case(words(n / 200), words(0.0)) for n in range(200)]
    chosen, wrong = choose(cases)
    assert chosen.least_by_words == 0.03
    assert wrong == 0.0
    refused = sum(not is_answerable(one.right, chosen) for one in cases)
    assert refused / len(cases) <= CHOSEN_FALSE_REFUSALS


def test_the_weight_of_compounds_with_the_fewest_false_answers_is_chosen() -> None:
    """Compounds tell right from wrong here, pairs of characters do not: the smallest will do."""
    chosen, wrong = choose([case(words(0.5, compounds=0.5), words(0.5, compounds=0.0))] * 9)
    assert wrong == 0.0
    assert (chosen.compounds, chosen.least_by_characters) == (0.1, 0.55)


def test_each_kind_has_its_own_least() -> None:
    chosen, _ = choose([case(words(0.5, 0.5), words(0.1, 0.1))] * 9)
    assert chosen == replace(Thresholds(), least_with_meaning=1.25)
