"""What of the ranked sentences is shown, and how."""

from __future__ import annotations

import pytest

from rag_app.answer.extractive import best_statements, closest_lines
from rag_app.answer.ranking import RankedUnit
from rag_app.answer.units import units_of
from rag_app.passages import passages_of, sentences_of
from tests.support.passages import FixedEvidence, node


def shown(best, *texts, kind="any", most=3):
    """The statements, where these texts (best first) are the best sentences of the passages."""
    passages = passages_of([node(text, document=str(n)) for n, text in enumerate(texts)])
    units = units_of(passages, sentences_of(passages), FixedEvidence())
    found = [next(unit for unit in units if text in unit.sentence.text) for text in best]
    ranked = [RankedUnit(unit, 0.9, None) for unit in found]
    return best_statements(ranked, units, passages, kind, most)


def test_a_row_comes_with_its_caption_and_a_year_before_each_figure():
    table = "Table 4. Fuel\nMeasure 2025 2024\nWaste (tonnes) 388 402\nOil spills 1 0"
    (one,) = shown(["Oil spills"], table)
    assert one.text == "Table 4. Fuel: Oil spills (Measure): 2025 1 · 2024 0"
    assert len(one.quotes) == 3


def test_a_row_whose_figures_match_no_years_comes_with_its_heads_as_they_stand():
    table = "Table 3. Staff\nGroup 2025 2024 Leavers\nDeck 171 158 12\nEngine room 62 59 5"
    (one,) = shown(["Engine room"], table)
    assert one.text == "Table 3. Staff: Group 2025 2024 Leavers: Engine room 62 59 5"


@pytest.mark.parametrize(
    ("text", "best", "whole"),
    [
        (
            "We like it. We are asked whether the company is for sale. It is not. So we go on.",
            "for sale",
            "We are asked whether the company is for sale. It is not.",
        ),
        (
            "The linkspan was opened in July. It cost more than seven million pounds.",
            "It cost",
            "The linkspan was opened in July. It cost more than seven million pounds.",
        ),
        (
            "The pump is blue. The valve of the pump is red and heavy.",
            "valve",
            "The valve of the pump is red and heavy.",
        ),
    ],
)
def test_a_sentence_comes_with_the_neighbour_that_it_needs(text, best, whole):
    (one,) = shown([best], text)
    assert one.text == whole


def test_a_sentence_without_what_is_asked_for_comes_with_the_next_that_has_it():
    text = "Bulky waste is taken away for a fee. A voucher of £6 for each piece is needed."
    (one,) = shown(["Bulky"], text, kind="amount")
    assert one.text == text
    (one,) = shown(["Bulky"], text, kind="person")
    assert one.text == "Bulky waste is taken away for a fee."


def test_a_later_paragraph_of_an_article_comes_with_the_first():
    text = (
        "第９条（在宅勤務）\n入社後６か月を経過した者は、週に２日まで自宅で勤務することができる。\n"
        "２　在宅勤務をした日には、補助として、１日につき３５０円を支給する。"
    )
    (one,) = shown(["３５０円"], text)
    assert one.text.startswith("入社後６か月")
    assert "３５０円" in one.text


def test_statements_stand_in_the_order_of_their_document():
    text = "The pump is blue in colour. The valve is red. The tank is green and wide."
    assert [one.text for one in shown(["green", "blue"], text)] == [
        "The pump is blue in colour.",
        "The tank is green and wide.",
    ]


def test_a_sentence_that_another_statement_holds_is_not_shown_twice():
    text = "The valve opens at a pressure of 4.2 bar. Its lead time is twelve whole weeks."
    (one,) = shown(["opens", "lead time"], text)
    assert one.text == text


def test_what_another_document_says_in_the_same_words_is_cited_there_too():
    (one,) = shown(["weighs"], "The pump weighs 12 kg in all.", "The pump weighs 12 kg in all.")
    assert [passage for passage, _ in one.also] == [1]


def test_reference_marks_of_a_document_are_not_shown_as_ours():
    (one,) = shown(["measured"], "It was longer, as measured in [2], than the other pump was.")
    assert one.text == "It was longer, as measured in, than the other pump was."


def test_what_is_much_worse_than_the_best_is_not_shown():
    passages = passages_of([node("The pump is blue in colour. The valve is red and heavy.")])
    units = units_of(passages, sentences_of(passages), FixedEvidence())
    ranked = [RankedUnit(units[0], 0.9, None), RankedUnit(units[1], 0.3, None)]
    assert len(best_statements(ranked, units, passages, "any", 3)) == 1


def test_the_closest_lines_are_those_of_three_passages_at_most():
    texts = [f"The pump number {n} is blue. It is old and heavy. So it is." for n in range(5)]
    passages = passages_of([node(text, document=text) for text in texts])
    units = units_of(passages, sentences_of(passages), FixedEvidence())
    groups = closest_lines([RankedUnit(unit, 0.2, None) for unit in units], units, passages, "any")
    assert [len(group) for group in groups] == [2, 2, 2]
