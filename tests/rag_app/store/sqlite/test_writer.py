"""Writing: one file is one transaction, and what is gone is gone everywhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipelines.errors import EmbeddingError, IndexMismatchError, StoreError
from rag_app.store.config import with_kinds
from rag_app.store.protocol import Store
from tests.rag_app.store.make import CONFIG, prepared, vector


def names(store: Store) -> list[str]:
    with store.snapshot() as snapshot:
        return snapshot.names()


def found(store: Store, text: str) -> list[str]:
    """Return the texts of all passages that either arm finds."""
    with store.snapshot() as snapshot:
        hits = [
            *snapshot.search_vectors("child-128", vector(text), 50),
            *snapshot.search_words("parent", text.lower().split(), 50),
        ]
        ids = [hit.passage_id for hit in hits]
        return sorted({node.text for node in snapshot.nodes(ids).values()})


def test_put_of_a_new_file_is_added_and_found(store: Store) -> None:
    with store.writer() as writer:
        assert writer.put(prepared("/a.pdf", ["Cats sit."])) == "added"
    assert found(store, "cats") == ["Cats sit."]


def test_put_of_a_changed_file_replaces_the_old_content(store: Store) -> None:
    """Case 17: nothing of the pages that a file lost is found."""
    with store.writer() as writer:
        writer.put(prepared("/a.pdf", [f"Page {n} says zebra{n}." for n in range(1, 10)]))
        assert writer.put(prepared("/a.pdf", [f"New {n}." for n in range(1, 4)])) == "replaced"
    assert found(store, "zebra5. page 5 says") == ["New 1.", "New 2.", "New 3."]
    with store.snapshot() as snapshot:
        assert snapshot.search_words("parent", ["zebra5."], 10) == []
        assert [source.pages for source in snapshot.sources()] == [3]
    assert store.verify() == []


def test_remove_takes_away_every_trace(store: Store) -> None:
    """Case 11: parents, children, vectors and words are all gone."""
    gone = prepared("/a.pdf", ["Zebras run. Zebras eat."])
    with store.writer() as writer:
        writer.put(gone)
        writer.put(prepared("/b.pdf", ["Cats sit."]))
        assert writer.remove(["/a.pdf"]) == 1
    with store.snapshot() as snapshot:
        assert snapshot.nodes([node.node_id for node in gone.nodes]) == {}
        assert snapshot.document_frequencies("parent", ["zebras"]) == (1, {"zebras": 0})
        assert snapshot.find("/a.pdf") is None
        assert snapshot.source(gone.document.id_) is None
        with pytest.raises(KeyError):
            snapshot.text(gone.document.id_, 0, 5)
    assert found(store, "zebras run. eat.") == ["Cats sit."]
    assert store.verify() == []


def test_remove_of_one_name_keeps_the_content_of_another(store: Store) -> None:
    with store.writer() as writer:
        writer.put(prepared(["/a.pdf", "/b.pdf"], ["Cats sit."]))
        assert writer.remove(["/a.pdf"]) == 0
        assert names(store) == ["/b.pdf"]
        assert found(store, "cats") == ["Cats sit."]
        assert writer.remove(["/b.pdf", "/unknown.pdf"]) == 1
    assert found(store, "cats") == []


def test_nodes_carry_the_name_that_is_left(store: Store) -> None:
    content = prepared(["/x/a.pdf", "/y/b.pdf"], ["Cats sit."])
    with store.writer() as writer:
        writer.put(content)
        writer.remove(["/x/a.pdf"])
    with store.snapshot() as snapshot:
        (node,) = snapshot.nodes([content.nodes[0].node_id]).values()
    assert (node.metadata["file_name"], node.metadata["file_path"]) == ("b.pdf", "/y/b.pdf")


def test_add_name_records_a_second_name_in_order(store: Store) -> None:
    content = prepared("/b.pdf", ["Cats sit."])
    with store.writer() as writer:
        writer.put(content)
        writer.add_name(content.document.id_, "/a.pdf")
        with pytest.raises(KeyError):
            writer.add_name("unknown", "/c.pdf")
    with store.snapshot() as snapshot:
        assert snapshot.sources()[0].names == ("/b.pdf", "/a.pdf")


def test_add_name_takes_it_from_the_content_that_had_it(store: Store) -> None:
    first, second = prepared("/a.pdf", ["Cats sit."]), prepared("/b.pdf", ["Dogs run."])
    with store.writer() as writer:
        writer.put(first)
        writer.put(second)
        writer.add_name(second.document.id_, "/a.pdf")
    with store.snapshot() as snapshot:
        assert [source.content_hash for source in snapshot.sources()] == [second.document.id_]
    assert store.verify() == []


def test_put_of_the_same_content_keeps_its_other_names(store: Store) -> None:
    with store.writer() as writer:
        writer.put(prepared("/a.pdf", ["Cats sit."]))
        assert writer.put(prepared("/b.pdf", ["Cats sit."])) == "replaced"
    assert names(store) == ["/a.pdf", "/b.pdf"]
    with store.snapshot() as snapshot:
        assert len(snapshot.sources()) == 1


def test_a_document_id_with_new_content_replaces_the_old_one(store: Store) -> None:
    first, second = prepared("doc", ["Cats sit."]), prepared("doc", ["Dogs run."])
    first.document.id_ = second.document.id_ = "doc"
    with store.writer() as writer:
        writer.put(replace(first, nodes=[], vectors={}, terms={}))
        writer.put(replace(second, nodes=[], vectors={}, terms={}, names=("other",)))
    with store.snapshot() as snapshot:
        assert [source.document_id for source in snapshot.sources()] == ["doc"]


def test_each_method_raises_the_generation_by_one(store: Store) -> None:
    with store.writer() as writer:
        writer.put(prepared("/a.pdf", ["Cats sit."]))
        writer.put(prepared("/b.pdf", ["Dogs run."]))
        writer.remove(["/a.pdf"])
    with store.snapshot() as snapshot:
        assert snapshot.generation == 3


def test_a_put_that_fails_changes_nothing(store: Store) -> None:
    """Case 6: the old version still answers."""
    bad = prepared("/a.pdf", ["Dogs run."])
    ids, matrix = bad.vectors["child-128"]
    wrong = replace(bad, vectors={"child-128": (ids, np.full_like(matrix, np.nan))})
    with store.writer() as writer:
        writer.put(prepared("/a.pdf", ["Cats sit."]))
        with pytest.raises(EmbeddingError):
            writer.put(wrong)
    assert found(store, "cats dogs") == ["Cats sit."]
    with store.snapshot() as snapshot:
        assert snapshot.generation == 1
    assert store.verify() == []


@pytest.mark.parametrize("scale", [0.0, 2.0, np.inf])
def test_vectors_that_are_not_of_unit_length_are_refused(store: Store, scale: float) -> None:
    bad = prepared("/a.pdf", ["Dogs run."])
    ids, matrix = bad.vectors["child-128"]
    with store.writer() as writer, pytest.raises(EmbeddingError, match="unit length"):
        writer.put(replace(bad, vectors={"child-128": (ids, matrix * np.float32(scale))}))


def test_vectors_of_another_length_are_refused(store: Store) -> None:
    bad = prepared("/a.pdf", ["Dogs run."])
    ids, matrix = bad.vectors["child-128"]
    with store.writer() as writer, pytest.raises(EmbeddingError, match="16 numbers"):
        writer.put(replace(bad, vectors={"child-128": (ids, matrix[:, :8])}))


def test_a_child_that_leads_nowhere_is_refused(store: Store) -> None:
    content = prepared("/a.pdf", ["Dogs run."])
    orphans = [node for node in content.nodes if node.metadata["kind"] != "parent"]
    with store.writer() as writer, pytest.raises(StoreError, match="leads to"):
        writer.put(replace(content, nodes=orphans, terms={}))


def test_a_vector_for_an_unknown_node_is_refused(store: Store) -> None:
    content = prepared("/a.pdf", ["Dogs run."])
    with store.writer() as writer, pytest.raises(StoreError, match="not a node of this content"):
        writer.put(replace(content, terms={"unknown": {"a": 1}}))


def test_two_contents_with_one_node_id_are_refused(store: Store) -> None:
    first, second = prepared("/a.pdf", ["Dogs run."]), prepared("/b.pdf", ["Cats sit."])
    with store.writer() as writer:
        writer.put(first)
        with pytest.raises(StoreError, match="two nodes have the id"):
            writer.put(replace(second, nodes=first.nodes, vectors=first.vectors, terms={}))
    assert names(store) == ["/a.pdf"]


def test_extend_adds_a_kind_and_keeps_what_is_there(store: Store) -> None:
    content = prepared("/a.pdf", ["Cats sit. Dogs run."])
    parents = [node for node in content.nodes if node.metadata["kind"] == "parent"]
    matrix = np.stack([vector(node.text) for node in parents])
    more = {"parent": ([node.node_id for node in parents], matrix)}
    with store.writer() as writer:
        writer.put(content)
        writer.configure(with_kinds(store.config, vectors=["parent"]))
        with store.snapshot() as snapshot:
            assert not snapshot.has_kind("parent", "vectors")
            assert snapshot.incomplete("parent", "vectors") == [content.document.id_]
        writer.extend(replace(content, vectors={**content.vectors, **more}))
        writer.extend(replace(content, vectors={**content.vectors, **more}))
    with store.snapshot() as snapshot:
        assert snapshot.has_kind("parent", "vectors")
        assert len(snapshot.search_vectors("parent", vector("cats"), 9)) == 1
        assert len(snapshot.search_vectors("child-128", vector("cats"), 9)) == 1
        assert snapshot.document_frequencies("parent", ["cats"]) == (1, {"cats": 1})
    assert store.verify() == []


def test_extend_of_an_unknown_content_is_a_key_error(store: Store) -> None:
    with store.writer() as writer, pytest.raises(KeyError):
        writer.extend(prepared("/a.pdf", ["Cats sit."]))


def test_configure_refuses_another_model(store: Store) -> None:
    with store.writer() as writer:
        writer.configure(replace(CONFIG, precision="bfloat16"))
        with pytest.raises(IndexMismatchError, match="'other' wanted"):
            writer.configure(replace(CONFIG, embed_model="other"))
        with pytest.raises(IndexMismatchError, match="cannot become"):
            writer.configure(replace(CONFIG, embed_model=""))
    with store.snapshot() as snapshot:
        assert snapshot.config.precision == "bfloat16"


def test_rename_calls_contents_by_the_given_names_alone(store: Store) -> None:
    first, second = prepared(["/a.pdf", "/old.pdf"], ["Cats."]), prepared("/b.pdf", ["Dogs."])
    with store.writer() as writer:
        writer.put(first)
        writer.put(second)
        hashes = [one.document.metadata["content_hash"] for one in (first, second)]
        writer.rename({hashes[0]: ["/b.pdf", "/c.pdf"], hashes[1]: ["/a.pdf"]})
    with store.snapshot() as snapshot:
        assert snapshot.names() == ["/a.pdf", "/b.pdf", "/c.pdf"]
        assert snapshot.find("/b.pdf").content_hash == hashes[0]
        assert snapshot.find("/a.pdf").content_hash == hashes[1]
    assert store.verify() == []


def test_rename_puts_the_new_name_into_the_title(store: Store) -> None:
    content = prepared("/old_name.pdf", ["Cats."])
    content.document.metadata |= {"title": "old name, A report", "own_title": "A report"}
    with store.writer() as writer:
        writer.put(content)
        writer.rename({content.document.metadata["content_hash"]: ["/new_name.pdf"]})
    with store.snapshot() as snapshot:
        assert [source.title for source in snapshot.sources()] == ["new name, A report"]


def test_title_follows_when_the_name_in_it_is_taken_away(store: Store) -> None:
    content = prepared(["/old_name.pdf", "/moved.pdf"], ["Cats."])
    content.document.metadata |= {"title": "old name, A report", "own_title": "A report"}
    with store.writer() as writer:
        writer.put(content)
        writer.remove(["/old_name.pdf"])
    with store.snapshot() as snapshot:
        assert [source.title for source in snapshot.sources()] == ["moved, A report"]
    assert store.verify() == []


def test_rename_to_the_name_of_another_content_takes_it_away(store: Store) -> None:
    kept = prepared("/a.pdf", ["Cats."])
    with store.writer() as writer:
        writer.put(kept)
        writer.put(prepared("/b.pdf", ["Dogs."]))
        writer.rename({kept.document.metadata["content_hash"]: ["/b.pdf"]})
    with store.snapshot() as snapshot:
        assert [source.names for source in snapshot.sources()] == [("/b.pdf",)]
    assert store.verify() == []


def test_rename_of_a_content_that_is_not_here_changes_nothing(store: Store) -> None:
    with store.writer() as writer:
        writer.put(kept := prepared("/a.pdf", ["Cats."]))
        with pytest.raises(KeyError):
            writer.rename({kept.document.metadata["content_hash"]: ["/x.pdf"], "none": ["/y.pdf"]})
    assert names(store) == ["/a.pdf"]
