from __future__ import annotations

import pytest

from rag_app.retrieval.names import joined_in, names_in


@pytest.mark.parametrize(
    ("text", "holds", "lacks"),
    [
        ("What is Adobe's change from FY2015?", {"adobe", "2015", "fy2015"}, {"what", "s", "fy"}),
        ("AMCOR_2023Q2_10Q", {"amcor", "2023", "q2", "2023q2", "10q"}, {"q", "2", "10"}),
        ("HP and 3M, 26 June", {"hp", "3m", "26", "june"}, {"and"}),
        ("安全規程の第3条は何ですか", {"安全", "規程"}, {"です", "何で"}),
        ("ＡＤＯＢＥ", {"adobe"}, set()),
        ("", set(), set()),
    ],
)
def test_names_are_words_with_content_and_years_inside_of_words(text, holds, lacks):
    found = names_in(text)
    assert holds <= found
    assert not lacks & found


def test_neighbouring_words_are_read_as_one():
    assert {"footlocker", "americanwaterworks"} <= joined_in("Foot Locker, American Water Works")
    assert not {"ofthe", "theworks"} & joined_in("Of the Works")
    assert joined_in("one") == set()
    assert joined_in("安全規程") == set()
