"""A document as nodes, terms and its sentence table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from llama_index.core.schema import (
    Document,
    IndexNode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

from pipelines.documents import adopt
from pipelines.passages import passages
from rag_app.ingest.parsing import Chunking, count_terms, parse
from rag_app.store.config import with_kinds

TEXT = "Cats sit on mats. Cats have nine lives.\n\nDogs run in the park."


@pytest.fixture
def chunking(store):
    config = with_kinds(store.config, vectors=("child-128", "sentence"), words=("parent",))
    return Chunking.of(config)


def kinds(parsed):
    return {node.metadata["kind"] for node in parsed.nodes}


def test_all_kinds_of_the_configuration_are_made(chunking):
    parsed = parse(adopt(Document(text=TEXT)), chunking)
    assert {"parent", "child-128", "sentence"} <= kinds(parsed)
    assert "sentence" not in kinds(
        parse(adopt(Document(text=TEXT)), replace(chunking, window=None))
    )
    for node in parsed.nodes:
        assert node.text == TEXT[node.start_char_idx : node.end_char_idx]


def test_terms_are_counted_of_the_wanted_kinds_alone(chunking):
    parsed = parse(adopt(Document(text=TEXT)), chunking)
    parents = [node for node in parsed.nodes if node.metadata["kind"] == "parent"]
    assert parsed.terms.keys() == {node.node_id for node in parents}
    assert parsed.terms[parents[0].node_id]["cat"] == 2
    assert count_terms(parsed.nodes, ()) == {}


def test_the_sentence_table_is_that_of_the_text(chunking):
    starts = parse(adopt(Document(text=TEXT)), chunking).sentences.starts.tolist()
    assert [TEXT[start:].split()[0] for start in starts] == ["Cats", "Cats", "Dogs"]


def test_ready_passages_keep_their_ids_and_get_children_of_their_own(chunking):
    given = [TextNode(text="The valve leaks.", id_=name) for name in ("p", "q")]
    for one in given:
        one.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="one document")
    given.append(IndexNode(text="Which valve leaks?", index_id="p"))
    for document, nodes in passages(given):
        parsed = parse(document, chunking, nodes)
        children = [node for node in parsed.nodes if node.metadata["kind"] == "child-128"]
        assert {child.index_id for child in children} == {
            node.node_id for node in nodes if node.metadata["kind"] == "passage"
        }
        assert parsed.sentences.starts.tolist() == [0, len("The valve leaks.") + 2]
    everything = [
        n.node_id for d, nodes in passages(given) for n in parse(d, chunking, nodes).nodes
    ]
    assert len(set(everything)) == len(everything)
