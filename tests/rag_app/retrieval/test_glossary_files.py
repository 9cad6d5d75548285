from __future__ import annotations

import pytest

from pipelines.errors import ConfigError
from rag_app.retrieval.glossary import terms_in
from rag_app.retrieval.glossary_files import load_glossaries, shipped_names

NAMES = shipped_names()


def test_this_program_has_glossaries_of_several_fields():
    assert {"accounting", "accounting-ja", "contracts", "manuals", "personnel-ja"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_term_of_ours_is_found_in_a_question_and_prints_something_else(name):
    [glossary] = load_glossaries([name])
    for entries in (glossary.terms, glossary.statements):
        for key, term in entries.items():
            [*others] = terms_in(f"what about the {key} ?", [glossary])
            assert term in others
            assert set(term.prints) != {key}


def test_none_is_none_and_a_name_given_twice_counts_once():
    assert load_glossaries(["none"]) == ()
    assert load_glossaries([]) == ()
    assert len(load_glossaries(["accounting", "accounting"])) == 1


def test_none_beside_a_glossary_is_refused():
    with pytest.raises(ConfigError, match="none and accounting"):
        load_glossaries(["none", "accounting"])


def test_an_unknown_name_says_which_are_known_and_how_a_file_is_written():
    with pytest.raises(ConfigError, match="no glossary 'acounting'") as caught:
        load_glossaries(["acounting"])
    assert "accounting, accounting-ja" in caught.value.hint
    assert "./acounting.json" in caught.value.hint


def test_a_file_is_a_glossary_of_its_own_named_after_it(tmp_path):
    path = tmp_path / "Lager.json"
    path.write_text('\ufeff{"about": "x", "terms": {"Down  Time": ["hours out of  service"]}}')
    [glossary] = load_glossaries([str(path)])
    assert glossary.name == "Lager"
    assert glossary.terms["down time"].prints == ("hours out of service",)
    assert glossary.statements == {}
