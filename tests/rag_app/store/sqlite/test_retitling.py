"""A file that is renamed leaves the index as if it had always had that name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_app.index import Index
from rag_app.store.sqlite.store import open_store
from tests.support.embedding import HashEmbedding
from tests.support.pdfs import make_pdf

QUESTIONS = (
    "hammerfest",
    "zanzibar",
    "report of the harbour",
    "seven tonnes",
    "What does the hammerfest report say of cranes?",
    "annual zanzibar 2019",
)
PAGES = [
    "The annual harbour report.\nThe crane lifts seven tonnes in the north.",
    "The ferry of the harbour sails at noon. " * 40,
]


def _make(path: Path, pages: list[str] = PAGES, title: str = "Annual harbour report") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return make_pdf(path, pages, title=title)


def _other(folder: Path) -> None:
    _make(folder / "rotterdam.pdf", ["The quay of the other town has nine tonnes."], "Quay")


def _index(path: Path, *pipelines: str) -> Index:
    return Index.create(path, embed_model=HashEmbedding(), pipelines=pipelines or ("hybrid",))


def _all(index: Index, strategies: tuple[str, ...] = ("hybrid", "bm25")) -> Any:
    """All that is found, by id and exact score, and all that is stored of words and titles."""
    found = {
        (strategy, question): [
            (hit.node.node_id, hit.score, hit.node.metadata["title"])
            for hit in index.as_retriever(strategy, similarity_top_k=9).retrieve(question)
        ]
        for strategy in strategies
        for question in QUESTIONS
    }
    with index.store.snapshot() as snapshot:
        stored = {}
        for source in snapshot.sources():
            content = snapshot.export(source.content_hash)
            stored[source.content_hash] = (source.title, content.terms, content.lists)
    assert index.info(verify=True).findings == ()
    return found, stored


def _fresh(tmp_path: Path, given: list[Path], *pipelines: str) -> Any:
    with _index(tmp_path / "fresh", *pipelines) as index:
        index.ingest(given)
        return _all(index)


@pytest.mark.parametrize("old", ["hammerfest.pdf", "annual_harbour_report.pdf", "x.pdf"])
def test_rename_with_prune_gives_the_index_of_a_fresh_ingest(tmp_path: Path, old: str) -> None:
    folder = tmp_path / "in"
    path = _make(folder / old)
    _other(folder)
    with _index(tmp_path / "index") as index:
        index.ingest(folder)
        path.rename(folder / "zanzibar.pdf")
        index.ingest(folder, prune=True)
        renamed = _all(index)
    assert renamed == _fresh(tmp_path, [folder])
    words = next(hits for (how, question), hits in renamed[0].items() if question == "zanzibar")
    assert words[0][2].startswith("zanzibar")
    assert all(
        "hammerfest" not in terms
        for _, counts, _ in renamed[1].values()
        for terms in counts.values()
    )


def test_removal_of_the_first_of_two_names_gives_the_index_of_the_second(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    first, second = _make(folder / "hammerfest.pdf"), _make(folder / "zanzibar.pdf")
    _other(folder)
    with _index(tmp_path / "index") as index:
        index.ingest(first, second, folder)
        index.remove(first)
        left = _all(index)
    assert left == _fresh(tmp_path, [second, folder / "rotterdam.pdf"])


def test_removal_of_a_later_name_changes_nothing_that_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    first, second = _make(folder / "hammerfest.pdf"), _make(folder / "zanzibar.pdf")
    _other(folder)
    with _index(tmp_path / "index") as index:
        index.ingest(first, second, folder)
        index.remove(second)
        assert _all(index) == _fresh(tmp_path, [first, folder / "rotterdam.pdf"])


def test_file_that_takes_over_the_first_name_of_another_content_renames_that(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "in"
    first, second = _make(folder / "hammerfest.pdf"), _make(folder / "zanzibar.pdf")
    with _index(tmp_path / "index") as index:
        index.ingest(first, second)
        _make(first, ["Something else of nine tonnes."], "Other")
        index.ingest(first)
        assert _all(index) == _fresh(tmp_path, [second, first])


def test_ready_index_under_other_names_is_the_one_of_a_fresh_ingest(tmp_path: Path) -> None:
    path = _make(tmp_path / "in" / "hammerfest.pdf")
    with _index(tmp_path / "index") as index:
        index.ingest(path)
        moved = path.rename(tmp_path / "in" / "zanzibar.pdf")
        with index.store.snapshot() as snapshot:
            [source] = snapshot.sources()
        with index.store.writer() as writer:
            writer.rename({source.content_hash: [str(moved)]})
        assert _all(index) == _fresh(tmp_path, [moved])


def test_merge_under_other_names_is_the_index_of_a_fresh_ingest(tmp_path: Path) -> None:
    path, folder = _make(tmp_path / "in" / "hammerfest.pdf"), tmp_path / "in"
    with _index(tmp_path / "one") as one:
        one.ingest(path)
        with one.store.snapshot() as snapshot:
            [source] = snapshot.sources()
    moved = path.rename(folder / "zanzibar.pdf")
    names = {source.content_hash: [str(moved)]}
    model = HashEmbedding()
    with Index.merge([tmp_path / "one"], into=tmp_path / "m", names=names, embed_model=model) as m:
        assert _all(m) == _fresh(tmp_path, [moved])


def test_merge_of_one_content_under_two_names_counts_all_kinds_under_the_first(
    tmp_path: Path,
) -> None:
    first = _make(tmp_path / "a" / "hammerfest.pdf")
    second = _make(tmp_path / "b" / "zanzibar.pdf")
    with _index(tmp_path / "one", "naive") as one, _index(tmp_path / "two") as two:
        one.ingest(first)
        two.ingest(second)
    folders = [tmp_path / "one", tmp_path / "two"]
    with Index.merge(folders, into=tmp_path / "m", embed_model=HashEmbedding()) as merged:
        found, stored = _all(merged)
        merged.remove(first)
        left = _all(merged)[1]
    with _index(tmp_path / "both", "naive", "hybrid") as both:
        both.ingest(first)
        assert _all(both)[1] == stored
    assert found["bm25", "hammerfest"]
    [(title, terms, _)] = left.values()
    assert title.startswith("zanzibar")
    assert all("hammerfest" not in counts for counts in terms.values())


def test_rename_counts_japanese_words_again(tmp_path: Path) -> None:
    pytest.importorskip("sudachipy")
    pages = ["国立図書館の年次報告である。クレーンは七トンを持ち上げる。"]
    path = _make(tmp_path / "in" / "東京駅.pdf", pages, "")
    with _index(tmp_path / "index", "hybrid", "sudachi") as index:
        index.ingest(path)
        moved = path.rename(tmp_path / "in" / "大阪城.pdf")
        index.ingest(tmp_path / "in", prune=True)
        renamed = _all(index)
    assert renamed == _fresh(tmp_path, [moved], "hybrid", "sudachi")
    [(_, _, lists)] = renamed[1].values()
    assert lists["sudachi"]


def test_rename_that_is_stopped_leaves_title_and_words_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _make(tmp_path / "in" / "hammerfest.pdf")
    with _index(tmp_path / "index") as index:
        index.ingest(path)
        before = _all(index)
        path.rename(tmp_path / "in" / "zanzibar.pdf")
        monkeypatch.setattr("rag_app.store.sqlite.blobs.write_words", _fail)
        with pytest.raises(RuntimeError, match="stopped"):
            index.ingest(tmp_path / "in", prune=True)
        monkeypatch.undo()
        assert {s[0] for s in _all(index)[1].values()} == {s[0] for s in before[1].values()}
        found = index.as_retriever("bm25").retrieve("hammerfest")
        assert found[0].node.metadata["title"].startswith("hammerfest")
        index.ingest(tmp_path / "in", prune=True)
        assert _all(index) == _fresh(tmp_path, [tmp_path / "in"])


def _fail(*_: object, **__: object) -> None:
    raise RuntimeError("stopped")


def test_terms_that_only_the_old_name_used_are_forgotten(tmp_path: Path) -> None:
    path = _make(tmp_path / "in" / "hammerfest.pdf")
    with _index(tmp_path / "index") as index:
        index.ingest(path)
        path.rename(tmp_path / "in" / "zanzibar.pdf")
        index.ingest(tmp_path / "in", prune=True)
    with open_store(tmp_path / "index") as store, store.snapshot() as snapshot:
        _, counts = snapshot.document_frequencies("parent", ["hammerfest", "zanzibar"])
    assert counts == {"hammerfest": 0, "zanzibar": 1}
