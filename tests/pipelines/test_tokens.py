import os
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.tokens import TOKENIZER_NAME, TokenOffsets, _token_starts, count_tokens
from tests.support.growth import MAX_GROWTH, growth

TEXT = st.text(st.characters(codec=None), max_size=300)


def test_counts_equal_tiktoken_with_the_shipped_file():
    script = (
        "import os, pathlib, llama_index.core as c, tiktoken, json, sys\n"
        "os.environ['TIKTOKEN_CACHE_DIR'] = str(pathlib.Path(c.__file__).parent / "
        "'_static' / 'tiktoken_cache')\n"
        "e = tiktoken.get_encoding('cl100k_base')\n"
        "print(json.dumps([len(e.encode_ordinary(t)) for t in json.load(sys.stdin)]))"
    )
    import json

    texts = [
        "Revenue grew 3.5% to $4.2 million.",
        "東京は日本の首都です。",
        "a\n\n  b\t\tc",
        "😀👨‍👩‍👧",
    ]
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [count_tokens(text) for text in texts]
    assert TOKENIZER_NAME == "cl100k_base"


def test_no_environment_variable_is_set_or_needed(monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/nonexistent")
    before = dict(os.environ)
    assert count_tokens("two words") == 2
    assert dict(os.environ) == before


@pytest.mark.parametrize("unit", ["a", "あ", " ", "ab c\n"])
def test_a_long_text_without_breaks_is_counted_in_linear_time(unit):
    assert growth(count_tokens, lambda size: unit * (size // len(unit)), 30_000) < MAX_GROWTH


@given(TEXT)
def test_offsets_count_the_whole_text_as_counting_does(text):
    assert TokenOffsets(text).count(0, len(text)) == count_tokens(text)


@settings(max_examples=60)
@given(TEXT, st.data())
def test_count_is_the_number_of_tokens_that_share_a_character_with_the_span(text, data):
    starts = _token_starts(text)
    # A token that holds a part of a character only stands for that character.
    ends = [max(end, start + 1) for start, end in pairwise([*starts, len(text)])]
    start, end = (data.draw(st.integers(0, len(text) + 2)) for _ in "se")
    shared = sum(max(a, start) < min(b, end) for a, b in zip(starts, ends, strict=True))
    assert TokenOffsets(text).count(start, end) == shared


@pytest.mark.parametrize("text", ["", "Q ", "one two three", "😀"])
def test_no_token_overlaps_an_empty_span(text):
    tokens = TokenOffsets(text)
    for place in range(len(text) + 2):
        assert tokens.count(place, place) == 0
        assert tokens.count(place, 0) == 0
        assert tokens.fewer(place, place, 1)


@settings(max_examples=60)
@given(TEXT, st.data())
def test_counts_of_two_halves_exceed_the_whole_by_at_most_one(text, data):
    cut = data.draw(st.integers(0, len(text)))
    tokens = TokenOffsets(text)
    halves = tokens.count(0, cut) + tokens.count(cut, len(text))
    assert tokens.count(0, len(text)) <= halves <= tokens.count(0, len(text)) + 1


@settings(max_examples=60)
@given(TEXT, st.integers(0, 50), st.integers(1, 20))
def test_end_of_holds_no_more_tokens_than_asked(text, start, most):
    start = min(start, len(text))
    tokens = TokenOffsets(text)
    end = tokens.end_of(start, most)
    assert start <= end <= len(text)
    assert tokens.count(start, end) <= most


def test_long_texts_are_cut_where_no_token_crosses():
    text = "First line of many.\n\nSecond (line).\n  indented\n" * 6_000
    from pipelines.tokens import _tokenizer

    assert count_tokens(text) == len(_tokenizer()[0].encode_ordinary(text))


WORDS = st.one_of(
    st.text("abcdefgxyzQ'", min_size=1, max_size=12),
    st.text(min_size=1, max_size=8),
    st.sampled_from(
        ["(abc", "$1,234.5", "--", "…", "“the”", "人口", "。", "a.b/c", ".\n", "\u3000"]
    ),
)
BLANKS = st.sampled_from([" ", " ", "\n", "  ", "\n\n", " \n", "\t", "\xa0", "   "])


@given(
    pairs=st.lists(st.tuples(WORDS, BLANKS), max_size=12),
    cut=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    tokens=st.integers(0, 60),
)
def test_fewer_is_told_as_it_is_counted(pairs, cut, tokens):
    text = "".join(word + blank for word, blank in pairs)
    start, end = sorted(round(share * len(text)) for share in cut)
    counted = TokenOffsets(text)
    expected = counted.count(start, end) < tokens
    assert TokenOffsets(text).fewer(start, end, tokens) is expected
    assert counted.fewer(start, end, tokens) is expected


def test_short_spans_are_told_without_encoding_the_text(monkeypatch):
    monkeypatch.setattr("pipelines.tokens._token_starts", None)
    assert TokenOffsets("A sentence of a few words. " * 9).fewer(0, 26, 20)
