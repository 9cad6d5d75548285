"""The sentence table: any span of it, and the terms that each sentence holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.sentence_table import SentenceTable
from pipelines.sentences import sentence_spans
from pipelines.text import count_tokens, search_terms

TEXT = "The pumps are red.  A valve of the pump\nis new. 京都は古い都です。It is shut."
WORDS = ("pump", "valve", "red", "new", "京都", "都", "4,200", "AX-450/B", "the", "naïve", "\udc80")

texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=8).map(
    lambda sentences: "".join(f"{sentence}. " for sentence in sentences)
)


def table_of(text: str) -> SentenceTable:
    return SentenceTable.of(text, spans(text))


def spans(text: str) -> list[tuple[int, int]]:
    return sentence_spans(text, max_tokens=None)


def test_each_sentence_holds_its_own_terms() -> None:
    assert table_of(TEXT).holding(search_terms("red pumps, a new valve: 京都")) == [
        {"pump", "red"},
        {"pump", "valv", "new"},
        {"京", "都", "京都"},
        set(),
    ]


def test_of_no_terms_or_sentences_nothing_is_held() -> None:
    assert table_of(TEXT).holding([]) == [set()] * 4
    assert table_of("").holding(["pump"]) == []
    assert SentenceTable.joined([]).holding(["pump"]) == []


@given(texts, st.integers(0, 99), st.integers(0, 99))
def test_a_span_holds_the_sentences_that_begin_in_it_with_their_terms(
    text: str, start: int, end: int
) -> None:
    terms = search_terms(" ".join(WORDS))
    wanted = [
        (first, last, set(terms) & set(search_terms(text[first:last])))
        for first, last in spans(text)
        if start <= first < end
    ]
    some = table_of(text).within(start, end)
    found = zip(some.starts.tolist(), some.stops.tolist(), some.holding(terms), strict=True)
    assert list(found) == wanted


@given(texts)
def test_tokens_of_sentences_are_those_of_their_text(text: str) -> None:
    whole = table_of(text)
    for span, most in zip(spans(text), whole.token_bounds(spans(text)), strict=True):
        assert 0 <= most - count_tokens(text[slice(*span)]) <= 2
    if len(whole):
        first, last = whole.starts[0], whole.stops[-1]
        tokens = whole.moved(-first).tokens_until(last - first)
        assert tokens is not None
        assert abs(tokens - count_tokens(text[first:last])) <= 2


def test_of_a_text_that_begins_or_ends_inside_a_sentence_tokens_are_not_known() -> None:
    whole = table_of(TEXT)
    assert whole.tokens_until(len(TEXT)) is not None
    assert whole.tokens_until(len(TEXT) - 1) is None
    assert whole.moved(1).tokens_until(len(TEXT) + 1) is None
    assert table_of("").tokens_until(0) is None
    assert whole.moved(5).token_bounds([(0, 5), (5, 9)])[0] > 1_000_000


@given(st.lists(texts, max_size=4))
def test_stretches_of_a_text_joined_are_the_sentences_of_the_whole(stretches: list[str]) -> None:
    terms = search_terms(" ".join(WORDS))
    parts, offset = [], 0
    for stretch in stretches:
        parts.append(table_of(stretch).moved(offset))
        offset += len(stretch)
    joined = SentenceTable.joined(parts)
    assert joined.starts.tolist() == [at for part in parts for at in part.starts.tolist()]
    assert joined.holding(terms) == [held for part in parts for held in part.holding(terms)]
