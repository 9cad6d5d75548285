from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.text import sentence_spans
from rag_app.answer.written.citation_marks import MarkReader, numbers_of
from rag_app.answer.written.marks import AnswerFilter, has_words, sentences_with_marks

REFUSAL = "NO_ANSWER"


def shown(text, *, pieces=None, count=6):
    numbers = {}

    def renumber(number):
        return numbers.setdefault(number, len(numbers) + 1) if 1 <= number <= count else None

    made = AnswerFilter(renumber, REFUSAL, MarkReader(count))
    parts = [made.feed(piece) for piece in (pieces or [text])]
    return "".join([*parts, made.close()]), made


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("A [4]. B [2]. C [4].", "A [1]. B [2]. C [1]."),
        ("A [9]. B [2].", "A. B [1]."),
        ("A [2, 3] B", "A [1][2] B"),
        ("A [1-3].", "A [1][2][3]."),
        ("東京。【3】大阪［３］", "東京。[1]大阪[1]"),
        ("A [Passage 2].", "A [1]."),
        ("A [Fig. 2] [2019]", "A [Fig. 2] [2019]"),
        ("\n\n A [1] \n", "A [1]"),
        ("A [1", "A [1"),
    ],
)
def test_marks_are_numbered_in_the_order_of_first_use(written, read):
    assert shown(written)[0] == read


@given(st.text(alphabet="AB [1]29.,\nNO_", max_size=60), st.data())
def test_the_pieces_of_a_stream_do_not_change_what_is_shown(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    edges = [0, *cuts, len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(edges)]
    streamed, whole = shown(text, pieces=pieces), shown(text)
    assert streamed[0] == whole[0]
    assert streamed[1].refused == whole[1].refused
    assert streamed[1].raw == whole[1].raw


@pytest.mark.parametrize(
    "text",
    [
        "NO_ANSWER",
        "no_answer.",
        '"NO_ANSWER"',
        "**NO_ANSWER**",
        "NO\\_ANSWER because",
        " [NO_ANSWER]",
    ],
)
def test_the_word_for_no_answer_is_never_shown(text):
    read, made = shown(text, pieces=list(text))
    assert made.refused
    assert read == ""


def test_words_are_shown_as_soon_as_they_are_certain():
    made = AnswerFilter(lambda n: n, REFUSAL, MarkReader(6))
    assert made.feed("The ") == "The"
    assert made.feed("plant [") == " plant"
    assert made.feed("1") == ""
    assert made.feed("] is") == " [1] is"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. [1] Two [2].", [("One.", [1], []), ("Two.", [2], [])]),
        ("One [1][2]. Two.", [("One.", [1, 2], []), ("Two.", [], [])]),
        ("One [9].", [("One.", [], [9])]),
        ("[1] One.\n[2] Two.", [("One.", [1], []), ("Two.", [2], [])]),
        ("東京。[1]大阪。[2]", [("東京。", [1], []), ("大阪。", [2], [])]),
        ("One.\n[1]", [("One.", [1], [])]),
        ("[1]", []),
    ],
)
def test_a_mark_belongs_to_its_sentence(text, expected):
    found = sentences_with_marks(text, sentence_spans, MarkReader(6))
    assert [(s.text, s.cited, s.invented) for s in found] == expected


def test_ranges_and_lists_are_read():
    assert numbers_of("[1, 3-5; 3]") == [1, 3, 4, 5]
    assert numbers_of("[5-1]") == [5, 1]


def test_marks_alone_are_no_words():
    assert not has_words(" [1] [2]\n")
    assert has_words("[1] a")


FORMS = (
    "【2】", "【2†source】", "[^2]", " (2)", " (passage 2)", " [Passage #2]", " [2, p. 4]", " <2>",
    " [[2]]", " [2](#)", "［２］", "〔2〕", " \\[2\\]", " <sup>2</sup>", " (see passage 2, page 4)",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_citation_is_understood_whole_and_letter_by_letter(form):
    text = f"A dividend is paid{form}."
    read, made = shown(text)
    assert read.replace(" ", "") == "Adividendispaid[1]."
    assert shown(text, pieces=list(text))[0] == read
    (sentence,) = sentences_with_marks(made.raw, sentence_spans, MarkReader(6))
    assert (sentence.text, sentence.cited) == ("A dividend is paid.", [2])


@pytest.mark.parametrize(
    "text",
    [
        "Paid.\n\nSources: [2]",
        "Paid. **Sources:** passage 2",
        "Paid.\n\nSources:\n- [2] a.pdf, page 3",
        "Paid [2].\n\n[^2]: a.pdf p. 3",
        '{"answer": "Paid.", "citations": [2]}',
        "According to [2], paid.",
    ],
)
def test_lists_of_sources_and_objects_are_read_and_not_shown(text):
    for pieces in (None, list(text)):
        read, made = shown(text, pieces=pieces)
        assert "ources" not in read
        assert "pdf" not in read
        assert "{" not in read
        (sentence,) = sentences_with_marks(made.raw, sentence_spans, MarkReader(6))
        assert (sentence.text, sentence.cited) == ("Paid.", [2])


def test_a_documents_own_reference_mark_is_not_taken_for_ours():
    reader = MarkReader(6, ["The rate agrees with that of the satellites [2]."])
    text = "The rate agrees with that of the satellites [2] [1]."
    (sentence,) = sentences_with_marks(text, sentence_spans, reader)
    assert (sentence.cited, sentence.invented) == ([1], [])


@pytest.mark.parametrize("text", ["A loss of (2) was made.", "(1) first, (2) second", "in (2019)."])
def test_numbers_in_brackets_that_cite_nothing_stay(text):
    assert shown(text)[0] == text
