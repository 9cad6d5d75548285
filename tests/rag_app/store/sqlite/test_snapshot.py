"""Reading: nodes come back as they were put, by span, from one generation."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from llama_index.core.schema import Document, IndexNode, NodeRelationship, TextNode

from pipelines.errors import EmbeddingError
from rag_app.store.protocol import Snapshot, Store
from rag_app.store.sqlite.store import create_store
from tests.rag_app.store.make import prepared, vector

PAGES = ["Cats sit. Dogs run.", "", "Apples are red. Pears are green."]


@pytest.fixture
def filled(store: Store) -> Store:
    with store.writer() as writer:
        writer.put(prepared("/x/a.pdf", PAGES))
        writer.put(prepared("/x/b.pdf", ["Cats eat apples."]))
    return store


def test_nodes_come_back_as_they_were_put(filled: Store) -> None:
    content = prepared("/x/a.pdf", PAGES)
    with filled.snapshot() as snapshot:
        found = snapshot.nodes([node.node_id for node in content.nodes])
    assert list(found) == [node.node_id for node in content.nodes]
    for node in content.nodes:
        back = found[node.node_id]
        assert type(back) is type(node)
        assert back.text == node.text
        assert back.metadata == {**node.metadata, "origin": ""}
        assert back.relationships == node.relationships
        assert (back.start_char_idx, back.end_char_idx) == (node.start_char_idx, node.end_char_idx)
        assert back.hash == node.hash or "origin" in back.metadata
        assert set(back.excluded_embed_metadata_keys) == set(back.metadata)
        assert set(back.metadata) - set(back.excluded_llm_metadata_keys) == {
            "file_name",
            "pages",
        }


def test_children_are_index_nodes_that_lead_to_their_parent(filled: Store) -> None:
    with filled.snapshot() as snapshot:
        (hit,) = snapshot.search_vectors("child-128", vector("Dogs run."), 1)
        children = snapshot.children(hit.passage_id)
        assert [child.text for child in children] == ["Cats sit.", " Dogs run."]
        assert all(isinstance(child, IndexNode) for child in children)
        assert {child.index_id for child in children} == {hit.passage_id}
        assert snapshot.children(hit.passage_id, "child-256") == []
        assert len(snapshot.children(hit.passage_id, "child-128")) == 2
        assert snapshot.children(hit.node_id) == []


def test_returned_nodes_are_copies(filled: Store) -> None:
    with filled.snapshot() as snapshot:
        (hit,) = snapshot.search_vectors("child-128", vector("Dogs run."), 1)
        first = snapshot.nodes([hit.passage_id])[hit.passage_id]
        first.metadata["pages"].append(99)
        first.set_content("changed")
        second = snapshot.nodes([hit.passage_id])[hit.passage_id]
    assert second.metadata["pages"] == [1]
    assert second.text == "Cats sit. Dogs run."


def test_unknown_ids_are_left_out(filled: Store) -> None:
    with filled.snapshot() as snapshot:
        assert snapshot.nodes(["unknown", "f" * 64]) == {}


def test_the_span_of_a_node_says_what_the_node_says(filled: Store) -> None:
    ids = [node.node_id for node in prepared("/x/a.pdf", PAGES).nodes]
    with filled.snapshot() as snapshot:
        spans = snapshot.spans([*ids, "unknown"])
        assert spans.keys() == set(ids)
        for node_id, node in snapshot.nodes(ids).items():
            span = spans[node_id]
            assert span.document_id == node.ref_doc_id
            assert snapshot.text(span.document_id, span.start, span.end) == node.text
            assert list(span.pages) == node.metadata["pages"]


def test_nodes_with_a_text_or_pages_of_their_own_have_no_span(store: Store) -> None:
    content = prepared("/x/a.pdf", PAGES)
    parent, *_, other, child = content.nodes
    child.text = "Another text."
    other.metadata["pages"] = [7]
    parent.excluded_llm_metadata_keys = []
    with store.writer() as writer:
        writer.put(content)
    with store.snapshot() as snapshot:
        found = snapshot.spans([node.node_id for node in content.nodes])
    assert found.keys() == {n.node_id for n in content.nodes} - {child.node_id, other.node_id}


def test_text_and_pages_are_read_by_span(filled: Store) -> None:
    content = prepared("/x/a.pdf", PAGES)
    document_id, text = content.document.id_, content.document.text
    with filled.snapshot() as snapshot:
        for start in range(len(text)):
            for end in (start, start + 1, start + 25, len(text), len(text) + 9):
                assert snapshot.text(document_id, start, end) == text[start:end]
        assert [page.number for page in snapshot.pages(document_id)] == [1, 2, 3]
        assert [page.raw for page in snapshot.pages(document_id)] == PAGES
        assert [page.number for page in snapshot.pages(document_id, 18, 30)] == [1, 3]
        assert [page.label for page in snapshot.pages(document_id, 19, 20)] == []


def test_raw_text_of_a_page_is_kept_where_it_differs(store: Store) -> None:
    content = prepared("/a.pdf", ["Cats sit."])
    content.document.metadata["page_map"][0]["raw"] = "Cats\nsit."
    with store.writer() as writer:
        writer.put(content)
    with store.snapshot() as snapshot:
        assert [page.raw for page in snapshot.pages(content.document.id_)] == ["Cats\nsit."]


def test_a_long_text_is_read_across_blocks(store: Store) -> None:
    text = "".join(chr(0x3042 + n % 80) for n in range(30_000))
    document = Document(id_="long", text=text, metadata={"content_hash": "long", "page_map": []})
    content = replace(prepared("/a.pdf", ["x."]), document=document, nodes=[], vectors={}, terms={})
    with store.writer() as writer:
        writer.put(content)
    with store.snapshot() as snapshot:
        for start, end in [(0, 30_000), (1_999, 2_001), (4_000, 4_001), (29_999, 30_000)]:
            assert snapshot.text("long", start, end) == text[start:end]
    assert store.verify() == []


def test_sources_tell_what_was_put(filled: Store) -> None:
    with filled.snapshot() as snapshot:
        first, second = snapshot.sources()
        assert snapshot.source(first.content_hash) == first
        assert snapshot.find("/x/b.pdf") == second
        assert snapshot.find("/x/c.pdf") is None
    assert first.names == ("/x/a.pdf",)
    assert (first.pages, first.pages_without_text) == (3, (2,))
    assert dict(first.nodes) == {"child-128": 4, "parent": 2}
    assert first.reader == first.fingerprint == "by-hand/1"
    assert first.built == {"parent", "child-128", "child-128:vectors", "parent:words"}
    assert first.length == len("\n".join(PAGES))


def test_export_gives_back_what_was_put(filled: Store) -> None:
    content = prepared("/x/a.pdf", PAGES)
    with filled.snapshot() as snapshot:
        back = snapshot.export(content.document.id_)
        with pytest.raises(KeyError):
            snapshot.export("unknown")
    assert back.names == content.names
    assert back.document.text == content.document.text
    assert back.document.metadata == content.document.metadata
    assert [node.node_id for node in back.nodes] == [node.node_id for node in content.nodes]
    assert dict(back.terms) == dict(content.terms)
    ids, matrix = back.vectors["child-128"]
    wanted_ids, wanted = content.vectors["child-128"]
    assert dict(zip(ids, matrix.tolist(), strict=True)) == dict(
        zip(wanted_ids, wanted.tolist(), strict=True)
    )


def test_users_metadata_is_on_the_document_and_on_its_nodes(store: Store) -> None:
    content = prepared("/a.pdf", ["Cats sit."], metadata={"year": 2018, "tags": ["x", "y"]})
    for node in content.nodes:
        node.metadata |= {"year": 2018, "tags": ["x", "y"]}
    with store.writer() as writer:
        writer.put(content)
    with store.snapshot() as snapshot:
        (source,) = snapshot.sources()
        node = snapshot.nodes([content.nodes[0].node_id])[content.nodes[0].node_id]
    assert source.metadata == {"year": 2018, "tags": ["x", "y"]}
    assert (node.metadata["year"], node.metadata["tags"]) == (2018, ["x", "y"])


def test_a_passage_and_its_piece_keep_what_the_user_chose(store: Store) -> None:
    document = Document(id_="d", text="A passage.", metadata={"content_hash": "d"})
    passage = TextNode(
        id_="p",
        text="A passage.",
        metadata={"kind": "passage", "script": "latin", "team": {"lead": "Ito"}},
        start_char_idx=0,
        end_char_idx=10,
        excluded_llm_metadata_keys=["kind"],
        text_template="{content} ({metadata_str})",
    )
    piece = IndexNode(
        id_="q", text="Which?", index_id="p", metadata={"kind": "piece", "script": "latin"}
    )
    content = replace(
        prepared("d", ["x."]),
        document=document,
        nodes=[passage, piece],
        vectors={},
        terms={"p": {"passage": 1}, "q": {"which": 1}},
    )
    with store.writer() as writer:
        writer.put(content)
    with store.snapshot() as snapshot:
        found = snapshot.nodes(["p", "q"])
        (hit,) = snapshot.search_words("piece", ["which"], 5)
        (whole,) = snapshot.search_words("parent", ["passage"], 5)
    assert (hit.passage_id, hit.node_id) == ("p", "q")
    assert whole.passage_id == "p"
    assert found["p"].metadata["team"] == {"lead": "Ito"}
    assert "page_label" not in found["p"].metadata
    assert found["p"].excluded_llm_metadata_keys == ["kind"]
    assert found["p"].text_template == "{content} ({metadata_str})"
    assert found["q"].text == "Which?"
    assert found["q"].start_char_idx is None
    assert found["q"].relationships[NodeRelationship.PARENT].node_id == "p"
    assert store.verify() == []


def test_scripts_are_counted_by_passage(store: Store) -> None:
    with store.writer() as writer:
        writer.put(prepared("/a.pdf", ["Cats sit.", "Dogs run. Far."]))
        writer.put(prepared("/b.pdf", ["猫が座る."], script="cjk"))
    with store.snapshot() as snapshot:
        assert snapshot.scripts() == {"latin": 2, "cjk": 1}


def test_kinds_that_are_not_there_find_nothing(filled: Store) -> None:
    with filled.snapshot() as snapshot:
        assert snapshot.search_vectors("sentence", vector("cats"), 5) == []
        assert snapshot.search_words("sentence", ["cats"], 5) == []
        assert snapshot.search_words("child-128", ["cats"], 5) == []
        assert snapshot.search_words("parent", ["unknown"], 5) == []
        assert snapshot.search_words("parent", [], 5) == []
        assert snapshot.search_vectors("child-128", vector("cats"), 0) == []
        assert snapshot.document_frequencies("sentence", ["cats"]) == (0, {"cats": 0})
        assert not snapshot.has_kind("sentence", "vectors")
        assert snapshot.has_kind("parent", "words")


def test_a_question_of_another_length_is_refused(filled: Store) -> None:
    with filled.snapshot() as snapshot, pytest.raises(EmbeddingError, match="has 8 numbers"):
        snapshot.search_vectors("child-128", vector("cats")[:8], 5)


def test_a_snapshot_sees_one_generation_while_another_writes(filled: Store) -> None:
    def seen(snapshot: Snapshot) -> tuple[object, ...]:
        return (
            snapshot.generation,
            snapshot.names(),
            snapshot.search_words("parent", ["cats"], 9),
            snapshot.search_vectors("child-128", vector("cats"), 9),
        )

    with filled.snapshot() as old:
        before = seen(old)
        with filled.writer() as writer:
            writer.remove(["/x/a.pdf"])
            writer.put(prepared("/x/c.pdf", ["Cats sleep."]))
        with filled.snapshot() as new:
            assert new.names() == ["/x/b.pdf", "/x/c.pdf"]
            assert len(new.search_words("parent", ["cats"], 9)) == 2
        assert seen(old) == before
    with filled.snapshot() as newest:
        assert newest.names() == ["/x/b.pdf", "/x/c.pdf"]


def test_a_long_lived_reader_sees_what_another_store_wrote(filled: Store, new_store) -> None:
    other = new_store(reopen=True)
    with other.snapshot() as snapshot:
        assert len(snapshot.sources()) == 2
    with filled.writer() as writer:
        writer.put(prepared("/x/c.pdf", ["Cows moo."]))
    with other.snapshot() as snapshot:
        assert [hit.score > 0 for hit in snapshot.search_words("parent", ["moo."], 5)] == [True]


def test_a_selection_of_another_snapshot_is_refused(filled: Store) -> None:
    with filled.snapshot() as snapshot:
        selection = snapshot.select()
    with filled.writer() as writer:
        writer.remove(["/x/a.pdf"])
    with filled.snapshot() as snapshot, pytest.raises(ValueError, match="snapshot that made it"):
        snapshot.search_words("parent", ["cats"], 5, selection)


def test_a_query_of_another_question_between_changes_no_result(filled: Store) -> None:
    """A snapshot remembers what the last few questions scored, and no more of them."""
    asked = [("cats",), ("dogs",), ("apples",), ("pears",)]
    asked += [(one, two) for (one,) in asked for (two,) in asked]
    with filled.snapshot() as snapshot:
        first = [snapshot.search_words("parent", terms, 9) for terms in asked]
        assert [snapshot.search_words("parent", terms, 9) for terms in asked] == first
        assert len(snapshot._word_searches) == 8  # type: ignore[attr-defined]
    for terms, hits in zip(asked, first, strict=True):
        with filled.snapshot() as snapshot:
            assert snapshot.search_words("parent", terms, 9) == hits


def test_ids_that_are_remembered_are_those_of_the_index_at_this_path(filled: Store) -> None:
    """Rows of an index that was made anew have other ids, and the same numbers."""
    with filled.snapshot() as snapshot:
        before = snapshot.search_words("parent", ["cats"], 5)
    shutil.rmtree(filled.path)
    with create_store(filled.path, filled.config) as anew, anew.writer() as writer:
        writer.put(prepared("/x/d.pdf", ["Cats purr."]))
    with filled.snapshot() as snapshot:
        (hit,) = snapshot.search_words("parent", ["cats"], 5)
        assert hit.passage_id not in {old.passage_id for old in before}
        assert snapshot.nodes([hit.passage_id])[hit.passage_id].text == "Cats purr."
