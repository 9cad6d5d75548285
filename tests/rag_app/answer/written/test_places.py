"""How near a stretch of the evidence is to a clause."""

from __future__ import annotations

from rag_app.answer.written.places import MAX_SHOWN_CHARACTERS, cut, shown, year_keys
from tests.rag_app.answer.written.comparing import prepared_check

TEXT = "The plant in Kobe was opened in 1998. The works in Leeds closed in 2004."


def test_the_stretch_that_shares_words_and_year_is_nearer_than_another():
    places, _ = prepared_check("The plant in Kobe was opened in 1998.", TEXT)
    (clause,) = places.claim.segments
    near = {shown(place): places.at(clause, place, None).near for place in places.all}
    assert max(near, key=near.__getitem__).startswith("“The plant in Kobe")
    assert year_keys(clause) == {"year 1998"}


def test_a_long_stretch_is_cut_to_one_line_for_a_message():
    text = cut("word\n" * 50)
    assert len(text) == MAX_SHOWN_CHARACTERS
    assert "\n" not in text
    assert text.endswith("…")
