"""Tiling a span: pieces of limited size, at the best breaks, without a loss."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pipelines.splitting import Breaks, tile, trim
from pipelines.tokens import TokenOffsets, count_tokens

texts = st.text(st.sampled_from("ab ,.\n京e\u0301\U0001f469\u200d"), max_size=200)


def pieces(text, size, *ranks, span=None):
    tokens = TokenOffsets(text)
    return list(tile(text, span or (0, len(text)), size, ranks, tokens))


@given(texts, st.integers(4, 40))
def test_pieces_cover_all_visible_text_in_order(text, size):
    spans = pieces(text, size)
    assert "".join("".join(text[low:high] for low, high in spans).split()) == "".join(text.split())
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@given(texts, st.integers(8, 40))
def test_no_piece_exceeds_its_size(text, size):
    assert all(count_tokens(text[low:high]) <= size for low, high in pieces(text, size))


def test_a_text_is_cut_at_the_first_rank_that_fills_a_piece():
    text = "one two three four five six seven eight nine ten"
    early, late = text.index("three"), text.index("six")
    ranks = (Breaks([early], 0.5), Breaks([late], 0.0))
    assert pieces(text, 6, *ranks)[0] == (0, late - 1)
    ranks = (Breaks([early], 0.0), Breaks([late], 0.0))
    assert pieces(text, 6, *ranks)[0] == (0, early - 1)


def test_only_the_span_is_cut():
    text = "one two three four five six"
    assert pieces(text, 50, span=(3, 14)) == [(4, 13)]


def test_an_accent_stays_with_its_character():
    text = "e\u0301" * 40
    assert all(text[low:high][:1] != "\u0301" for low, high in pieces(text, 10))


def test_trim_leaves_white_space_out_at_both_ends():
    assert trim(" a b \n", 0, 6) == (1, 4)
    assert trim("   ", 0, 3)[0] == trim("   ", 0, 3)[1]
