import pytest

from pipelines.tables.amount_units import is_note_of_units, unit_in


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("(In millions)", "In millions"),
        ("in thousands, except per share data", "in thousands, except per share data"),
        ("(dollars in millions) Revenues", "dollars in millions"),
        ("MILLIONS", ""),
        ("(MILLIONS, EXCEPT PER SHARE DATA)", "MILLIONS, EXCEPT PER SHARE DATA"),
        ("($ million)", "$ million"),
        ("(単位：百万円)", "単位：百万円"),
        ("（千円）", "千円"),
        (
            "In millions, except per share amounts 2018 2017",
            "In millions, except per share amounts",
        ),
        ("Consolidated Balance Sheets", ""),
        ("engaged in millionaires' affairs", ""),
    ],
)
def test_unit_is_what_the_text_says_without_brackets(text, unit):
    assert unit_in(text) == unit


def test_a_note_of_units_says_little_else():
    assert is_note_of_units("(In millions, except shares)")
    assert not is_note_of_units("Consolidated Statements of Income (in millions)")
