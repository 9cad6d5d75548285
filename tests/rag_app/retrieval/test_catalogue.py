"""What the documents of an index are called, made once for each generation."""

from __future__ import annotations

from rag_app.retrieval import catalogue
from rag_app.retrieval.catalogue import Catalogues, read_catalogue

PAGES = [f"The part is tested. It has number {n}. " + "It is steel. " * 30 for n in range(5)]
TEXTS = {
    "acme/annual-report_2018.pdf": ["Acme Pumps Incorporated", *PAGES],
    "bolt/annual-report_2019.pdf": ["Bolt Valves Limited", *PAGES],
}


def read(store):
    with store.snapshot() as snapshot:
        return read_catalogue(snapshot)


def test_documents_are_known_by_file_folder_and_first_page(build):
    found = read(build(TEXTS))
    assert found.applies
    position = {source.names[0]: n for n, source in enumerate(found.sources)}
    acme = frozenset({position["acme/annual-report_2018.pdf"]})
    assert found.strong["2018"] == found.strong["acme"] == acme
    assert found.weak["pumps"] == acme or found.weak.get("pump") == acme
    assert "acme" in found.weak


def test_one_document_or_documents_of_one_passage_are_no_choice(build, manual):
    assert not read(manual).applies
    small = read(build({"a": "The valve.", "b": "The pump."}))
    assert (small.applies, small.strong) == (False, {})


def test_first_pages_of_too_many_documents_are_not_read(build, monkeypatch):
    monkeypatch.setattr(catalogue, "_MAX_FIRST_PAGES", 1)
    found = read(build(TEXTS))
    assert (bool(found.strong), found.weak) == (True, {})


def test_a_catalogue_is_made_once_for_a_generation_and_shared_by_retrievers(build):
    store = build(TEXTS)
    assert Catalogues.of(store) is Catalogues.of(store)
    with store.snapshot() as snapshot:
        first = Catalogues.of(store).get(snapshot)
        assert Catalogues.of(store).get(snapshot) is first
    with store.writer() as writer:
        writer.remove(["acme/annual-report_2018.pdf"])
    with store.snapshot() as snapshot:
        assert len(Catalogues.of(store).get(snapshot).sources) == 1
