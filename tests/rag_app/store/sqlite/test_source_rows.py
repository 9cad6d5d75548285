"""Records of contents, with all their names."""

from __future__ import annotations

from rag_app.store.sqlite.contents import insert_name
from rag_app.store.sqlite.source_rows import read_sources
from tests.rag_app.store.sqlite.conftest import CATS, FISH, SUMS


def test_every_content_has_its_record(tables):
    cats, fish = read_sources(tables)
    assert (cats.names, fish.names) == (("/cats.pdf",), ("/fish.pdf",))
    assert cats.content_hash == CATS.document.metadata["content_hash"]
    assert (cats.document_id, cats.length) == (CATS.document.id_, len(CATS.document.text))
    assert (cats.pages, cats.pages_without_text) == (2, ())
    assert dict(cats.nodes) == {"parent": 2, "child-128": 3}
    assert (dict(cats.metadata), dict(fish.metadata)) == ({"year": 2018}, {})
    assert {"parent", "child-128:vectors", "parent:words"} <= cats.built


def test_pages_without_text_of_an_earlier_version_are_of_unknown_state(tables):
    tables.execute("UPDATE contents SET blank_pages = '[2]' WHERE content = 1")
    assert read_sources(tables, 1)[0].page_states == {"unknown": (2,)}


def test_one_content_is_read_alone_with_further_names_in_their_order(tables):
    insert_name(tables, SUMS, 2, "/b.pdf", "")
    insert_name(tables, SUMS, 2, "/a.pdf", "")
    insert_name(tables, SUMS, 2, "/a.pdf", "another index")
    (fish,) = read_sources(tables, 2)
    assert fish.names == ("/fish.pdf", "/b.pdf", "/a.pdf")
    assert fish.document_id == FISH.document.id_
    assert read_sources(tables, 9) == []
