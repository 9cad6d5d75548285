"""Ingest: unchanged costs a hash, a fault stays with its file, everything can be resumed."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from llama_index.core.schema import (
    Document,
    IndexNode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

import pipelines.tokens
import rag_app.ingest.parsing as parsing
import rag_app.ingest.workers
from pipelines.errors import ConfigError, EmbeddingError, StoreError
from pipelines.isolated import Reading
from pipelines.ocr import Ocr
from pipelines.readers import PageText, RawPdf
from pipelines.reading import ReadPdf, content_hash
from pipelines.sentences import sentence_spans
from pipelines.terms import search_terms
from rag_app.ingest import FileReport, IngestReport, ingest
from rag_app.store.protocol import Store
from tests.rag_app.ingest.conftest import NewIndex
from tests.support.embedding import DIMENSION, HashEmbedding, hash_vector
from tests.support.pdfs import make_pdf


def statuses(report: IngestReport) -> dict[str, str]:
    return {Path(file.file).name: file.status for file in report.files}


def words(store: Store, text: str, kind: str = "parent") -> list[str]:
    """Return the texts of the passages that hold a word of ``text``."""
    with store.snapshot() as snapshot:
        hits = snapshot.search_words(kind, search_terms(text), 50)
        return [node.text for node in snapshot.nodes([hit.passage_id for hit in hits]).values()]


def near(store: Store, text: str, kind: str = "child-256") -> list[str]:
    with store.snapshot() as snapshot:
        hits = snapshot.search_vectors(kind, np.array(hash_vector(text), np.float32), 50)
        return [node.text for node in snapshot.nodes([hit.passage_id for hit in hits]).values()]


def names(store: Store) -> list[str]:
    with store.snapshot() as snapshot:
        return [Path(name).name for name in snapshot.names()]


def test_a_folder_goes_in_with_all_its_pdfs(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    report = ingest(store, [folder], embed_model=model)
    assert statuses(report) == {"a.pdf": "added", "b.pdf": "added", "c.PDF": "added"}
    assert [file.pages for file in report.files] == [2, 1, 1]
    assert report.embedded == model.embedded == 3
    assert words(store, "birds winter") == ["Birds fly south in winter."]
    assert near(store, "Dogs run in the park.")[0] == "Dogs run in the park."
    assert store.verify() == []


def test_the_same_folder_again_embeds_and_tokenises_nothing(
    store: Store, folder: Path, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 5."""
    ingest(store, [folder], embed_model=model)
    with store.snapshot() as snapshot:
        before = (snapshot.generation, snapshot.sources())

    def never(*_: object, **__: object) -> None:
        raise AssertionError("an unchanged file costs a hash and nothing else")

    for module, name in [
        (rag_app.ingest.workers, "read_file"),
        (parsing, "parse"),
        (parsing, "count_terms"),
        (pipelines.tokens, "count_tokens"),
    ]:
        monkeypatch.setattr(module, name, never)
    for _ in range(2):
        report = ingest(store, [folder], embed_model=model)
        assert set(statuses(report).values()) == {"unchanged"}
        assert report.embedded == 0
        assert report.files[0].pages == 2
    with store.snapshot() as snapshot:
        assert (snapshot.generation, snapshot.sources()) == before


def test_a_changed_file_is_swapped(store: Store, folder: Path, model: HashEmbedding) -> None:
    """Case 17."""
    ingest(store, [folder], embed_model=model)
    make_pdf(folder / "a.pdf", ["Only zebras now."])
    report = ingest(store, [folder / "a.pdf"], embed_model=model)
    assert statuses(report) == {"a.pdf": "replaced"}
    assert words(store, "cats lives") == []
    assert words(store, "zebras") == ["Only zebras now."]
    assert not any("Cats" in text for text in near(store, "Cats have nine lives."))
    assert store.verify() == []


def test_an_embedder_that_fails_half_way_keeps_the_old_version(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    """Case 6."""
    ingest(store, [folder], embed_model=model)
    make_pdf(folder / "a.pdf", ["Zebras graze.", "Zebras sleep."])
    failing = HashEmbedding(fail_after=0)
    report = ingest(store, [folder], embed_model=failing)
    assert statuses(report) == {"a.pdf": "failed", "b.pdf": "unchanged", "c.PDF": "unchanged"}
    assert "the embedder fails on purpose" in report.files[0].error
    assert report.files[0].hint
    assert report.ok
    assert len(words(store, "cats")) == 1
    report = ingest(store, [folder], embed_model=model)
    assert statuses(report)["a.pdf"] == "replaced"
    assert len(words(store, "zebras")) == 1
    assert words(store, "cats") == []


def test_a_stopped_run_does_only_what_is_missing(
    store: Store, folder: Path, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_app.ingest.waiting.MIN_TEXTS", 1)
    first = ingest(store, [folder], embed_model=HashEmbedding(fail_after=1))
    assert list(statuses(first).values()) == ["added", "failed", "failed"]
    second = ingest(store, [folder], embed_model=model)
    assert list(statuses(second).values()) == ["unchanged", "added", "added"]
    assert model.embedded == 2


def test_an_interrupt_leaves_files_whole(
    store: Store, folder: Path, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_app.ingest.waiting.MIN_TEXTS", 1)

    def interrupt(file: str, stage: str, done: int, total: int) -> None:
        if stage == "write" and done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(store, [folder], embed_model=model, progress=interrupt)
    assert names(store) == ["a.pdf", "b.pdf"]
    assert store.verify() == []
    assert list(statuses(ingest(store, [folder], embed_model=model)).values()) == [
        "unchanged",
        "unchanged",
        "added",
    ]


def test_an_interrupt_while_texts_are_embedded_keeps_the_files_whose_texts_are_done(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_app.ingest.waiting.MIN_TEXTS", 4)
    given = [Document(id_=f"d{n}", text=f"Whale number {n} sings.") for n in range(10)]

    class Stopped(HashEmbedding):
        def get_text_embedding_batch(self, texts: list[str], **_: object) -> list[list[float]]:
            if self.embedded >= 8:
                raise KeyboardInterrupt
            return super().get_text_embedding_batch(texts)

    with pytest.raises(KeyboardInterrupt):
        ingest(store, given, embed_model=Stopped())
    assert names(store) == [f"d{n}" for n in range(8)]
    assert store.verify() == []
    model = HashEmbedding()
    report = ingest(store, given, embed_model=model)
    assert [file.status for file in report.files] == ["unchanged"] * 8 + ["added"] * 2
    assert model.embedded == 2


def test_a_file_is_reported_when_it_is_in_the_index_and_not_before(
    store: Store, folder: Path, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_app.ingest.waiting.MIN_TEXTS", 1)
    (folder / "cut.pdf").write_bytes(b"")
    heard: list[tuple[str, str, list[str]]] = []

    def on_file(file: FileReport) -> None:
        heard.append((Path(file.file).name, file.status, names(store)))

    report = ingest(store, [folder], embed_model=model, on_file=on_file)
    assert heard == [
        ("a.pdf", "added", ["a.pdf"]),
        ("b.pdf", "added", ["a.pdf", "b.pdf"]),
        ("cut.pdf", "failed", ["a.pdf", "b.pdf"]),
        ("c.PDF", "added", ["a.pdf", "b.pdf", "c.PDF"]),
    ]
    assert len(report.files) == 4
    heard.clear()
    ingest(store, [folder], embed_model=model, on_file=on_file)
    assert [status for _, status, _ in heard] == ["unchanged", "unchanged", "unchanged", "failed"]


@pytest.mark.parametrize("error", [ValueError("mine"), StoreError("mine"), EmbeddingError("mine")])
@pytest.mark.parametrize("stage", ["check", "read", "embed", "write", "on_file"])
def test_what_a_callback_raises_comes_out_as_it_is_and_finished_files_stay(
    store: Store,
    folder: Path,
    model: HashEmbedding,
    monkeypatch: pytest.MonkeyPatch,
    stage: str,
    error: Exception,
) -> None:
    monkeypatch.setattr("rag_app.ingest.waiting.MIN_TEXTS", 1)
    ingest(store, [folder / "a.pdf"], embed_model=model)

    def progress(file: str, told: str, done: int, total: int) -> None:
        if told == stage and done >= 1:
            raise error

    def on_file(file: FileReport) -> None:
        if stage == "on_file" and file.status == "added":
            raise error

    with pytest.raises(type(error)) as raised:
        ingest(store, [folder], embed_model=model, progress=progress, on_file=on_file)
    assert raised.value is error
    assert names(store)[0] == "a.pdf"
    assert store.verify() == []
    assert ingest(store, [folder], embed_model=model).ok
    assert names(store) == ["a.pdf", "b.pdf", "c.PDF"]


def test_progress_counts_texts_of_all_files_also_of_those_that_are_not_read_yet(
    store: Store, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_app.ingest.waiting.MIN_TEXTS", 1)
    heard: list[tuple[int, int]] = []

    def progress(_: str, stage: str, done: int, total: int) -> None:
        if stage == "embed":
            heard.append((done, total))

    given = [Document(id_=f"d{n}", text=f"Whale {n} sings.") for n in range(4)]
    ingest(store, given, embed_model=model, progress=progress)
    assert list(dict.fromkeys(heard)) == [(done, 4) for done in range(5)]


def test_files_that_are_no_pdfs_are_counted_by_ending(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    for name in ("a.docx", "sub/b.DOCX", "c.txt", "README", ".hidden", "sub/.git/config"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"x")
    report = ingest(store, [folder], embed_model=model)
    assert report.skipped == {".docx": 2, ".txt": 1, "": 1}
    assert report.to_dict()["skipped"] == {".docx": 2, ".txt": 1, "": 1}
    assert ingest(store, [folder / "a.pdf"], embed_model=model).skipped == {}


def test_the_files_of_an_index_below_the_folder_are_not_counted(
    store: Store, tmp_path: Path, folder: Path, model: HashEmbedding
) -> None:
    ingest(store, [folder], embed_model=model)
    report = ingest(store, [tmp_path], embed_model=model)
    assert report.skipped == {}


def test_each_bad_file_is_named_with_its_reason_and_the_others_go_in(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    """Case 20."""
    good = (folder / "a.pdf").read_bytes()
    make_pdf(folder / "locked.pdf", ["Secret."], password="x")
    (folder / "cut.pdf").write_bytes(good[:200])
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "page.pdf").write_bytes(b"<!DOCTYPE html><html><body>Hello</body></html>")
    make_pdf(folder / "scan.pdf", [""], scanned=[1])
    report = ingest(store, [folder, folder / "missing.pdf"], embed_model=model)
    failed = {Path(file.file).name: file for file in report.failed}
    assert set(failed) == {
        "locked.pdf",
        "cut.pdf",
        "empty.pdf",
        "page.pdf",
        "scan.pdf",
        "missing.pdf",
    }
    assert "password" in failed["locked.pdf"].error + failed["locked.pdf"].hint
    assert "0 bytes" in failed["empty.pdf"].error
    assert "HTML" in failed["page.pdf"].error
    assert "no such file" in failed["missing.pdf"].error
    assert len({file.error for file in failed.values()}) == 6
    assert all(file.error for file in failed.values())
    assert [status for status in statuses(report).values() if status == "added"] == ["added"] * 3
    assert report.ok


def test_nothing_indexed_is_not_ok(store: Store, tmp_path: Path, model: HashEmbedding) -> None:
    (tmp_path / "none").mkdir()
    report = ingest(store, [tmp_path / "none", tmp_path / "x.pdf"], embed_model=model)
    assert [file.status for file in report.files] == ["failed", "failed"]
    assert "no PDF in this folder" in report.files[0].error
    assert not report.ok
    assert ingest(store, [], embed_model=model).ok


def test_a_renamed_file_is_recognised_and_its_old_name_goes_with_prune(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    ingest(store, [folder], embed_model=model)
    (folder / "b.pdf").rename(folder / "renamed.pdf")
    report = ingest(store, [folder], embed_model=model)
    assert statuses(report)["renamed.pdf"] == "added"
    assert report.embedded == 0
    assert names(store) == ["a.pdf", "b.pdf", "renamed.pdf", "c.PDF"]
    report = ingest(store, [folder], embed_model=model, prune=True)
    assert [Path(name).name for name in report.removed] == ["b.pdf"]
    assert names(store) == ["a.pdf", "renamed.pdf", "c.PDF"]
    with store.snapshot() as snapshot:
        (hit,) = snapshot.search_words("parent", search_terms("dogs park"), 5)
        node = snapshot.nodes([hit.passage_id])[hit.passage_id]
    assert node.metadata["file_name"] == "renamed.pdf"


def test_prune_looks_only_below_the_folder(
    store: Store, folder: Path, tmp_path: Path, model: HashEmbedding
) -> None:
    (tmp_path / "documents2").mkdir()
    other = make_pdf(tmp_path / "documents2" / "o.pdf", ["Other."])
    ingest(store, [folder, other], embed_model=model)
    other.unlink()
    (folder / "b.pdf").unlink()
    (folder / "sub" / "c.PDF").unlink()
    report = ingest(store, [folder / "sub"], embed_model=model, prune=True)
    assert [Path(name).name for name in report.removed] == ["c.PDF"]
    assert names(store) == ["a.pdf", "b.pdf", "o.pdf"]


def test_two_files_with_one_content_are_one_with_both_names(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    shutil.copy(folder / "b.pdf", folder / "copy.pdf")
    report = ingest(store, [folder], embed_model=model)
    assert statuses(report)["copy.pdf"] == "added"
    with store.snapshot() as snapshot:
        assert len(snapshot.sources()) == 3
        source = snapshot.find(str(folder / "copy.pdf"))
    assert source is not None
    assert [Path(name).name for name in source.names] == ["b.pdf", "copy.pdf"]
    assert len(words(store, "dogs")) == 1


def test_another_reader_reads_the_files_again(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    ingest(store, [folder], embed_model=model)
    report = ingest(store, [folder], embed_model=model, reader="pypdf")
    assert set(statuses(report).values()) == {"replaced"}
    with store.snapshot() as snapshot:
        assert all(source.reader.startswith("pypdf/") for source in snapshot.sources())
        assert snapshot.config.reader == "pypdf"
    assert set(statuses(ingest(store, [folder], embed_model=model)).values()) == {"unchanged"}


def test_further_pipelines_are_built_from_the_stored_text(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    ingest(store, [folder], embed_model=model)
    shutil.rmtree(folder)  # the files themselves are not needed
    report = ingest(store, [], embed_model=model, pipelines=["sentence_window", "naive"])
    assert [Path(name).name for name in report.completed] == ["a.pdf", "b.pdf", "c.PDF"]
    assert len(near(store, "cats", "sentence")) == 4
    assert len(near(store, "cats", "parent")) == 3
    assert store.verify() == []
    embedded = model.embedded
    assert ingest(store, [], embed_model=model, pipelines=["naive"]).completed == ()
    assert model.embedded == embedded


def test_further_pipelines_give_the_same_as_all_at_once(
    store: Store, new_index: NewIndex, folder: Path, model: HashEmbedding
) -> None:
    pipelines_ = ["hybrid", "child_parent", "sentence_window", "naive"]
    ingest(store, [folder], embed_model=model)
    ingest(store, [], embed_model=model, pipelines=pipelines_)
    fresh = new_index("fresh", pipelines_)
    ingest(fresh, [folder], embed_model=model)
    for kind in ("parent", "child-256", "child-256", "child-512", "sentence"):
        assert near(store, "cats sit", kind) == near(fresh, "cats sit", kind)
    with store.snapshot() as one, fresh.snapshot() as two:
        assert one.config.vector_kinds == two.config.vector_kinds
        assert [s.nodes for s in one.sources()] == [s.nodes for s in two.sources()]
        assert [s.built for s in one.sources()] == [s.built for s in two.sources()]


def test_an_interrupted_completion_is_resumed(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    ingest(store, [folder], embed_model=model)
    failing = HashEmbedding(fail_after=3)
    report = ingest(store, [folder], embed_model=failing, pipelines=["sentence_window"])
    assert statuses(report) == {"a.pdf": "unchanged", "b.pdf": "unchanged", "c.PDF": "failed"}
    assert [Path(name).name for name in report.completed] == ["a.pdf", "b.pdf"]
    with store.snapshot() as snapshot:
        assert len(snapshot.incomplete("sentence", "vectors")) == 1
    report = ingest(store, [folder], embed_model=model)
    assert [Path(name).name for name in report.completed] == ["c.PDF"]
    assert len(near(store, "cats", "sentence")) == 4


def test_documents_are_ingested_by_id(store: Store, model: HashEmbedding) -> None:
    documents = [
        Document(id_="one", text="Whales sing.", metadata={"year": 2018, "file_path": "/x.pdf"}),
        Document(text="Sharks swim.", metadata={"file_path": "/x.pdf", "page_label": "3"}),
    ]
    report = ingest(store, documents, embed_model=model)
    assert [file.status for file in report.files] == ["added", "added"]
    assert report.files[0].file == "one"
    assert [file.pages for file in report.files] == [0, 1]
    again = ingest(store, documents, embed_model=model)
    assert [file.status for file in again.files] == ["unchanged", "unchanged"]
    documents[0] = Document(id_="one", text="Whales dive.", metadata={"year": 2019})
    changed = ingest(store, documents, embed_model=model)
    assert [file.status for file in changed.files] == ["replaced", "unchanged"]
    assert words(store, "whales") == ["Whales dive."]
    with store.snapshot() as snapshot:
        source = snapshot.find("one")
    assert source is not None
    assert source.metadata == {"year": 2019}


def test_changed_metadata_of_a_document_is_noticed(store: Store, model: HashEmbedding) -> None:
    ingest(store, [Document(id_="one", text="Whales sing.", metadata={"y": 1})], embed_model=model)
    report = ingest(
        store, [Document(id_="one", text="Whales sing.", metadata={"y": 2})], embed_model=model
    )
    assert report.files[0].status == "replaced"


def test_ready_passages_and_their_pieces_are_searched(store: Store, model: HashEmbedding) -> None:
    nodes = [
        TextNode(id_="p1", text="The gasket is made of rubber.", metadata={"team": "A"}),
        TextNode(id_="p2", text="The gasket is made of rubber.", metadata={"team": "B"}),
        IndexNode(id_="q1", text="Which material seals the pump?", index_id="p1"),
    ]
    report = ingest(store, [nodes], embed_model=model)
    assert report.ok
    with store.snapshot() as snapshot:
        assert [hit.passage_id for hit in snapshot.search_words("piece", ["materi"], 5)] == ["p1"]
        hits = snapshot.search_words("parent", search_terms("gasket"), 5)
        assert [hit.passage_id for hit in hits] == ["p1", "p2"]
        query = np.array(hash_vector("The gasket is made of rubber."), np.float32)
        children = snapshot.search_vectors("child-256", query, 5)
        assert [hit.passage_id for hit in children] == ["p1", "p2"]
        found = snapshot.search_vectors("piece", query, 5)
        assert [(hit.passage_id, hit.node_id) for hit in found] == [("p1", "q1")]
        (child,) = snapshot.children("p2", "child-256")
        source = snapshot.find("p2")
        assert source is not None
        assert snapshot.text(source.document_id, child.start_char_idx, child.end_char_idx) == (
            child.text
        )
    again = ingest(store, [nodes], embed_model=model)
    assert {file.status for file in again.files} == {"unchanged"}
    assert again.embedded == 0
    assert store.verify() == []


def test_files_and_ready_passages_get_a_sentence_table(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    nodes = [TextNode(id_=f"p{n}", text="One thing. Another thing.") for n in "12"]
    grouped = [
        TextNode(
            id_=f"g{n}",
            text=f"Thing {n} is here. It is old.",
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="group")},
        )
        for n in "12"
    ]
    assert ingest(store, [folder, nodes, grouped], embed_model=model).ok
    with store.snapshot() as snapshot:
        sources = snapshot.sources()
        for source in sources:
            text = snapshot.text(source.document_id, 0, source.length)
            table = snapshot.sentences(source.document_id, 0, source.length)
            starts = [start for start, _ in sentence_spans(text, max_tokens=None)]
            assert table.starts.tolist() == starts
            assert starts
        table = snapshot.sentences("group", 0, 99)
        assert table.starts.tolist() == [0, 17, 29, 46]
        assert table.holding(["2", "old"]) == [set(), {"old"}, {"2"}, {"old"}]


def test_further_kinds_of_ready_passages_come_from_the_store(
    store: Store, model: HashEmbedding
) -> None:
    nodes = [TextNode(id_="p1", text="One thing. Another thing.")]
    ingest(store, nodes, embed_model=model)
    ingest(store, [], embed_model=model, pipelines=["sentence_window", "naive"])
    assert near(store, "thing", "parent") == ["One thing. Another thing."]
    assert sorted(near(store, "thing", "sentence")) == ["Another thing.", "One thing."]
    assert store.verify() == []


def test_scripts_that_the_model_does_not_know_are_not_embedded_and_said(
    new_index: NewIndex, tmp_path: Path
) -> None:
    store = new_index(scripts=("latin",))
    model = HashEmbedding(scripts=("latin",))
    file = make_pdf(tmp_path / "j.pdf", ["東京は日本の首都です。人口は多い。"])
    report = ingest(store, [file, Document(id_="e", text="Cats sit.")], embed_model=model)
    assert report.not_embedded == {"cjk": 1}
    assert report.embedded == 1
    assert len(words(store, "日本の首都")) == 1
    assert store.verify() == []


def test_nodes_longer_than_the_model_reads_are_counted(store: Store) -> None:
    class Short(HashEmbedding):
        max_tokens: int = 5

        def count_tokens(self, texts: list[str]) -> list[int]:
            return [len(text.split()) for text in texts]

    long = Document(text="One two three four five six seven.")
    report = ingest(store, [long, Document(text="Short.")], embed_model=Short())
    assert report.too_long == {"child-256": 1}


@pytest.mark.parametrize(
    ("vectors", "words_"),
    [
        ([[0.0] * DIMENSION], "zeros or NaN"),
        ([[float("nan")] * DIMENSION], "zeros or NaN"),
        ([[1.0] * 3], "shape"),
        ([], "shape"),
    ],
)
def test_vectors_that_are_none_are_the_files_error(
    store: Store, vectors: list[list[float]], words_: str
) -> None:
    class Broken(HashEmbedding):
        def get_text_embedding_batch(self, texts: list[str], **_: object) -> list[list[float]]:
            if any("bad" in text for text in texts):
                return vectors
            return super().get_text_embedding_batch(texts)

    documents = [Document(id_="bad", text="A bad one."), Document(id_="good", text="A good one.")]
    report = ingest(store, documents, embed_model=Broken())
    assert [file.status for file in report.files] == ["failed", "added"]
    assert words_ in report.files[0].error


def test_vectors_of_any_length_become_unit_vectors(store: Store) -> None:
    class Long(HashEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return [7 * value for value in super()._get_text_embedding(text)]

    ingest(store, [Document(text="Cats sit.")], embed_model=Long())
    with store.snapshot() as snapshot:
        query = np.array(hash_vector("Cats sit."), np.float32)
        (hit,) = snapshot.search_vectors("child-256", query, 1)
    assert hit.score == pytest.approx(1.0)
    assert store.verify() == []


def test_an_index_of_words_needs_no_model(new_index: NewIndex, folder: Path) -> None:
    store = new_index(pipelines=["bm25"])
    report = ingest(store, [folder], embed_model=None)
    assert report.embedded == 0
    assert len(words(store, "cats")) == 1
    with pytest.raises(ConfigError, match="without an embedding model"):
        ingest(store, [], embed_model=HashEmbedding(), pipelines=["naive"])


def test_an_index_with_vectors_needs_a_model(store: Store, folder: Path) -> None:
    with pytest.raises(ConfigError, match="no embedding model was given"):
        ingest(store, [folder], embed_model=None)


@pytest.mark.parametrize(
    "options", [{"pipelines": ["nonsense"]}, {"reader": "nonsense"}, {"inputs": [3]}]
)
def test_wrong_arguments_change_nothing(
    store: Store, model: HashEmbedding, options: dict[str, object]
) -> None:
    with pytest.raises(ConfigError) as error:
        ingest(store, **{"inputs": [], "embed_model": model, **options})
    assert error.value.hint
    with store.snapshot() as snapshot:
        assert snapshot.generation == 0


def test_progress_is_told_by_file_and_stage(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    told: list[tuple[str, str, int, int]] = []
    ingest(store, [folder], embed_model=model, progress=lambda *event: told.append(event))
    assert [event[1] for event in told] == [
        *["check"] * 3,
        *["read"] * 3,
        *["embed"] * 2,
        *["write"] * 3,
    ]
    assert told[-1] == (str(folder / "sub" / "c.PDF"), "write", 3, 3)


def test_the_report_is_the_json_of_the_design(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    raw = json.loads(json.dumps(ingest(store, [folder], embed_model=model).to_dict()))
    assert set(raw) >= {"files", "embedded", "seconds"}
    assert raw["files"][0] == {
        "file": str(folder / "a.pdf"),
        "status": "added",
        "pages": 2,
        "pages_without_text": [],
        "page_states": {},
        "ocr_pages": {},
        "page_readers": {},
        "nodes": 2,
        "error": None,
        "hint": None,
    }


def test_pages_without_text_are_reported(
    store: Store, tmp_path: Path, model: HashEmbedding
) -> None:
    file = make_pdf(tmp_path / "x.pdf", ["Text.", "", "More."], scanned=[2])
    report = ingest(store, [file], embed_model=model)
    assert report.files[0].pages_without_text == (2,)
    assert report.files[0].page_states == {"image": (2,)}
    assert ingest(store, [file], embed_model=model).files[0].page_states == {"image": (2,)}


def test_no_key_is_written_anywhere(
    store: Store, folder: Path, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 23."""
    secret = "sk-this-is-a-secret-key-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    monkeypatch.setenv("RAG_LLM_API_KEY", secret)
    report = ingest(store, [folder], embed_model=model, workers=1)
    store.close()
    assert secret not in json.dumps(report.to_dict())
    for path in store.path.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()


def test_a_file_that_vanishes_while_it_waits_is_its_own_error(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    def vanish(file: str, stage: str, done: int, total: int) -> None:
        if stage == "check" and file.endswith("b.pdf"):
            (folder / "a.pdf").unlink()

    report = ingest(store, [folder], embed_model=model, progress=vanish)
    assert statuses(report) == {"a.pdf": "failed", "b.pdf": "added", "c.PDF": "added"}


@pytest.mark.skipif(os.getuid() != 0, reason="needs a user that may not read the file")
def test_a_file_that_may_not_be_read_is_named(
    store: Store, folder: Path, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("rag_app.ingest.inputs.content_hash", refuse)
    report = ingest(store, [folder / "a.pdf"], embed_model=model)
    assert "Permission denied" in report.files[0].error


ENGINE = Ocr(("eng",), "/share/tessdata")


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Give the names of the files that were read; page 2 is read only with OCR."""
    read: list[str] = []

    def read_file(path, reader, reading, stopper=None, on_ocr_page=None):
        read.append(path.name)
        page = PageText("2", "", "image")
        if reading.ocr is not None and path.name == "scan.pdf":
            on_ocr_page(1, 1)
            page = PageText("2", "A page that was scanned.", "ocr", 0.9)
        raw = RawPdf((PageText("1", "A page of text."), page), "", "")
        return ReadPdf(path, raw, content_hash(path), reader, reader, reading.ocr)

    monkeypatch.setattr(rag_app.ingest.workers, "read_file", read_file)
    monkeypatch.setattr(Ocr, "fingerprint", lambda self: f"engine of {self.folder}")
    make_pdf(tmp_path / "scan.pdf", ["One.", "Two."])
    make_pdf(tmp_path / "drawing.pdf", ["One.", "Three."])
    return read


def test_unread_pages_are_read_once_ocr_is_installed_and_only_then(
    store: Store, tmp_path: Path, model: HashEmbedding, scans: list[str]
) -> None:
    files = [tmp_path / "scan.pdf", tmp_path / "drawing.pdf"]

    def again(ocr: Ocr | None) -> tuple[list[str], list[FileReport]]:
        scans.clear()
        report = ingest(store, files, embed_model=model, reading=Reading(ocr=ocr), workers=1)
        return list(scans), list(report.files)

    assert again(None)[0] == ["scan.pdf", "drawing.pdf"]
    assert again(None)[0] == []
    read, (scan, drawing) = again(ENGINE)
    assert read == ["scan.pdf", "drawing.pdf"]
    assert (scan.status, scan.page_states, scan.ocr_pages) == ("replaced", {}, {2: 0.9})
    assert (drawing.page_states, drawing.ocr_pages) == ({"image": (2,)}, {})
    assert words(store, "scanned") != []
    # It is tried once with one engine, and what was read stays when the engine goes.
    assert again(ENGINE)[0] == []
    read, (scan, _) = again(None)
    assert (read, scan.status, scan.ocr_pages) == ([], "unchanged", {2: 0.9})
    assert again(Ocr(("eng",), "/other"))[0] == ["scan.pdf", "drawing.pdf"]


@pytest.mark.parametrize("workers", [0, 1])
def test_each_page_that_ocr_begins_with_is_told_in_the_thread_of_the_ingest(
    store: Store, tmp_path: Path, model: HashEmbedding, scans: list[str], workers: int
) -> None:
    told: list[tuple[str, int, int]] = []

    def progress(file: str, stage: str, done: int, total: int) -> None:
        assert threading.current_thread() is threading.main_thread()
        if stage == "ocr":
            told.append((file, done, total))

    file = tmp_path / "scan.pdf"
    ingest(
        store,
        [file],
        embed_model=model,
        reading=Reading(ocr=ENGINE),
        progress=progress,
        workers=workers,
    )
    assert told == [(str(file), 1, 1)]
