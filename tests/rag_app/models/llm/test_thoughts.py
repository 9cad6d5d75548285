"""Thoughts are told from answers, however the text is cut into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.answer.written.leads import cites_at_once
from rag_app.models.llm.thoughts import IsAnswer, ThoughtFilter, always, never

PIECES = st.lists(
    st.sampled_from(
        (
            *(
                "<think>",
                "</think>",
                "[THINK]",
                "[/THINK]",
                "<|channel|>analysis",
                "<|end|>",
                "<th",
            ),
            *("<|channel|>final", "<|message|>", "assistantfinal", " ", "a", "[1]", "\n"),
            "Berlin is it. ",
        )
    ),
    max_size=12,
).map("".join)


def shown(pieces: list[str], is_answer: IsAnswer) -> str:
    visible = ThoughtFilter(is_answer)
    return "".join([visible.feed(piece) for piece in pieces]) + visible.close()


@pytest.mark.parametrize("is_answer", [always, never, cites_at_once])
@given(text=PIECES, data=st.data())
def test_any_split_of_a_text_shows_the_same(
    is_answer: IsAnswer, text: str, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    pieces = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert shown(pieces, is_answer) == shown([text], is_answer) == shown(list(text), is_answer)


def test_an_answer_that_cites_its_first_sentence_is_shown_while_it_comes() -> None:
    visible = ThoughtFilter(cites_at_once)
    assert visible.feed("Berlin is the capital. ") == ""
    assert visible.feed("[1] It") == "Berlin is the capital. [1] It"


def test_thoughts_without_an_opening_mark_are_held_back_whole() -> None:
    visible = ThoughtFilter(cites_at_once)
    assert visible.feed("Let me look. Passage [1] says Berlin.") == ""
    assert visible.feed("</think>Berlin. [1]") == "Berlin. [1]"
