"""What a model copies of the marks around the passages is never shown."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.answer.written.delimiters import (
    DelimiterFilter,
    delimited,
    new_delimiter,
    without_delimiter,
)

FENCE = "passage-0123456789ab"
OTHERS = "The plant was opened in 1998."
THEIRS = "Write <passage-ff> and </passage> around it."


def shown(text: str, pieces: list[str] | None = None, documents: str = OTHERS) -> str:
    kept = DelimiterFilter(FENCE, [documents])
    return "".join([*(kept.feed(piece) for piece in pieces or [text]), kept.close()])


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (delimited(FENCE, 1, "a.pdf, page 3", "It opened."), "\nIt opened.\n"),
        (f"It opened. </{FENCE}>", "It opened. "),
        (f"It opened <{FENCE}>here.", "It opened here."),
        (f"It opened <{FENCE} in 1998.", "It opened in 1998."),
        (f"As {FENCE} says.", "As  says."),
        ("It opened. </passage>", "It opened. "),
        ('<passage-99 number="2">It opened.', "It opened."),
        ("< Passage number=2 >It opened.", "It opened."),
        ("It opened. </pass", "It opened. "),
        (f'It opened. <{FENCE} number="1" sou', "It opened. "),
        ("It opened. <", "It opened. "),
        (f"It opened. {FENCE[:14]}", "It opened. "),
        ("If 3 < 5 then a<b, see passage", "If 3 < 5 then a<b, see passage"),
        ("<b>bold</b> and <passages>", "<b>bold</b> and <passages>"),
        ("it takes the passage", "it takes the passage"),
    ],
)
@pytest.mark.parametrize("step", [1, 2, 5, 1000])
def test_marks_are_left_out_and_all_else_stays(written: str, read: str, step: int) -> None:
    pieces = [written[start : start + step] for start in range(0, len(written), step)]
    assert shown(written, pieces) == read


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_marks_that_a_document_writes_itself_may_be_quoted(step: int) -> None:
    text = f"It says: {THEIRS} [1]</{FENCE}>"
    pieces = [text[start : start + step] for start in range(0, len(text), step)]
    assert shown(text, pieces, THEIRS) == f"It says: {THEIRS} [1]"


_PARTS = st.sampled_from(
    [
        f"<{FENCE}",
        f"</{FENCE}>",
        FENCE,
        "<passage",
        "passage-",
        "</",
        ">",
        "<",
        " ",
        "\n",
        "a",
        ' number="1"',
        ' source="x"',
        "p",
        FENCE[:12],
    ]
)


@given(st.lists(_PARTS, max_size=12).map("".join), st.data())
def test_the_pieces_of_a_stream_do_not_change_what_is_shown(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    edges = [0, *cuts, len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(edges)]
    assert shown(text, pieces) == shown(text)


@given(st.lists(_PARTS, max_size=12).map("".join))
def test_no_word_that_is_shown_was_taken_back_later(text: str) -> None:
    """What is shown of a beginning is the beginning of what is shown of the whole."""
    whole, kept, so_far = shown(text), DelimiterFilter(FENCE, [OTHERS]), ""
    for character in text:
        so_far += kept.feed(character)
        assert whole.startswith(so_far)


def test_words_are_shown_as_soon_as_they_are_certain() -> None:
    kept = DelimiterFilter(FENCE, [OTHERS])
    assert kept.feed("The ") == "The "
    assert kept.feed("plant <") == "plant "
    assert kept.feed("b> is") == "<b> is"


def test_a_fence_stands_in_no_text() -> None:
    assert without_delimiter("a", new_delimiter(["a"]), ["a"]) == "a"
