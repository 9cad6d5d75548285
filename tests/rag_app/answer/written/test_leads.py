"""The beginning of a text is an answer where its first sentence cites; else it may be a thought."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.answer.written.leads import cites_at_once


@pytest.mark.parametrize(
    "lead",
    [
        "The crane lifts 12 tonnes [1].",
        "The crane lifts 12 tonnes. [1] It",
        "納期は三日です【1】。",
        "It costs £4.20 [Passage 2, p. 3] and",
        "[1] says so",
    ],
)
def test_a_first_sentence_that_cites_is_an_answer(lead):
    assert cites_at_once(lead)


@pytest.mark.parametrize(
    "lead",
    [
        "",
        "The user asks for the load.",
        "Let me look. The crane is named. It lifts 12 tonnes [1].",
        "The list [see below] is long",
        "An open mark [1",
    ],
)
def test_a_beginning_that_may_be_a_thought_is_none_yet(lead):
    assert not cites_at_once(lead)


@given(st.text(st.sampled_from("ab .[]1。【】\n"), max_size=60), st.text(max_size=20))
def test_what_is_an_answer_once_stays_one(lead, more):
    assert not cites_at_once(lead) or cites_at_once(lead + more)
