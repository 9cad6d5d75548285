"""Case 21: one copy, known origins, nothing embedded again, sources untouched."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from llama_index.core.schema import Document, IndexNode, TextNode

from pipelines.errors import ConfigError, IndexExistsError, IndexMismatchError
from rag_app.store.config import with_kinds
from rag_app.store.merging import merge
from rag_app.store.protocol import Prepared
from rag_app.store.sqlite import drafts
from rag_app.store.sqlite.schema import DATABASE, DERIVED, LOCK
from rag_app.store.sqlite.store import SqliteStore, create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared, vector

SHARED = ["Cats sit. Dogs run."]


def index(path: Path, *contents: Prepared, config=CONFIG) -> SqliteStore:
    store = create_store(path, config)
    with store.writer() as writer:
        for content in contents:
            writer.put(content)
    return store


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, SqliteStore]:
    one = index(tmp_path / "A", prepared("/a/x.pdf", SHARED), prepared("/n.pdf", ["Birds fly."]))
    two = index(tmp_path / "B", prepared("/b/x.pdf", SHARED), prepared("/n.pdf", ["Fish swim."]))
    return {"A": one, "B": two}


def files(path: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file() and not file.name.endswith("-shm")
    }


def test_a_shared_file_is_held_once_and_hits_know_their_origin(
    sources: dict[str, SqliteStore], tmp_path: Path
) -> None:
    before = {name: files(store.path) for name, store in sources.items()}
    report = merge(sources, tmp_path / "C")
    assert (report.contents, report.taken, report.shared) == (3, {"A": 2, "B": 1}, 1)
    assert {name: files(store.path) for name, store in sources.items()} == before
    with open_store(tmp_path / "C") as store, store.snapshot() as snapshot:
        held = sorted((source.names, source.origin) for source in snapshot.sources())
        assert held == [(("/a/x.pdf", "/b/x.pdf"), "A"), (("/n.pdf",), "A"), (("/n.pdf",), "B")]
        (hit,) = snapshot.search_words("parent", ["fish"], 5)
        assert snapshot.nodes([hit.passage_id])[hit.passage_id].metadata["origin"] == "B"
        assert store.verify() == []


def test_a_merged_index_answers_as_one_that_read_all_files(
    sources: dict[str, SqliteStore], tmp_path: Path
) -> None:
    merge(sources, tmp_path / "C").to_dict()
    fresh = index(
        tmp_path / "fresh",
        prepared(["/a/x.pdf", "/b/x.pdf"], SHARED),
        prepared("/n1.pdf", ["Birds fly."]),
        prepared("/n2.pdf", ["Fish swim."]),
    )
    with open_store(tmp_path / "C") as store, store.snapshot() as one, fresh.snapshot() as two:
        for query in ("cats run.", "fish fly.", "birds"):
            for kind in ("parent", "child-128"):
                assert one.search_words(kind, query.split(), 9) == two.search_words(
                    kind, query.split(), 9
                )
                assert one.search_vectors(kind, vector(query), 9) == two.search_vectors(
                    kind, vector(query), 9
                )


def test_names_of_both_stay_even_where_they_are_equal(
    sources: dict[str, SqliteStore], tmp_path: Path
) -> None:
    merge(sources, tmp_path / "C")
    with open_store(tmp_path / "C") as store:
        with store.snapshot() as snapshot:
            assert len(snapshot.sources()) == 3
        with store.writer() as writer:
            assert writer.remove(["/n.pdf"]) == 2


def test_kinds_that_only_one_has_come_along(tmp_path: Path) -> None:
    config = with_kinds(CONFIG, words=["piece"])
    passage = TextNode(id_="p", text="A passage.", metadata={"kind": "passage"})
    passage.start_char_idx, passage.end_char_idx = 0, 10
    piece = IndexNode(id_="q", text="Which?", index_id="p", metadata={"kind": "piece"})
    document = Document(id_="d", text="A passage.", metadata={"content_hash": "d"})
    ready = Prepared(
        names=("d",),
        document=document,
        nodes=[passage, piece],
        vectors={},
        terms={"p": {"passage": 1}, "q": {"which": 1}},
    )
    one = index(tmp_path / "A", prepared("/a.pdf", SHARED))
    two = index(tmp_path / "B", ready, config=config)
    merge({"A": one, "B": two}, tmp_path / "C")
    with open_store(tmp_path / "C") as store, store.snapshot() as snapshot:
        assert snapshot.config.word_kinds == ("parent", "piece")
        assert [hit.passage_id for hit in snapshot.search_words("piece", ["which"], 5)] == ["p"]
        assert len(snapshot.incomplete("piece", "words")) == 1


def test_a_shared_file_gets_the_kinds_of_both(tmp_path: Path) -> None:
    content = prepared("/a.pdf", SHARED)
    matrix = vector(SHARED[0])[None, :]
    more = {**content.vectors, "parent": ([content.nodes[0].node_id], matrix)}
    one = index(tmp_path / "A", content)
    config = with_kinds(CONFIG, vectors=["parent"])
    two = index(tmp_path / "B", replace(content, vectors=more), config=config)
    merge({"A": one, "B": two}, tmp_path / "C")
    with open_store(tmp_path / "C") as store, store.snapshot() as snapshot:
        assert len(snapshot.search_vectors("parent", vector("cats"), 5)) == 1
        assert snapshot.incomplete("parent", "vectors") == []
        assert store.verify() == []


def test_one_document_id_for_two_texts_keeps_both(tmp_path: Path) -> None:
    contents = []
    for text in ("Cats sit.", "Dogs run."):
        content = prepared("doc", [text])
        content.document.id_ = "doc"
        contents.append(content)
    one, two = (index(tmp_path / str(n), content) for n, content in enumerate(contents))
    merge({"A": one, "B": two}, tmp_path / "C")
    with open_store(tmp_path / "C") as store, store.snapshot() as snapshot:
        assert sorted(source.document_id for source in snapshot.sources()) == ["doc", "doc (B)"]
        assert snapshot.text("doc (B)", 0, 4) == "Dogs"


def test_a_merged_index_that_is_merged_again_keeps_the_first_origins(
    sources: dict[str, SqliteStore], tmp_path: Path
) -> None:
    merge(sources, tmp_path / "C")
    third = index(tmp_path / "D", prepared("/d.pdf", ["Cows moo."]))
    with open_store(tmp_path / "C") as merged:
        merge({"C": merged, "D": third}, tmp_path / "E")
    with open_store(tmp_path / "E") as store, store.snapshot() as snapshot:
        assert {source.origin for source in snapshot.sources()} == {"A", "B", "D"}


def test_different_models_are_refused_with_the_reason(tmp_path: Path) -> None:
    one = index(tmp_path / "A")
    two = index(tmp_path / "B", config=replace(CONFIG, embed_model="bge"))
    with pytest.raises(IndexMismatchError, match="embedding model: 'hash' in A, 'bge' in B"):
        merge({"A": one, "B": two}, tmp_path / "C")
    assert not (tmp_path / "C").exists()


def test_an_index_of_words_alone_goes_with_one_that_has_vectors(tmp_path: Path) -> None:
    words = replace(
        CONFIG, embed_model="", dimension=0, kinds=("parent",), vector_kinds=(), child_sizes=()
    )
    plain = replace(prepared("/b.pdf", ["Fish swim."]), vectors={})
    one = index(tmp_path / "A", plain, config=words)
    two = index(tmp_path / "B", prepared("/a.pdf", SHARED))
    merge({"A": one, "B": two}, tmp_path / "C")
    with open_store(tmp_path / "C") as store, store.snapshot() as snapshot:
        assert snapshot.config.embed_model == "hash"
        assert snapshot.config.dimension == CONFIG.dimension
        assert len(snapshot.incomplete("child-128", "vectors")) == 1


def test_an_index_that_is_there_is_not_written_over(
    sources: dict[str, SqliteStore], tmp_path: Path
) -> None:
    with pytest.raises(IndexExistsError):
        merge(sources, tmp_path / "A")
    with pytest.raises(ConfigError):
        merge({}, tmp_path / "C")


def test_a_merge_that_is_killed_leaves_no_index_and_can_be_repeated(
    sources: dict[str, SqliteStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(drafts, "sync_folder", lambda _: os.kill(os.getpid(), signal.SIGKILL))
        merge(sources, tmp_path / "C")
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert merge(sources, tmp_path / "C").contents == 3
    with open_store(tmp_path / "C") as store:
        assert store.verify() == []
    left = sorted(path.name for path in (tmp_path / "C").iterdir())
    assert left == [DATABASE, DERIVED, LOCK]


def test_a_merge_that_fails_leaves_nothing(
    sources: dict[str, SqliteStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(drafts, "_move", fail)
    with pytest.raises(OSError, match="No space"):
        merge(sources, tmp_path / "C")
    assert not (tmp_path / "C").exists()
