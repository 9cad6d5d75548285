"""Nodes of a document: exact spans, pages, and ids that depend on the content alone."""

from dataclasses import asdict

import pytest
from llama_index.core.schema import Document, IndexNode

from pipelines.nodes import NodeMaker, header_of, hidden_from_llm, node_id
from pipelines.page_map import Page

TEXT = "Pumps\n\nNet sales grew.\n\nPrices were flat."
PAGES = [Page(1, "i", 0, 23, ""), Page(2, "1", 25, len(TEXT), "")]


def document(**metadata):
    own = {"file_name": "a.pdf", "title": "Report", "content_hash": "h", "reader": "r"}
    pages = [asdict(page) for page in PAGES]
    return Document(id_="d", text=TEXT, metadata={**own, "page_map": pages, **metadata})


def test_a_node_is_its_span_with_the_pages_that_the_span_touches():
    node = NodeMaker(document()).make((7, len(TEXT)), "parent", {"size": 64})
    assert node.text == TEXT[node.start_char_idx : node.end_char_idx] == TEXT[7:]
    assert (node.metadata["pages"], node.metadata["page_label"]) == ([1, 2], "i")
    assert (node.metadata["kind"], node.metadata["script"]) == ("parent", "latin")


def test_a_child_points_at_its_parent():
    maker = NodeMaker(document())
    parent = maker.make((0, 23), "parent", {})
    child = maker.make((7, 23), "child-128", {}, parent=parent)
    assert isinstance(child, IndexNode)
    assert child.index_id == child.parent_node.node_id == parent.node_id


def test_an_embedding_model_reads_the_text_alone():
    node = NodeMaker(document()).make((0, 5), "parent", {})
    assert set(node.excluded_embed_metadata_keys) == set(node.metadata)
    assert hidden_from_llm({"file_name": "a.pdf", "pages": [], "title": "x"}) == ["pages", "title"]


ID = {
    "content_hash": "h",
    "reader": "r",
    "kind": "parent",
    "settings": {"size": 64, "overlap": 1},
    "span": (0, 5),
    "text": "Pumps",
}


@pytest.mark.parametrize(
    "change",
    [
        {"content_hash": "i"},
        {"reader": "s"},
        {"kind": "child"},
        {"settings": {"size": 65, "overlap": 1}},
        {"span": (1, 5)},
        {"text": "Valve"},
    ],
)
def test_every_part_of_an_id_changes_it_and_the_order_of_settings_does_not(change):
    assert node_id(**ID) == node_id(**{**ID, "settings": {"overlap": 1, "size": 64}})
    assert node_id(**ID) != node_id(**{**ID, **change})


@pytest.mark.parametrize(
    ("metadata", "header"),
    [
        ({"title": "Report", "heading": "Pumps"}, "Report, Pumps"),
        ({"title": "", "heading": "Pumps"}, "Pumps"),
        ({}, ""),
    ],
)
def test_the_header_is_title_and_heading(metadata, header):
    assert header_of(metadata) == header
