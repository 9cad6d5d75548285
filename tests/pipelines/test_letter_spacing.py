import pytest

from pipelines.layout import Box, PageLayout, Word
from pipelines.letter_spacing import has_spaced_letters, joined_letters, with_joined_letters


def spread(text, *, gap=4.0, word_gap=9.0, size=10.0):
    """Return letters with a space after each, and their places; "/" is a wider gap."""
    words, at, x = [], 0, 0.0
    shown = text.replace("/", "")
    for number, letter in enumerate(text):
        if letter == "/":
            x += word_gap - gap
            continue
        words.append(Word(at, at + 1, Box(x, 0, x + 6, size)))
        at += 2
        x += 6 + gap
        assert number < 99
    return " ".join(shown), PageLayout(600, 800, tuple(words))


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("ANNUAL/REPORT", "ANNUAL REPORT"),
        ("REVENUE", "REVENUE"),
        ("有価証券報告書", "有価証券報告書"),
        ("ÉTAT", "ÉTAT"),
    ],
)
def test_letters_become_words_that_end_at_wider_gaps(text, joined):
    spaced, layout = spread(text)
    assert has_spaced_letters(spaced)
    new, moved = with_joined_letters(spaced, layout)
    assert new == joined
    assert "".join(new[word.start : word.end] for word in moved.words) == joined.replace(" ", "")


def test_what_stands_around_stays():
    spaced, layout = spread("TOTAL")
    before = "The year: "
    shifted = tuple(Word(w.start + 10, w.end + 10, w.box) for w in layout.words)
    new, _ = with_joined_letters(f"{before}{spaced} of 2025", PageLayout(600, 800, shifted))
    assert new == "The year: TOTAL of 2025"


def test_heads_of_columns_stay_apart():
    spaced, layout = spread("ABCDE", gap=40)
    assert with_joined_letters(spaced, layout) == (spaced, layout)


@pytest.mark.parametrize(
    "text", ["", "I am a man", "1 2 3 4 5", "plan A B", "see a b c", "日 本", "A N N U A"[:5]]
)
def test_text_without_spaced_letters_is_seen_as_such(text):
    assert not has_spaced_letters(text)


@pytest.mark.parametrize("text", ["A N N U A L", "有 価 証 券", "有\u3000価\u3000証\u3000券"])
def test_spaced_letters_are_seen(text):
    assert has_spaced_letters(text)


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("A N N U A L  R E P O R T\nof 2024", "ANNUAL  REPORT\nof 2024"),
        ("有 価 証 券 報 告 書", "有価証券報告書"),
        ("有　価　証　券", "有価証券"),
        ("  S U M M A R Y  ", "  SUMMARY  "),
        ("Grades: A B C D F", "Grades: A B C D F"),
        ("A B C D E", "A B C D E"),
        ("A N N U A L report", "A N N U A L report"),
        ("a b c", "a b c"),
        ("1 2 3 4 5", "1 2 3 4 5"),
    ],
)
def test_lines_of_single_letters_are_joined_by_their_blanks_alone(text, joined):
    assert joined_letters(text) == joined
