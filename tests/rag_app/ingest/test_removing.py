"""What a name given to ``remove`` means."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core.schema import Document

from pipelines.errors import ConfigError
from rag_app.ingest import ingest, remove
from rag_app.ingest.removing import find_names, prune_names
from rag_app.store.protocol import Store
from tests.support.embedding import HashEmbedding

KNOWN = ["/x/a.pdf", "/x/sub/a.pdf", "/x/sub/b.pdf", "doc-1"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("/x/a.pdf", ["/x/a.pdf"]),
        ("/x/../x/a.pdf", ["/x/a.pdf"]),
        ("/x/sub", ["/x/sub/a.pdf", "/x/sub/b.pdf"]),
        ("/x/su", []),
        ("b.pdf", ["/x/sub/b.pdf"]),
        ("doc-1", ["doc-1"]),
        ("unknown.pdf", []),
    ],
)
def test_a_name_is_a_path_a_folder_a_file_name_or_an_id(name: str, meant: list[str]) -> None:
    assert find_names(name, KNOWN) == meant


def test_name_composed_otherwise_is_found_and_the_very_same_one_first() -> None:
    composed, decomposed = "/x/r\u00e9sum\u00e9.pdf", "/x/re\u0301sume\u0301.pdf"
    assert find_names(composed, [decomposed]) == [decomposed]
    assert find_names("r\u00e9sum\u00e9.pdf", [decomposed]) == [decomposed]
    for name in (composed, decomposed):
        assert find_names(name, [composed, decomposed]) == [name]
        assert find_names(Path(name).name, [composed, decomposed]) == [name]
    assert find_names("/x", [composed, decomposed]) == [composed, decomposed]


def test_empty_name_means_nothing_and_not_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_names("", [str(tmp_path / "a.pdf")]) == []


def test_prune_when_a_folder_may_not_be_looked_into_forgets_nothing(
    store: Store, folder: Path, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(store, [folder], embed_model=model)

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("rag_app.ingest.removing.os.lstat", refuse)
    with store.snapshot() as snapshot:
        known = snapshot.names()
    with store.writer() as writer:
        assert prune_names(store, writer, [folder]) == ()
    with store.snapshot() as snapshot:
        assert snapshot.names() == known != []


def test_a_relative_path_is_taken_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_names("sub/b.pdf", [str(tmp_path / "sub" / "b.pdf")])


def test_a_file_name_of_several_files_is_an_error() -> None:
    with pytest.raises(ConfigError, match="2 files") as error:
        find_names("a.pdf", KNOWN)
    assert "/x/sub/a.pdf" in error.value.hint


def test_remove_reports_what_went_and_what_was_not_there(
    store: Store, folder: Path, model: HashEmbedding
) -> None:
    """Case 11."""
    ingest(store, [folder, Document(id_="one", text="Whales sing.")], embed_model=model)
    report = remove(store, [folder / "sub", "one", "unknown.pdf"])
    assert report.to_dict() == {
        "removed": [str(folder / "sub" / "c.PDF"), "one"],
        "unknown": ["unknown.pdf"],
        "contents": 2,
    }
    with store.snapshot() as snapshot:
        assert len(snapshot.sources()) == 2
        assert snapshot.search_words("parent", ["whale", "bird"], 5) == []
    assert store.verify() == []
