from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.sentence_table import SentenceTable
from pipelines.structure import structure_of
from pipelines.text import count_tokens, sentence_spans
from tests.support.sentences import sentence_table_at

ALPHABET = st.sampled_from([*"aB1 .!?。、「」（）\n\t・•日本ガ%$,-", "Dr. ", "U.S. ", "\n\n", "😀"])
TEXT = st.lists(ALPHABET, max_size=200).map("".join) | st.text(
    st.characters(codec=None), max_size=300
)


def split(text, **options):
    return [text[start:end] for start, end in sentence_spans(text, **options)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Smith met Mr. J. R. Smith at 5 p.m. on Jan. 5.", "He left at 6 p.m.", "The end."],
        ["See Fig. 3, e.g. the top, i.e. Table 2.", "It cost $4.2 million.", "No. 5 follows."],
        [
            "Acme Inc. reported sales.",
            "The U.S. economy grew.",
            "We live in the U.S.",
            "It is big.",
        ],
        ["“He said no.”", "Then he left (see No. 7).", "“Why?” she asked.", "(It ended here.)"],
        ["See “Item 1A. Risk Factors” for more.", "Riley et al. (2004) found it."],
        ["It grew 3.5% in 2018.", "Version 2.0 came later.", "Wait...", "Really?!"],
        ["Prof. dr. Meyer works for Müller Ltd. in Bonn.", "Es regnet.", "¿Qué?", "¡Sí!"],
        ["東京は日本の首都です。", "本当？", "はい！", "「はい。」と彼は言った。", "終わり"],
        [
            "彼は「今日は。明日は。」と述べた。",
            "（注）表を参照。",
            "売上は３．２％増えた．",
            "次へ．",
        ],
        ["価格（税を含む。）は千円です。", "『本。』", "以上。"],
        ["यह हिंदी है।", "دوسرا جملہ۔"],
    ],
)
def test_sentences_end_where_a_reader_says(sentences):
    assert split(" ".join(sentences)) == sentences
    assert split("\n\n".join(sentences)) == sentences


def test_japanese_sentences_part_without_a_space():
    assert split("東京です。大阪です。本当？はい！") == [
        "東京です。",
        "大阪です。",
        "本当？",
        "はい！",
    ]


def test_stock_parser_makes_one_node_of_japanese_and_ours_does_not():
    from llama_index.core.node_parser import SentenceWindowNodeParser
    from llama_index.core.schema import Document

    text = "東京は日本の首都です。大阪は商業の街です。"
    stock = SentenceWindowNodeParser.from_defaults().get_nodes_from_documents([Document(text=text)])
    assert (len(stock), len(split(text))) == (1, 2)


def test_lines_wrapped_inside_a_paragraph_do_not_end_a_sentence():
    text = "Net sales grew because of higher\nvolumes. Prices were\nflat in all regions."
    assert split(text) == [
        "Net sales grew because of higher\nvolumes.",
        "Prices were\nflat in all regions.",
    ]


def test_a_blank_line_ends_a_sentence_without_a_stop():
    assert split("No stop here\n\nNew paragraph.") == ["No stop here", "New paragraph."]


def test_headings_rows_and_items_are_sentences_of_their_own():
    text = (
        "Results of Operations\nSales grew in all of the regions in which the company sells\n"
        "its products.\n2018 2017\nNet sales 1,234 1,180\nCost 900 850\n"
        "• first point\n• second point that goes\non in the next line\n"
    )
    assert split(text) == [
        "Results of Operations",
        "Sales grew in all of the regions in which the company sells\nits products.",
        "2018 2017",
        "Net sales 1,234 1,180",
        "Cost 900 850",
        "• first point",
        "• second point that goes\non in the next line",
    ]


def test_a_sentence_over_a_page_break_is_one():
    """Case 12: what the page join leaves is a line break, and no sentence ends there."""
    text = "Sales were flat. Revenue of the group grew to\n$4.2 million in 2018. Costs fell."
    assert split(text)[1] == "Revenue of the group grew to\n$4.2 million in 2018."


def test_a_table_without_stops_is_cut_at_line_ends():
    row = "Alpha beta gamma delta epsilon zeta eta theta iota\n"
    pieces = split("x " + row * 60)
    assert len(pieces) > 4
    assert all(piece.endswith("iota") for piece in pieces)


def test_a_sentence_without_stops_is_cut_at_clauses_before_words():
    pieces = split("この文は長く、" * 60, max_tokens=64)
    assert len(pieces) > 3
    assert all(piece.endswith("、") for piece in pieces)


@pytest.mark.parametrize(
    "text", ["a" * 5_000, "あ" * 3_000, "。" * 900, "word " * 2_000, "9" * 4_000]
)
def test_no_sentence_exceeds_128_tokens_whatever_it_is(text):
    assert all(count_tokens(piece) <= 128 for piece in split(text))


@settings(max_examples=150)
@given(TEXT, st.sampled_from([16, 32, 128]))
def test_sentences_are_sorted_disjoint_bounded_and_cover_all_visible_text(text, max_tokens):
    spans = sentence_spans(text, max_tokens=max_tokens)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()
    assert all(count_tokens(text[a:b]) <= max_tokens or b - a == 1 for a, b in spans)


def test_punctuation_alone_is_no_sentence_beside_others():
    assert split("The list:\n! first point of it. ... Then the rest.") == [
        "The list:\n! first point of it.",
        "... Then the rest.",
    ]


@given(TEXT, st.sampled_from([16, 128, None]))
def test_spans_from_a_table_equal_those_found_in_the_text(text, max_tokens):
    table = SentenceTable.of(text, structure_of(text).whole)
    assert sentence_spans(text, max_tokens=max_tokens, table=table) == sentence_spans(
        text, max_tokens=max_tokens
    )


@given(TEXT, st.lists(st.integers(-5, 350)).map(sorted))
def test_any_starts_give_disjoint_sentences_that_cover_all_visible_text(text, starts):
    spans = sentence_spans(text, table=sentence_table_at(text, starts))
    assert all(low < high for low, high in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    covered = {place for low, high in spans for place in range(low, high)}
    assert {i for i, c in enumerate(text) if not c.isspace()} <= covered


def test_a_part_of_a_text_is_cut_as_the_whole_was():
    text = "Net sales\nrose. Costs fell.\n\nRevenue 1 2\nProfit 3 4"
    table = SentenceTable.of(text, structure_of(text).whole).within(4, len(text)).moved(-4)
    assert [text[4:][low:high] for low, high in sentence_spans(text[4:], table=table)] == [
        "sales\nrose.",
        "Costs fell.",
        "Revenue 1 2",
        "Profit 3 4",
    ]


def test_sentences_without_a_limit_are_as_long_as_they_are():
    text = "word " * 500 + "end. Next."
    (long, short) = split(text, max_tokens=None)
    assert (len(long), short) == (2504, "Next.")
