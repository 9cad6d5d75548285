"""What an answer may show: sentences, and rows with the heads of their table."""

from __future__ import annotations

import pytest

from rag_app.answer.units import units_of
from rag_app.passages import passages_of, sentences_of
from tests.support.passages import FixedEvidence, node

REPORT = """Marrowby Ferries Annual Report 2025
5 People
At 31 March 2025 we employed 412 people, of whom 268 work afloat and 144 ashore.
Table 3. Employees by group
Group 2025 2024 Leavers in year
Deck officers and ratings 171 158 12
Engine room 62 59 5
Pay and agreements
The pay agreement gave an increase of 4.25 per cent from 1 July 2024 and it runs until 2026.
Contents of the report ............ 14"""
DATA_SHEET = """Table 5. Data
Quantity Value
Weight 2.85 kg
Guarantee 36 months from date of purchase

§ 8.1 Revisions of this manual
Revision 5 described the radio for the first time."""


def kinds(text, running=()):
    evidence = FixedEvidence()
    evidence.running = frozenset(running)
    passages = passages_of([node(text)])
    found = units_of(passages, sentences_of(passages), evidence)
    return {unit.sentence.text: unit for unit in found}, passages[0].text


def test_running_heads_headings_captions_and_contents_are_no_answers():
    units, _ = kinds(REPORT, running=["marrowbyferriesannualreport"])
    assert "Marrowby Ferries Annual Report 2025" not in units or (
        units["Marrowby Ferries Annual Report 2025"].kind == "margin"
    )
    assert units["5 People"].kind == "heading"
    assert units["Table 3. Employees by group"].kind == "heading"
    assert units["Group 2025 2024 Leavers in year"].kind == "heading"
    assert units["Contents of the report ............ 14"].kind == "contents"


@pytest.mark.parametrize(
    ("heading", "sentence"),
    [
        ("2. Rent.", "The tenant pays 1,150 pounds on the first day of each month."),
        ("6.1 Ending the agreement.", "Either party may end it in writing."),
        ("3) Deposit.", "It is returned within ten days."),
    ],
)
def test_the_heading_of_a_clause_belongs_to_the_sentence_that_it_begins(heading, sentence):
    units, _ = kinds(f"The tenancy runs for eighteen months. {heading} {sentence}")
    assert [text for text, unit in units.items() if unit.kind == "sentence"] == [
        "The tenancy runs for eighteen months.",
        f"{heading} {sentence}",
    ]


def test_the_heading_of_a_clause_without_a_sentence_is_no_answer():
    units, _ = kinds("The tenancy runs for eighteen months. 2. Rent.")
    assert units["2. Rent."].kind == "heading"


def test_a_short_numbered_clause_is_a_sentence():
    units, _ = kinds("The rules follow here. 7. Smoking is forbidden. 8. Dogs may stay.")
    said = [text for text, unit in units.items() if unit.kind == "sentence"]
    assert [any(words in text for text in said) for words in ("Smoking is", "Dogs may")] == [
        True
    ] * 2


def test_a_row_knows_the_heading_of_its_table_and_its_column_heads():
    units, text = kinds(REPORT)
    row = units["Engine room 62 59 5"]
    assert row.kind == "row"
    assert [text[start:end] for start, end in row.heads] == [
        "Table 3. Employees by group",
        "Group 2025 2024 Leavers in year",
    ]


def test_a_sentence_after_a_table_is_one_again():
    units, _ = kinds(REPORT)
    sentence = next(one for one in units.values() if "pay agreement gave" in one.sentence.text)
    assert (sentence.kind, sentence.heads, sentence.section) == (
        "sentence",
        (),
        "Pay and agreements",
    )


def test_lines_of_a_captioned_table_are_rows_though_they_look_like_headings():
    units, _ = kinds(DATA_SHEET)
    assert units["Weight 2.85 kg"].kind == "row"
    assert units["Guarantee 36 months from date of purchase"].kind == "row"
    assert units["§ 8.1 Revisions of this manual"].kind == "heading"


def test_units_lie_where_their_text_stands():
    units, text = kinds(REPORT)
    for unit in units.values():
        assert text[unit.sentence.start : unit.sentence.end] == unit.sentence.text
