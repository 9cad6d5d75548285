from hypothesis import given
from hypothesis import strategies as st

from pipelines.layout import Box, PageLayout, Word
from pipelines.page_text import PlacedCharacter, assembled, laid_out, without

SIZE = (200.0, 100.0)


def placed(text):
    """Characters that are 5 points wide, on lines of 10 points."""
    found, x, y = [], 0.0, 0.0
    for index, character in enumerate(text):
        box = None if character.isspace() else Box(x, y, x + 5, y + 10)
        found.append(PlacedCharacter(character, index, box))
        x, y = (0.0, y + 10) if character == "\n" else (x + 5, y)
    return found


def words_of(text, layout):
    return [text[word.start : word.end] for word in layout.words]


def test_words_are_what_stands_between_blanks_and_each_kanji():
    text, layout = laid_out(placed("Total 12.5 %\n日本 ok"), SIZE)
    assert text == "Total 12.5 %\n日本 ok"
    assert words_of(text, layout) == ["Total", "12.5", "%", "日", "本", "ok"]
    assert layout.words[1].box == Box(30, 0, 50, 10)
    assert (layout.width, layout.height) == SIZE


def test_a_word_whose_inner_places_are_unknown_reaches_from_its_first_to_its_last():
    given = [
        PlacedCharacter(one.text, one.index, one.box if one.index in (0, 4) else None)
        for one in placed("Total")
    ]
    assert laid_out(given, SIZE)[1].words == (Word(0, 5, Box(0, 0, 25, 10)),)


def test_hidden_characters_leave_neither_blanks_nor_empty_lines():
    text = "one two three\nfour\nfive six\nseven"
    hidden = {
        i
        for word in ("two", "four", "seven")
        for i in range(text.index(word), text.index(word) + len(word))
    }
    kept = without(placed(text), hidden)
    assert "".join(one.text for one in kept) == "one three\nfive six"
    assert without(placed(text), ()) == placed(text)
    assert without(placed("one"), {0, 1, 2}) == []


def test_the_end_of_a_line_that_loses_its_last_word_stays():
    kept = without(placed("one two\nthree"), {4, 5, 6})
    assert "".join(one.text for one in kept) == "one\nthree"


def test_pieces_carry_their_words_along():
    text, layout = laid_out(placed("left right\nlower"), SIZE)
    new, moved = assembled(text, layout, [(5, 10), "\n", (0, 4), "\n", (11, 16)])
    assert new == "right\nleft\nlower"
    assert words_of(new, moved) == ["right", "left", "lower"]
    assert [word.box.left for word in moved.words] == [25, 0, 0]


@given(st.text("ab 日\n", max_size=40), st.sets(st.integers(0, 40)))
def test_what_is_kept_is_laid_out_in_words_that_do_not_overlap(text, hidden):
    kept = without(placed(text), hidden)
    new, layout = laid_out(kept, SIZE)
    assert isinstance(layout, PageLayout)
    assert "".join(words_of(new, layout)) == "".join(new.split())
    assert all(a.end <= b.start for a, b in zip(layout.words, layout.words[1:], strict=False))
    assert sorted("".join(new.split())) == sorted(
        c for i, c in enumerate(text) if i not in hidden and not c.isspace()
    )
