"""Further kinds of nodes are built of the stored text, and of what is missing alone."""

from __future__ import annotations

from llama_index.core.schema import Document

from rag_app.ingest import ingest
from rag_app.ingest.completing import complete
from rag_app.ingest.configuring import embedder_of
from rag_app.store.config import with_kinds

TEXT = "Cats sit on mats. Cats have nine lives."


def completed(store, model, **kinds):
    config = with_kinds(store.config, **kinds)
    told = []
    with store.writer() as writer:
        writer.configure(config)
        embedder = embedder_of(config, model)
        found = complete(store, writer, config, embedder, lambda *step: told.append(step))
    return found, told


def test_contents_get_the_kinds_that_they_lack(new_index, model):
    store = new_index(pipelines=("bm25",))
    ingest(store, [Document(text=TEXT, id_="d")], embed_model=model)
    (done, failed), told = completed(store, model, vectors=(), words=("sentence",))
    assert (done, failed) == (["d"], [])
    assert told == [("d", "complete", 1, 1)]
    with store.snapshot() as snapshot:
        assert "sentence:words" in snapshot.find("d").built
    assert completed(store, model, vectors=(), words=("sentence",)) == (([], []), [])


def test_only_missing_vectors_are_embedded(store, model):
    ingest(store, [Document(text=TEXT, id_="d")], embed_model=model)
    before = model.embedded
    completed(store, model, vectors=("sentence",), words=())
    assert model.embedded - before == 2
    with store.snapshot() as snapshot:
        hits = snapshot.search_vectors("sentence", model.get_query_embedding("nine lives"), 1)
        assert snapshot.nodes([hits[0].node_id])[hits[0].node_id].text == "Cats have nine lives."


def test_a_content_that_fails_is_reported_and_the_others_are_completed(store, model):
    ingest(
        store,
        [Document(text=TEXT, id_="a"), Document(text="Dogs run.", id_="b")],
        embed_model=model,
    )
    model.fail_after = model.embedded
    (done, failed), _ = completed(store, model, vectors=("sentence",), words=())
    assert done == []
    assert {(report.file, report.status) for report in failed} == {("a", "failed"), ("b", "failed")}
    assert all("on purpose" in report.error for report in failed)
