"""Numbers that stand in the evidence, and of what."""

from __future__ import annotations

from rag_app.answer.written.findings import Findings
from rag_app.answer.written.stated_numbers import NumberCheck, is_same_place
from tests.rag_app.answer.written.comparing import prepared_check

TEXT = "The depot repaired 88 trams last year. The garage repaired 301 buses last year."


TABLE = "£ thousand\n2025 2024\nRevenue 50,900 47,385\nOperating profit 5,000 4,924\n"


def number_of(said: str, text: str = TEXT) -> tuple[NumberCheck, Findings, object]:
    places, found = prepared_check(said, text)
    check = NumberCheck(places, found)
    clause = next(one for one in places.claim.segments if one.quantities)
    return check, found, check.quantity(clause, clause.quantities[0], [])


def test_a_number_is_placed_where_it_stands_of_the_same_thing():
    _, found, place = number_of("The garage repaired 301 buses.")
    assert place.quantity.value == 301
    assert found.problems == []
    assert is_same_place(place, place)


def test_a_number_that_stands_of_another_thing_is_a_problem_that_shows_it():
    _, found, _ = number_of("Revenue was £47,385,000 in 2025.", TABLE)
    assert "£47,385,000 stands there for something else" in found.problems[0]


def test_a_number_of_trams_is_none_of_buses_where_the_evidence_counts_both():
    _, found, _ = number_of("The garage repaired 88 buses.")
    assert "88 stands there for something else" in found.problems[0]


def test_a_number_that_follows_from_others_is_noted_as_computed():
    places, found = prepared_check("Together 389 were repaired last year.", TEXT)
    check = NumberCheck(places, found)
    clause = next(one for one in places.claim.segments if one.quantities)
    for place in places.all:
        found.placed += [places.at(clause, place, one) for one in place.segment.quantities]
    check.computed(clause, clause.quantities[0])
    assert found.problems == []
    assert found.notes[0].startswith("computed: ")
