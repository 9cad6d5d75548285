from __future__ import annotations

import pytest
from llama_index.core.schema import MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode

from rag_app.retrieval.evidence import joined_evidence
from rag_app.retrieval.excerpts import read_excerpts
from rag_app.retrieval.rankings import IndexHit, View
from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.store.protocol import NodeSpan
from tests.rag_app.retrieval.conftest import paged, prepare
from tests.support.embedding import HashEmbedding

PAGES = [
    "The pump is red. The valve is new. It is shut.",
    "The motor hums. Its shaft turns. A belt drives it.",
]


def test_evidence_of_several_copies_is_joined_on_a_new_node():
    copies = [TextNode(id_="a", text="x", metadata={"matched": [{"arm": arm}]}) for arm in "vw"]
    joined = joined_evidence(copies)
    assert [match["arm"] for match in joined.metadata["matched"]] == ["v", "w"]
    assert [len(copy.metadata["matched"]) for copy in copies] == [1, 1]
    assert joined_evidence(copies[:1]) is copies[0]
    plain = TextNode(text="x")
    assert "matched" not in joined_evidence([plain, plain]).metadata


@pytest.mark.parametrize("strategy", ["hybrid", "sentence_window"])
def test_what_vectors_matched_is_the_node_that_they_found(build, strategy):
    store = build({"a.pdf": PAGES, "b.pdf": ["A gauge shows the pressure. It is exact."]})
    retriever = StrategyRetriever(store, strategy, embed_model=HashEmbedding())
    found = [one for node in retriever.retrieve("red pump") for one in node.metadata["matched"]]
    matched = [one for one in found if one["arm"].startswith("vectors")]
    assert len({one["node_id"] for one in matched}) > 1
    with store.snapshot() as snapshot:
        nodes = snapshot.nodes([one["node_id"] for one in matched])
    for one in matched:
        node = nodes[one["node_id"]]
        assert (one["text"], one["pages"]) == (node.text, node.metadata["pages"])
        assert (one["start"], one["end"]) == (node.start_char_idx, node.end_char_idx)


def test_a_node_with_a_text_of_its_own_is_evidence_by_that_text(build):
    store = build({"a.pdf": PAGES})
    with store.writer() as writer, store.snapshot() as snapshot:
        content = snapshot.export(snapshot.sources()[0].content_hash)
        for node in content.nodes:
            if node.metadata["kind"] != "parent":
                node.text = f"Added. {node.text}"
        writer.put(content)
    (first, *_) = StrategyRetriever(store, embed_model=HashEmbedding()).retrieve("red pump")
    texts = {one["arm"]: one["text"] for one in first.metadata["matched"]}
    assert texts.pop("words:parent") == "The pump is red."
    assert texts
    assert all(text.startswith("Added. ") for text in texts.values())


class OneText:
    """An index of which every node has the same place and text."""

    def spans(self, node_ids):
        return {node_id: NodeSpan("d", 2, 5, (1,)) for node_id in node_ids}

    def text(self, document_id, start, end):
        return "its own"


def test_a_piece_is_cut_from_a_passage_of_its_own_index_alone():
    """Ready passages of two indexes may have the same id and not the same text."""
    one, other = (View(name, OneText(), None) for name in "ab")
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="d")}
    passage = TextNode(
        id_="p", text="abcdef", start_char_idx=0, end_char_idx=6, relationships=source
    )
    found = IndexHit("p", "c", 1.0, one)
    assert read_excerpts([found], {(one, "p"): passage})["c"].text == "cde"
    assert read_excerpts([found], {(other, "p"): passage})["c"].text == "its own"
    itself = IndexHit("p", "p", 1.0, one)
    assert read_excerpts([itself], {(one, "p"): passage})["p"].text == "abcdef"


LONG = "Nothing of note stands on this page of the report. " * 12


@pytest.fixture
def labelled(build):
    """A passage over three pages that are printed iv, v and A-1."""
    document = paged("a.pdf", [LONG, f"{LONG} The turbine is green.", "The last one is short."], {})
    for page, label in zip(document.metadata["page_map"], ("iv", "v", "A-1"), strict=True):
        page["label"] = label
    store = build({})
    with store.writer() as writer:
        writer.put(prepare(document, store.config))
    return store


@pytest.mark.parametrize("strategy", ["hybrid", "bm25", "sentence_window"])
def test_a_page_label_is_that_of_the_page_of_the_best_evidence(labelled, strategy):
    retriever = StrategyRetriever(
        labelled, strategy, embed_model=HashEmbedding(), similarity_top_k=20
    )
    nodes = [found.node for found in retriever.retrieve("Which turbine is green?")]
    labels = {1: "iv", 2: "v", 3: "A-1"}
    for node in nodes:
        assert node.metadata["page_label"] == labels[node.metadata["page"]]
    first = nodes[0].metadata
    assert (first["page"], first["page_label"]) == (2, "v")


def test_a_model_reads_all_pages_of_a_passage_and_no_label_of_one(labelled):
    retriever = StrategyRetriever(labelled, "bm25", similarity_top_k=20)
    for found in retriever.retrieve("Which turbine is green?"):
        shown = found.node.get_content(metadata_mode=MetadataMode.LLM)
        pages = f"pages: {found.node.metadata['pages']}"
        assert set(shown.partition("\n\n")[0].splitlines()) == {"file_name: a.pdf", pages}
        assert "page_label" not in shown
        assert found.node.get_content(metadata_mode=MetadataMode.EMBED) == found.node.text
