"""Nodes and documents as rows: what is packed comes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import TextNode

from pipelines.page_map import Page
from rag_app.store.sqlite import codec
from tests.rag_app.store.sqlite.conftest import CATS


@given(st.text() | st.binary(min_size=32, max_size=32).map(bytes.hex))
def test_an_id_comes_back_and_a_hash_takes_half_the_bytes(node_id):
    stored = codec.pack_id(node_id)
    assert codec.unpack_id(stored) == node_id
    assert not isinstance(stored, bytes) or len(stored) == 32


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers_come_back(numbers):
    assert codec.unpack_ints(codec.pack_ints(numbers)).tolist() == numbers


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_a_text_comes_back(text):
    assert codec.unpack_text(codec.pack_text(text)) == text


@pytest.mark.parametrize("length", [0, 1, codec.BLOCK_CHARS, 2 * codec.BLOCK_CHARS + 1])
def test_blocks_tile_a_text(length):
    text = "ab" * length
    blocks = codec.split_blocks(text)
    assert "".join(block for _, _, block in blocks) == text
    assert all(text[start:stop] == block for start, stop, block in blocks)


def test_the_raw_text_of_a_page_is_stored_only_where_it_differs():
    page = {"number": 1, "label": "i", "start": 0, "end": 4}
    same, other = {**page, "raw": "Text"}, {**page, "raw": "7\nText"}
    rows = codec.page_rows([same, other], "Text")
    assert [row[:5] for row in rows] == [(0, 1, "i", 0, 4), (1, 1, "i", 0, 4)]
    assert rows[0][5] is None
    assert codec.unpack_text(rows[1][5]) == "7\nText"


def test_pages_without_text_are_found():
    pages = [{"number": n, "start": 0, "end": 3, "raw": raw} for n, raw in ((1, " "), (2, "a"))]
    assert codec.blank_pages(pages) == [1]


NODES = [
    CATS.nodes[0],
    CATS.nodes[-1],
    CATS.nodes[0].model_copy(update={"metadata": {**CATS.nodes[0].metadata, "own": [1, None]}}),
    CATS.nodes[0].model_copy(update={"metadata": {"kind": "parent"}}),
    CATS.nodes[0].model_copy(update={"excluded_llm_metadata_keys": ["title"]}),
    CATS.nodes[0].model_copy(update={"text_template": "{content}"}),
]


@pytest.mark.parametrize("node", NODES)
def test_a_node_comes_back_with_all_that_it_was_put_with(node):
    meta = CATS.nodes[0].metadata
    kind, numbers = str(node.metadata["kind"]), meta["pages"]
    pages = [Page(number, str(meta["page_label"]), 0, 9, "") for number in numbers]
    if node is CATS.nodes[-1]:
        pages = [Page(2, "p2", 0, 9, "")]
    own = codec.own_columns(node.metadata)
    derived = codec.derive(kind, "A title", "latin", own, pages, {"year": 2018})
    again = codec.restore(
        derived,
        codec.extra_of(node, derived),
        node_id=node.node_id,
        text=node.text,
        span=(node.start_char_idx, node.end_char_idx),
        document_id=node.ref_doc_id,
        passage_id=getattr(node, "index_id", None),
        names={key: meta[key] for key in ("file_name", "file_path")},
    )
    names = {"file_name", "file_path"}
    assert {k: v for k, v in again.metadata.items() if k not in names} == {
        k: v for k, v in node.metadata.items() if k not in names
    }
    assert (
        set(again.excluded_llm_metadata_keys) - names
        == (set(node.excluded_llm_metadata_keys) - names)
        or node is NODES[3]
    )
    assert (again.text, again.node_id, type(again)) == (node.text, node.node_id, type(node))
    if isinstance(node, TextNode):
        assert again.text_template == node.text_template


def test_the_users_metadata_is_what_reading_did_not_add():
    assert codec.user_metadata(CATS.document.metadata) == {"year": 2018}
