"""One call to a language model: its marks renumbered, its statements checked."""

from __future__ import annotations

import pytest

from pipelines.errors import LLMServerError
from rag_app.answer.limits import TokenLimits
from rag_app.answer.prompts import load_prompts
from rag_app.answer.written.generation import CUT_OFF, Generation
from rag_app.models.usage import Reply
from tests.rag_app.answer.written.writer import Writer, planned

PROMPTS = load_prompts()


def generation(text, first_words=lambda: None):
    plan, evidence = planned()
    return Generation(Writer(text=text), plan, evidence, PROMPTS, TokenLimits(), first_words)


def test_marks_are_numbered_by_first_use_and_statements_are_checked():
    answer = generation("It made 4,200 pumps in 2019 [2]. The plant opened in 1998 [1].").complete()
    assert answer.response == "It made 4,200 pumps in 2019 [1]. The plant opened in 1998 [2]."
    assert [citation.page for citation in answer.citations] == [2, 1]
    assert all(sentence.verified for sentence in answer.sentences)
    assert (answer.mode, answer.model, answer.usage.llm_calls) == ("llm", "w", 1)


def test_a_wrong_number_is_not_supported():
    (sentence,) = generation("It made 9,999 pumps in 2019 [2].").complete().sentences
    assert sentence.support == "unsupported"
    assert "9,999" in " ".join(sentence.problems)


@pytest.mark.parametrize("text", ["It made 4,200 pumps in 2019 [2].", PROMPTS.answer.refusal])
def test_a_stream_ends_as_the_same_answer_and_tells_of_its_first_words(text):
    told = []
    streamed = generation(text, lambda: told.append(1))
    written = "".join(streamed.stream())
    ended, waited = streamed.streamed(written), generation(text).complete()
    assert (ended.response, ended.outcome) == (waited.response, waited.outcome)
    assert (ended.sentences, ended.citations) == (waited.sentences, waited.citations)
    assert told == ([] if text == PROMPTS.answer.refusal else [1])


def test_the_models_refusal_is_ours():
    answer = generation(PROMPTS.answer.refusal).complete()
    assert (answer.outcome, answer.sentences, answer.mode) == ("refused", [], "llm")


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_answer_is_an_error(text):
    with pytest.raises(LLMServerError, match="empty answer"):
        generation(text).complete()


def test_an_answer_that_was_cut_at_its_limit_is_marked():
    reply = Reply("It made 4,200 pumps in 2019 [2].", 1, 1, estimated=True, cut=True, calls=1)
    (sentence,) = generation("").replied(reply).sentences
    assert (sentence.support, CUT_OFF in sentence.problems) == ("unsupported", True)
