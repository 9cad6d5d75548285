import pytest

from pipelines.margins import split_margins

BODY = ["Sales grew in the north and", "fell in the south of the country."]


def bodies(pages, labels=None):
    labels = labels or [str(number) for number in range(1, len(pages) + 1)]
    split = split_margins(["\n".join(page) for page in pages], labels)
    return [page.body for page in split]


def test_running_heads_and_page_numbers_are_left_out():
    pages = [["Annual report 2018", *BODY, str(number)] for number in range(1, 9)]
    assert bodies(pages) == [BODY] * 8


def test_heads_of_left_and_right_pages_may_differ():
    heads = ["ACME Corporation", "Notes to the statements"]
    pages = [[heads[number % 2], f"line {chr(97 + number)} of text"] for number in range(8)]
    assert [len(page) for page in bodies(pages)] == [1] * 8


def test_a_head_with_a_number_in_step_with_its_neighbours_is_left_out():
    sections = ["1.2 Metric spaces"] * 3 + ["1.3 Normed spaces"] * 3
    pages = [[f"{number} {section}", *BODY] for number, section in enumerate(sections, start=7)]
    assert bodies(pages) == [BODY] * 6


@pytest.mark.parametrize(
    "heads",
    [
        ["Chapter 1", "Chapter 2", "Chapter 3", "Chapter 4"],
        ["1 Introduction", "2 Methods", "3 Results", "4 Discussion"],
        ["Model AX-450", "Model AX-460", "Model AX-470", "Model AX-480"],
        ["Sales in 2018", "Sales in 2016", "Sales in 2014", "Sales in 2012"],
        ["Sales grew in all of our regions."] * 4,
    ],
)
def test_headings_that_look_alike_stay(heads):
    pages = [[head, f"Text {chr(97 + n)}"] for n, head in enumerate(heads)]
    assert bodies(pages) == pages


@pytest.mark.parametrize(
    "heads",
    [
        [f"Annual report of Acme | {n}" for n in range(31, 37)],
        [f"Page {n} of 48 Instructions for the form" for n in range(6)],
        [f"Form 10-K of 2018 - {n} -" for n in range(1, 7)],
        [f"－ {n} －" for n in range(7, 13)],
    ],
)
def test_heads_that_count_the_pages_go(heads):
    pages = [[*BODY, head] for head in heads]
    assert bodies(pages) == [BODY] * 6


def test_a_running_line_under_a_footnote_is_found():
    pages = [["Annual report 2018", *BODY] for _ in range(6)]
    pages[3] = ["* a footnote that was drawn first", "Annual report 2018", *BODY]
    assert bodies(pages)[3] == ["* a footnote that was drawn first", *BODY]


def test_printed_labels_are_page_numbers():
    assert bodies([["Preface text", "iv"], ["Appendix text", "A-3"]], ["iv", "A-3"]) == [
        ["Preface text"],
        ["Appendix text"],
    ]


def test_a_number_that_is_no_page_number_stays():
    pages = [["Units sold", "42"], ["Units bought", "17"], ["Units kept", "25"]]
    assert bodies(pages) == pages


def test_a_year_at_the_edge_of_a_table_stays():
    pages = [["2018", "Net sales 12"], ["2018", "Costs 11"], ["2018", "Profit 1"]]
    assert bodies(pages) == pages


def test_text_repeated_on_few_pages_stays():
    pages = [["In millions", f"text {chr(97 + n)}"] if n < 2 else [f"text {n}"] for n in range(9)]
    assert bodies(pages)[0] == ["In millions", "text a"]


def test_a_page_of_nothing_but_a_repeated_line_keeps_it():
    assert bodies([["Confidential copy"]] * 6) == [["Confidential copy"]] * 6


def test_empty_pages_stay_empty():
    assert bodies([[""], ["text"], [" ", ""]]) == [[], ["text"], []]
