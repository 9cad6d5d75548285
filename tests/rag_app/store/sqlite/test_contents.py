"""A content in the tables: written whole, extended, and removed without a trace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.errors import StoreError
from rag_app.store.sqlite import contents
from rag_app.store.sqlite.blobs import live_blobs
from rag_app.store.sqlite.node_rows import kind_number
from rag_app.store.sqlite.source_rows import read_sources
from tests.rag_app.store.make import CONFIG
from tests.rag_app.store.sqlite.conftest import CATS, FISH, SUMS

TABLES = ("contents", "names", "pages", "blocks", "nodes", "vectors", "words", "noted_sentences")


def counts(sql, content):
    return {
        table: sql.execute(
            f"SELECT count(*) FROM {table} WHERE content = ?",
            (content,),
        ).fetchone()[0]
        for table in TABLES
    }


def test_all_of_a_content_is_written(tables):
    assert counts(tables, 1) == {
        **{"contents": 1, "names": 1, "pages": 2, "blocks": 1},
        **{"nodes": len(CATS.nodes), "vectors": 1, "words": 1, "noted_sentences": 1},
    }


def test_a_removed_content_leaves_nothing_and_others_stay(tables):
    before = counts(tables, 2)
    contents.delete(tables, 1)
    assert set(counts(tables, 1).values()) == {0}
    assert counts(tables, 2) == before
    assert tables.execute("SELECT count(*) FROM terms WHERE term = 'cats'").fetchone() == (0,)


def test_extending_adds_only_what_is_missing(empty):
    bare = replace(CATS, vectors={}, terms={}, built=frozenset({"parent"}))
    number = contents.insert(empty, SUMS, bare, CONFIG, {"/cats.pdf": ""})
    nodes = counts(empty, number)["nodes"]
    contents.extend(empty, SUMS, number, CATS, CONFIG)
    contents.extend(empty, SUMS, number, CATS, CONFIG)
    assert counts(empty, number)["nodes"] == nodes
    assert sum(live_blobs(empty, "vectors", kind_number(empty, "child-128")).values()) == 3
    (source,) = read_sources(empty)
    assert {"parent", "child-128:vectors", "parent:words"} <= source.built


def test_the_id_of_a_document_keeps_the_files_own_name(empty):
    number = contents.insert(empty, SUMS, FISH, CONFIG, {"/fish.pdf": ""})
    contents.insert_name(empty, SUMS, number, FISH.document.id_, "", FISH.document)
    contents.insert_name(empty, SUMS, number, "/other.pdf", "")
    rows = empty.execute("SELECT file_name, file_path FROM names ORDER BY name_row").fetchall()
    assert rows == [("fish.pdf", "/fish.pdf")] * 2 + [("other.pdf", "/other.pdf")]


def test_a_vector_of_an_unknown_node_is_refused(empty):
    ids, matrix = CATS.vectors["child-128"]
    wrong = replace(CATS, vectors={"child-128": (["other", *ids[1:]], matrix)})
    with pytest.raises(StoreError, match="not a node of this content"):
        contents.insert(empty, SUMS, wrong, CONFIG, {"/cats.pdf": ""})
