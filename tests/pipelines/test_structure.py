import pytest

from pipelines.structure import structure_of

REPORT = """\
Results of Operations
The group sells in all of the regions that are shown in the table below, and its sales grew in
most of them.
(in millions)
2018 2017
Net sales
North 1,234 1,180
South 900 850
Income
North 12 11
Liquidity and Capital
The group has enough of both for all that it plans to do in the years that lie ahead of it.
"""


def headings(text):
    return [text[start:end] for start, end in structure_of(text).headings]


def test_headings_are_those_of_sections_and_not_of_rows():
    assert headings(REPORT) == ["Results of Operations", "Liquidity and Capital"]


@pytest.mark.parametrize(
    ("place", "heading"),
    [
        ("Results of", "Results of Operations"),
        ("South 900", "Results of Operations"),
        ("The group has", "Liquidity and Capital"),
    ],
)
def test_heading_of_a_place_is_the_nearest_at_or_above_it(place, heading):
    assert structure_of(REPORT).heading_at(REPORT, REPORT.index(place)) == heading


def test_no_heading_above_is_the_empty_text():
    text = "A sentence without any heading.\n" + REPORT
    assert structure_of(text).heading_at(text, 3) == ""


def test_headings_carry_their_number_in_japanese():
    text = (
        "第２章 採用と異動\n会社は、書類選考によって採用する者を決める。面接も行う。\n"
        "第４条（採用）\n採用は年に一度とする。\n"
    )
    assert headings(text) == ["第２章 採用と異動", "第４条（採用）"]


def test_a_running_head_names_no_section():
    pages = [f"Marrowby Ferries annual report\n\nThe fleet {n}\n\nIt sailed." for n in "123"]
    assert headings("\n\n".join(pages)) == ["The fleet 1", "The fleet 2", "The fleet 3"]
