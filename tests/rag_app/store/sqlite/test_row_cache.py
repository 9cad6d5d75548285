"""What is remembered of an index is what it holds, however little may be remembered."""

from __future__ import annotations

import sqlite3

import pytest

from rag_app.store.protocol import Store
from rag_app.store.sqlite import row_cache
from rag_app.store.sqlite.row_cache import RowCache
from tests.rag_app.store.make import prepared, vector

CONTENTS = {
    f"/{n}.pdf": prepared(
        f"/{n}.pdf", [f"Page {page} of {n}. It is short." + " More." * 5 * n for page in range(4)]
    )
    for n in range(5)
}


@pytest.fixture
def filled(store: Store) -> Store:
    with store.writer() as writer:
        for content in CONTENTS.values():
            writer.put(content)
    return store


@pytest.fixture(params=[1, 6, 1000])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_cache, "_MAX_CACHED_IDS", request.param)
    monkeypatch.setattr(row_cache, "_MAX_CACHED_PAGES", request.param)


@pytest.mark.usefixtures("room")
def test_pages_and_ids_are_the_same_whatever_there_is_room_for(filled: Store) -> None:
    for _ in range(2):
        for content in CONTENTS.values():
            with filled.snapshot() as snapshot:
                ids = [node.node_id for node in content.nodes]
                found = snapshot.nodes(ids)
                assert [found[one].metadata["pages"] for one in ids] == [
                    node.metadata["pages"] for node in content.nodes
                ]
                hits = snapshot.search_vectors("child-128", vector("Page 1 of 3."), 50)
                assert {hit.passage_id for hit in hits} == {
                    node.node_id
                    for each in CONTENTS.values()
                    for node in each.nodes
                    if node.metadata["kind"] == "parent"
                }


def test_pages_of_a_span_come_with_and_without_their_text(filled: Store) -> None:
    content = CONTENTS["/2.pdf"].document
    with filled.snapshot() as snapshot:
        spans = snapshot.page_spans(content.id_, 5, 100)
        assert [(page.number, page.label, page.raw) for page in spans] == [
            (1, "p1", ""),
            (2, "p2", ""),
        ]
        whole = snapshot.pages(content.id_, 5, 100)
        assert [(p.number, p.start, p.end) for p in whole] == [
            (p.number, p.start, p.end) for p in spans
        ]
        assert whole[1].raw == "Page 1 of 2. It is short." + " More." * 10


def test_pages_of_a_content_that_was_replaced_are_the_new_ones(filled: Store) -> None:
    with filled.snapshot() as snapshot:
        old = CONTENTS["/0.pdf"].document.id_
        assert len(snapshot.page_spans(old, 0, 999)) == 4
    new = prepared("/0.pdf", ["One page only."])
    with filled.writer() as writer:
        writer.put(new)
    with filled.snapshot() as snapshot:
        assert [page.number for page in snapshot.page_spans(new.document.id_, 0, 999)] == [1]
        with pytest.raises(KeyError):
            snapshot.page_spans(old, 0, 999)


@pytest.mark.parametrize("count", [0, 1, 127, 128, 129, 300])
def test_any_number_of_ids_is_read_at_once(count: int) -> None:
    sql = sqlite3.connect(":memory:")
    sql.execute("CREATE TABLE nodes (node INTEGER PRIMARY KEY, node_id)")
    sql.executemany("INSERT INTO nodes VALUES (?, ?)", [(n, f"id {n}") for n in range(1, 301)])
    rows = range(1, count + 1)
    assert RowCache().ids(sql, [*rows, 999]) == {n: f"id {n}" for n in rows}
    sql.close()
