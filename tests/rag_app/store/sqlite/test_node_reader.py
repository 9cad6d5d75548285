"""Nodes, text and pages are read by their spans, and any damage is noticed."""

from __future__ import annotations

import pytest

from pipelines.errors import IndexDamagedError
from rag_app.store.sqlite import codec
from rag_app.store.sqlite.node_reader import NodeReader
from rag_app.store.sqlite.row_cache import RowCache
from tests.rag_app.store.sqlite.conftest import CATS, FISH, SUMS

TEXT = CATS.document.text
IDS = [node.node_id for node in CATS.nodes]


@pytest.fixture
def reader(tables):
    return NodeReader(tables, SUMS, RowCache())


def test_nodes_come_back_as_they_were_put(reader):
    found = reader.nodes([*IDS, "unknown", IDS[0]])
    assert list(found) == IDS
    for node in CATS.nodes:
        again = found[node.node_id]
        assert (again.text, again.metadata) == (node.text, {**node.metadata, "origin": ""})
        assert again.relationships == node.relationships
    assert reader.nodes(IDS)[IDS[0]] is not found[IDS[0]]


def test_spans_name_document_place_and_pages(reader):
    spans = reader.spans(IDS)
    for node in CATS.nodes:
        span = spans[node.node_id]
        assert TEXT[span.start : span.end] == node.text
        assert list(span.pages) == node.metadata["pages"]
        assert span.document_id == CATS.document.id_


def test_children_of_a_passage_come_in_order_and_by_kind(reader):
    children = reader.children(IDS[0], None)
    assert [child.text.strip() for child in children] == ["Cats purr.", "Cats sleep."]
    assert reader.children(IDS[0], "child-128") == children
    assert reader.children(IDS[0], "piece") == []


@pytest.mark.parametrize("block", [3, 2000])
def test_any_span_of_the_text_is_read(empty, tables, monkeypatch, block):
    tables.execute("DELETE FROM blocks")
    monkeypatch.setattr(codec, "BLOCK_CHARS", block)
    rows = [(1, *one, SUMS.text(1, *one)) for one in codec.split_blocks(TEXT)]
    tables.executemany(
        "INSERT INTO blocks (content, start, stop, text, checksum) VALUES (?, ?, ?, ?, ?)", rows
    )
    reader = NodeReader(tables, SUMS, RowCache())
    for start in range(len(TEXT)):
        for stop in (start, start + 1, start + 7, len(TEXT), len(TEXT) + 5):
            assert reader.text(1, start, stop) == TEXT[start:stop]


def test_pages_come_with_and_without_their_raw_text(reader):
    assert [(page.number, page.raw) for page in reader.pages(1, 0, 3)] == [(1, "")]
    assert [page.raw for page in reader.raw_pages(1, 0, len(TEXT))] == TEXT.split("\n")


def test_a_document_and_all_nodes_of_a_content_are_read(reader):
    document = reader.document(2)
    assert (document.text, document.id_) == (FISH.document.text, FISH.document.id_)
    assert document.metadata["page_map"] == FISH.document.metadata["page_map"]
    assert {node.node_id for node in reader.of_content(2)} == {n.node_id for n in FISH.nodes}


@pytest.mark.parametrize(
    ("damage", "read"),
    [
        ("UPDATE nodes SET start = 1", lambda reader: reader.nodes(IDS)),
        ("UPDATE nodes SET script = 'han'", lambda reader: reader.spans(IDS)),
        ("UPDATE blocks SET text = upper(text)", lambda reader: reader.text(1, 0, 5)),
        ("DELETE FROM blocks", lambda reader: reader.text(1, 0, 5)),
        ("UPDATE pages SET label = 'x'", lambda reader: reader.pages(1, 0, 5)),
        ("DELETE FROM pages WHERE position = 1", lambda reader: reader.pages(1, 0, 5)),
    ],
)
def test_damage_is_an_error_of_the_index(tables, reader, damage, read):
    tables.execute(damage)
    with pytest.raises(IndexDamagedError):
        read(reader)
