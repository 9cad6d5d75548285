from __future__ import annotations

import pytest

from rag_app.answer.written.facts import missing, numbers_and_dates


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("It cost 1,234.50 dollars", ["1234.5"]),
        ("１２３４．５円", ["1234.5"]),
        ("on 3 March 2021", ["2021-03-03"]),
        ("on March 3rd, 2021", ["2021-03-03"]),
        ("2021-03-03", ["2021-03-03"]),
        ("2021年3月3日に", ["2021-03-03"]),
        ("in Sept. 2020", ["2020-09"]),
        ("2020年9月", ["2020-09"]),
        ("007 and 7", ["7"]),
        ("part AX-450/B", ["450"]),
        ("no numbers", []),
        ("2021-13-45", ["2021", "13", "45"]),
        ("12% of 3,000 in 2019", ["12", "3000", "2019"]),
    ],
)
def test_numbers_and_dates_have_one_form(text, facts):
    assert numbers_and_dates(text) == facts


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("4,200 pumps", "made 4200 pumps"),
        ("on March 3, 2021", "2021年3月3日"),
        ("in March 2021", "on 3 March 2021"),
        ("in 2021", "on 3 March 2021"),
        ("3 plants", "has three plants"),
        ("５％", "5 percent"),
    ],
)
def test_the_same_fact_in_another_form_is_found(claim, source):
    assert missing(numbers_and_dates(claim), source) == []


@pytest.mark.parametrize(
    ("claim", "source", "lacks"),
    [
        ("4,300 pumps", "4,200 pumps", ["4300"]),
        ("on March 4, 2021", "on March 3, 2021", ["2021-03-04"]),
        ("42", "1942 and 420", ["42"]),
        ("1.5", "15", ["1.5"]),
    ],
)
def test_another_fact_is_missing(claim, source, lacks):
    assert missing(numbers_and_dates(claim), source) == lacks
