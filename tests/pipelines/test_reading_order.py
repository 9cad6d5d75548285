import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.layout import Box, PageLayout, Word
from pipelines.reading_order import in_columns, is_prose, most_shared
from tests.support.drawn_pages import LEFT, RIGHT, ROWS, THIRD

WIDE, HIGH = 5, 10  # of a character, in points


def laid(*rows):
    """Return text and places of rows, each of (left edge, words) parts."""
    text, words = "", []
    for row, parts in enumerate(rows):
        text += "\n" if row else ""
        for number, (x, part) in enumerate(parts):
            text += " " if number else ""
            for word in part.split():
                start = len(text) + part.index(word)
                left = x + WIDE * part.index(word)
                top = 12.0 * row
                words.append(
                    Word(
                        start,
                        start + len(word),
                        Box(left, top, left + WIDE * len(word), top + HIGH),
                    )
                )
            text += part
    return text, PageLayout(600, 800, tuple(words))


def columns(*sides):
    return [
        tuple((10 + 180 * n, line) for n, line in enumerate(row))
        for row in zip(*sides, strict=True)
    ]


L = [f"aa{n} bbb{n} cccc{n} ddd{n}" for n in range(8)]
R = [f"ee{n} fff{n} gggg{n} hhh{n}" for n in range(8)]


def letters(lines):
    return [line.translate(str.maketrans("01234567", "klmnopqr")) for line in lines]


def test_columns_are_read_one_after_the_other_and_words_keep_their_places():
    left, right = letters(L), letters(R)
    text, layout = laid(*columns(left, right))
    new, moved = in_columns(text, layout)
    assert new.split("\n") == left + right
    assert {new[w.start : w.end]: w.box for w in moved.words} == {
        text[w.start : w.end]: w.box for w in layout.words
    }


def test_a_column_that_is_longer_than_its_neighbour_ends_before_it_begins():
    left, right = letters(L), letters(R)[:6]
    rows = columns(left[:6], right) + [((10, line),) for line in left[6:]]
    assert in_columns(*laid(*rows))[0].split("\n") == left + right


def test_a_line_across_parts_what_stands_above_from_what_stands_below():
    left, right = letters(L), letters(R)
    across = ((10, "z" * 60),)
    rows = [*columns(left[:4], right[:4]), across, *columns(left[4:], right[4:])]
    assert in_columns(*laid(*rows))[0].split("\n") == [
        *left[:4], *right[:4], "z" * 60, *left[4:], *right[4:],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "rows",
    [
        columns(letters(L)[:4], letters(R)[:4]),
        columns(letters(L), [f"{n},{n}00 1{n}.5" for n in range(8)]),
        columns(letters(L), [f"Name{'klmnopqr'[n]} Other" for n in range(8)]),
        [((10, line),) for line in letters(L)],
        columns(["Aa" + line[2:] for line in letters(L)], ["Ee" + line[2:] for line in letters(R)]),
        [],
    ],
    ids=["few lines", "numbers", "short cells", "one column", "cells that begin anew", "nothing"],
)
def test_other_pages_are_returned_as_they_are(rows):
    text, layout = laid(*rows)
    assert in_columns(text, layout) == (text, layout)


def test_prose_runs_on_and_cells_do_not():
    assert all(map(is_prose, (LEFT, RIGHT, THIRD)))
    assert is_prose(["日本の首都は東京である", "人口は多いが面積は小さい"])
    assert not is_prose(ROWS)
    assert not is_prose(["12,450 3,100", "9,800 2,950"])


@pytest.mark.parametrize(
    ("gaps", "shared"),
    [([], 0), ([(1, 2)], 1), ([(1, 2), (2, 3)], 1), ([(1, 5), (4, 9), (3, 6)], 3)],
)
def test_gaps_share_a_place_where_they_overlap(gaps, shared):
    assert most_shared(gaps)[0] == shared


BOXES = st.tuples(st.floats(0, 500), st.floats(0, 700), st.floats(1, 90), st.floats(1, 20))


@given(st.lists(st.lists(BOXES, max_size=6), max_size=12))
def test_no_word_is_lost_wherever_words_stand(rows):
    text, words = "", []
    for row in rows:
        for x, y, width, height in row:
            words.append(Word(len(text), len(text) + 3, Box(x, y, x + width, y + height)))
            text += "abc "
        text += "\n"
    new, moved = in_columns(text, PageLayout(600, 800, tuple(words)))
    assert sorted(new.split()) == sorted(text.split())
    assert len(moved.words) == len(words)
    assert all(new[word.start : word.end] == "abc" for word in moved.words)
