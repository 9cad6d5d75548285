from __future__ import annotations

import pytest

from rag_app.answer.written.order import _without_edge_numbers, rank_sentences
from rag_app.passages import passages_of, sentences_of
from tests.support.growth import MAX_GROWTH, growth
from tests.support.passages import node


def ranked(question, nodes, weights):
    passages = passages_of(nodes)
    scored = rank_sentences(question, passages, sentences_of(passages), weights)
    return [one.sentence.text for one in scored]


def test_the_sentence_with_the_questions_rare_words_comes_first():
    nodes = [node("Pumps are blue. The pump in Kobe weighs 12 kg. All is well.")]
    assert ranked("pump Kobe", nodes, {"pump": 0.1, "kobe": 3.0})[0].startswith("The pump in Kobe")


def test_a_better_passage_decides_between_equal_sentences():
    nodes = [node("The pump is old.", document="a"), node("The pump is old!", document="b")]
    assert ranked("pump", nodes, {"pump": 1.0})[0] == "The pump is old."


def test_without_words_and_model_the_hit_decides():
    text = "First things first. It weighs 12 kg."
    start = text.index("It")
    matched = [{"arm": "vectors:child-128", "score": 0.9, "start": start, "end": len(text)}]
    assert ranked("heaviness", [node(text, matched=matched)], {}) == ["It weighs 12 kg."]


def test_where_nothing_is_known_all_come_in_order():
    assert ranked("x", [node("One here. Two here.")], {}) == ["One here.", "Two here."]


def test_a_japanese_sentence_is_found_by_its_words():
    """Case 2, for sentences."""
    nodes = [node("京都は古い。東京は日本の首都です。大阪は大きい。")]
    weights = {"日本": 2.0, "首都": 2.0}
    assert ranked("日本の首都", nodes, weights)[0] == "東京は日本の首都です。"


def test_a_heading_that_only_repeats_the_question_is_not_quoted():
    nodes = [node("The pump in Kobe\n\nIt weighs 12 kg and its pump wheel is of brass.")]
    weights = {"pump": 1.0, "kobe": 3.0}
    assert ranked("the pump in Kobe", nodes, weights)[0].startswith("It weighs 12 kg")


def test_a_sentence_that_stands_twice_is_quoted_once():
    nodes = [node("The pump is old.", document="a"), node("The pump is old.", document="b")]
    assert ranked("pump", nodes, {"pump": 1.0}) == ["The pump is old."]


def test_a_running_head_is_not_quoted():
    first = node("Marrowby Ferries annual report 2025\n\nThe fleet sailed.", start=0)
    second = node("Marrowby Ferries annual report 2025\n\nTickets cost more.", start=100)
    texts = ranked("What did Marrowby Ferries report?", [first, second], {"ferri": 9.0})
    assert texts == ["The fleet sailed.", "Tickets cost more."]


def test_a_row_that_stands_twice_is_quoted():
    row = "Total revenue 5,854 4,795"
    first = node(f"{row}\nThe fleet sailed.", start=0)
    second = node(f"{row}\nTickets cost more.", start=100)
    assert ranked("What was revenue?", [first, second], {"revenu": 9.0})[0] == row


def test_edge_numbers_are_taken_off_in_linear_time():
    assert growth(_without_edge_numbers, lambda size: "." * size + "x", 10_000) < MAX_GROWTH


@pytest.mark.parametrize(
    ("line", "kept"),
    [("12. Report", "Report"), ("Report – 3 ", "Report"), ("12345", "12345"), ("a1", "a1")],
)
def test_a_number_at_an_edge_of_a_line_is_taken_off(line, kept):
    assert _without_edge_numbers(line) == kept
