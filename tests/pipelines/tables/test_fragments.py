import pytest

from pipelines.tables.fragments import lines_of
from tests.support.table_pdfs import FIRST, LABEL, pdf_of, words_of


def fragments(draw):
    return [
        [(one.text, one.is_value) for one in line.fragments]
        for line in lines_of(*words_of(pdf_of(draw)))
    ]


def test_words_that_stand_together_are_one_fragment_and_amounts_stand_alone():
    (line,) = fragments(lambda page: page.line("Net sales of shops", "1,234", "(5.5)%"))
    assert line == [("Net sales of shops", False), ("1,234", True), ("(5.5)%", True)]


def test_amounts_one_blank_apart_are_two():
    (line,) = fragments(lambda page: page.line("1,234 5,678"))
    assert line == [("1,234", True), ("5,678", True)]


@pytest.mark.parametrize("text", ["—", "$(1,234)", "N/A", "12.5%", "US$3", "2.0x"])
def test_an_amount_and_what_stands_for_one_are_values(text):
    assert fragments(lambda page: page.line(text)) == [[(text, True)]]


@pytest.mark.parametrize("text", ["Note", "10-K", "27,", "(a)", "1st", "Q4", "A-3"])
def test_words_with_digits_and_marks_are_no_values(text):
    assert fragments(lambda page: page.line(text)) == [[(text, False)]]


def test_a_dash_between_two_near_amounts_is_a_range():
    (line,) = fragments(lambda page: page.line("0.75 - 5.82"))
    assert line == [("0.75-5.82", True)]


def test_leaders_are_no_part_of_a_label():
    (line,) = fragments(lambda page: page.line("Sales" + "." * 60, "12"))
    assert line == [("Sales", False), ("12", True)]


def test_the_core_of_an_amount_leaves_out_a_currency_sign_that_stands_apart():
    drawn = pdf_of(lambda page: page.line("Sales", "12").at(300, "$"))
    amount = lines_of(*words_of(drawn))[0].fragments[1]
    assert (amount.text, round(amount.box.left)) == ("$12", 300)
    assert amount.core.left == pytest.approx(FIRST - 2 * 5.56, abs=0.1)


def test_words_a_little_higher_are_in_the_same_line():
    lines = fragments(lambda page: page.line("Sales", "12").at(LABEL + 60, "up", up=16))
    assert lines == [[("Sales", False), ("up", False), ("12", True)]]


def test_a_page_without_words_has_no_lines():
    assert fragments(lambda page: page.skip()) == []
