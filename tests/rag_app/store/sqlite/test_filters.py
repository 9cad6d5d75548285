"""Metadata filters: every operator, nested groups, and errors that help."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.schema import Document, TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from pipelines.errors import FilterError
from rag_app.store.protocol import Prepared, Store
from tests.rag_app.store.make import prepared, vector

EQ, NE, GT, GTE = FilterOperator.EQ, FilterOperator.NE, FilterOperator.GT, FilterOperator.GTE
LT, LTE, IN, NIN = FilterOperator.LT, FilterOperator.LTE, FilterOperator.IN, FilterOperator.NIN
ANY, ALL, CONTAINS = FilterOperator.ANY, FilterOperator.ALL, FilterOperator.CONTAINS
TEXT, TEXT_I = FilterOperator.TEXT_MATCH, FilterOperator.TEXT_MATCH_INSENSITIVE
EMPTY = FilterOperator.IS_EMPTY


@pytest.fixture
def filled(store: Store) -> Store:
    """Three contents: a (3 pages, 2018), b (1 page, 2019, two names), c (a ready passage)."""
    document = Document(id_="c", text="gamma one.", metadata={"content_hash": "c", "page_map": []})
    own = {"kind": "passage", "script": "cjk", "pages": [7], "team": "A", "year": 2020}
    passage = TextNode(id_="c1", text="gamma one.", metadata=own, start_char_idx=0, end_char_idx=10)
    with store.writer() as writer:
        writer.put(
            prepared(
                "/x/a.pdf",
                ["alpha one.", "alpha two.", "alpha three."],
                metadata={"year": 2018, "tags": ["red", "blue"], "lang": "", "done": True},
            )
        )
        writer.put(
            prepared(["/x/b.pdf", "/y/copy.pdf"], ["beta one."], metadata={"year": 2019, "n": 1})
        )
        writer.put(Prepared(names=("c",), document=document, nodes=[passage], vectors={}, terms={}))
    return store


def keep(store: Store, *filters: Any, condition: FilterCondition = FilterCondition.AND) -> str:
    """Return the first letters of the passages that are kept, with their page."""
    group = MetadataFilters(filters=list(filters), condition=condition)
    with store.snapshot() as snapshot:
        selection = snapshot.select(group)
        rows = snapshot._sql.execute("SELECT node_id FROM nodes WHERE passage = node")
        ids = [value.hex() if isinstance(value, bytes) else value for (value,) in rows.fetchall()]
        nodes = snapshot.nodes(ids)
        mask = selection.mask(1000)
        number = dict(snapshot._sql.execute("SELECT node_id, node FROM nodes").fetchall())
        kept = []
        for node_id, node in nodes.items():
            row = number.get(node_id) or number[bytes.fromhex(node_id)]
            if mask[row]:
                kept.append(f"{node.text[0]}{''.join(map(str, node.metadata['pages']))}")
        assert len(selection) == len(kept)
    return " ".join(sorted(kept))


def one(key: str, operator: FilterOperator, value: Any) -> MetadataFilter:
    return MetadataFilter(key=key, operator=operator, value=value)


@pytest.mark.parametrize(
    ("key", "operator", "value", "wanted"),
    [
        ("page", EQ, 2, "a2"),
        ("page", NE, 2, "a1 a3 b1 g7"),
        ("page", GT, 1, "a2 a3 g7"),
        ("page", GTE, 3, "a3 g7"),
        ("page", LT, 2, "a1 b1"),
        ("page", LTE, 2, "a1 a2 b1"),
        ("page", IN, [1, 7], "a1 b1 g7"),
        ("page", NIN, [1, 7], "a2 a3"),
        ("page", ANY, [3], "a3"),
        ("page", ALL, [1, 2], ""),
        ("page", ALL, [2], "a2"),
        ("page", CONTAINS, 7, "g7"),
        ("page_label", EQ, "p3", "a3"),
        ("page_label", TEXT, "p", "a1 a2 a3 b1"),
        ("file_name", EQ, "a.pdf", "a1 a2 a3"),
        ("file_name", EQ, "copy.pdf", "b1"),
        ("file_name", IN, ["b.pdf", "nothing"], "b1"),
        ("file_name", NE, "copy.pdf", "a1 a2 a3 g7"),
        ("file_name", TEXT, ".pdf", "a1 a2 a3 b1"),
        ("file_path", EQ, "/y/copy.pdf", "b1"),
        ("file_path", TEXT_I, "/X/", "a1 a2 a3 b1"),
        ("title", EQ, "A title", "a1 a2 a3 b1"),
        ("title", TEXT, "Title", ""),
        ("title", TEXT_I, "TITLE", "a1 a2 a3 b1"),
        ("script", EQ, "cjk", "g7"),
        ("script", NIN, ["cjk"], "a1 a2 a3 b1"),
        ("origin", EQ, "", "a1 a2 a3 b1 g7"),
        ("year", EQ, 2018, "a1 a2 a3"),
        ("year", GT, 2018, "b1 g7"),
        ("year", NE, 2018, "b1 g7"),
        ("year", EQ, "2018", ""),
        ("year", EQ, 2018.0, "a1 a2 a3"),
        ("n", EQ, 1, "b1"),
        ("n", NE, 5, "a1 a2 a3 b1 g7"),
        ("n", LT, 5, "b1"),
        ("n", EMPTY, None, "a1 a2 a3 g7"),
        ("lang", EMPTY, None, "a1 a2 a3 b1 g7"),
        ("year", EMPTY, None, ""),
        ("tags", CONTAINS, "red", "a1 a2 a3"),
        ("tags", EQ, "blue", "a1 a2 a3"),
        ("tags", ANY, ["green", "red"], "a1 a2 a3"),
        ("tags", ALL, ["blue", "red"], "a1 a2 a3"),
        ("tags", ALL, ["blue", "green"], ""),
        ("tags", NIN, ["green"], "a1 a2 a3 b1 g7"),
        ("team", EQ, "A", "g7"),
        ("team", NE, "A", "a1 a2 a3 b1"),
        ("done", EQ, 1, ""),
    ],
)
def test_each_operator(
    filled: Store, key: str, operator: FilterOperator, value: Any, wanted: str
) -> None:
    assert keep(filled, one(key, operator, value)) == wanted


def test_groups_can_be_nested(filled: Store) -> None:
    inner = MetadataFilters(
        filters=[one("year", EQ, 2019), one("page", EQ, 3)], condition=FilterCondition.OR
    )
    assert keep(filled, inner) == "a3 b1"
    assert keep(filled, inner, one("file_name", TEXT, "a.pdf")) == "a3"
    outer = MetadataFilters(filters=[inner], condition=FilterCondition.NOT)
    assert keep(filled, outer) == "a1 a2 g7"
    assert keep(filled, inner, one("page", EQ, 1), condition=FilterCondition.NOT) == "a2 g7"
    assert keep(filled) == "a1 a2 a3 b1 g7"


def test_an_unknown_key_names_the_known_ones(filled: Store) -> None:
    with pytest.raises(FilterError, match="'colour'") as error:
        keep(filled, one("colour", EQ, "red"))
    assert "file_name, file_path, lang, n, origin, page" in error.value.hint


@pytest.mark.parametrize(
    ("key", "operator", "value"),
    [
        ("year", GT, "2018"),
        ("title", LT, 3),
        ("year", TEXT, "20"),
        ("year", IN, 2018),
        ("year", EQ, [2018]),
        ("year", GT, None),
        ("page", ALL, 1),
    ],
)
def test_values_that_cannot_be_compared_are_an_error(
    filled: Store, key: str, operator: FilterOperator, value: Any
) -> None:
    with pytest.raises(FilterError) as error:
        keep(filled, one(key, operator, value))
    assert error.value.hint


def test_scripts_select_passages(filled: Store) -> None:
    with filled.snapshot() as snapshot:
        assert len(snapshot.select(scripts=["latin"])) == 4
        assert len(snapshot.select(scripts=[])) == 0
        assert len(snapshot.select()) == 5


def test_each_arm_searches_only_selected_passages_and_fills_k(filled: Store) -> None:
    """Case 22: no hit from another file on any arm, and k passages from that file."""
    only = MetadataFilters(filters=[one("file_name", EQ, "a.pdf")])
    with filled.snapshot() as snapshot:
        selected = snapshot.select(only)
        words = snapshot.search_words("parent", ["one.", "two.", "three.", "beta"], 3, selected)
        near = snapshot.search_vectors("child-128", vector("beta one."), 3, selected)
        nodes = snapshot.nodes([hit.passage_id for hit in [*words, *near]])
    assert (len(words), len(near)) == (3, 3)
    assert {node.metadata["file_name"] for node in nodes.values()} == {"a.pdf"}


def test_a_page_filter_finds_every_passage_that_overlaps_it(store: Store) -> None:
    content = prepared("/a.pdf", ["first half.", "second half.", "third."])
    parent = content.nodes[0]
    parent.end_char_idx = len("first half.\nsecond half.")
    parent.text = content.document.text[: parent.end_char_idx]
    parent.metadata["pages"] = [1, 2]
    with store.writer() as writer:
        writer.put(
            Prepared(
                names=("/a.pdf",),
                document=content.document,
                nodes=[parent],
                vectors={},
                terms={parent.node_id: {"half": 2}},
            )
        )
    with store.snapshot() as snapshot:
        for page, count in [(1, 1), (2, 1), (3, 0)]:
            selected = snapshot.select(MetadataFilters(filters=[one("page", EQ, page)]))
            assert len(snapshot.search_words("parent", ["half"], 5, selected)) == count


def test_an_empty_index_selects_nothing(store: Store) -> None:
    with store.snapshot() as snapshot:
        selected = snapshot.select(MetadataFilters(filters=[one("page", EQ, 1)]))
        assert len(selected) == 0
        assert snapshot.search_words("parent", ["a"], 5, selected) == []
        assert snapshot.search_vectors("child-128", vector("a"), 5, selected) == []
