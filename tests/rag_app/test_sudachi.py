"""The list of Japanese words in a whole index: built where asked for, searched as its own arm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from llama_index.core.schema import Document

from pipelines.analysers import fingerprints
from pipelines.errors import ConfigError, IndexMismatchError, MissingNodesError
from pipelines.sudachi import _fingerprint
from rag_app.index import Index
from rag_app.retrieval.strategy import Arm, Strategy
from tests.support.embedding import HashEmbedding

WORDS = Strategy("words", (Arm("words", "sudachi"),), fusion="max")
TEXTS = {
    "factory": "会社は四月に新しい工場を建てた。",
    "server": "古いサーバは倉庫に運ばれた。",
    "english": "The company 任天堂 built a new factory in April.",
    "chinese": "公司四月建造新工厂。",
}
RULES = Path(__file__).parents[2] / "data" / "shiomi-touki-shugyo-kisoku.pdf"
OTHER = "sudachi-2 sudachipy==0.1 sudachidict_small==2020"


def documents(*names: str) -> list[Document]:
    return [Document(text=TEXTS[name], id_=name) for name in names or TEXTS]


def make(path: Path, *names: str, pipeline: str = "sudachi") -> Index:
    index = Index.create(path, embed_model=HashEmbedding(), pipelines=[pipeline])
    index.ingest(documents(*names))
    return index


def found(index: Index, question: str, strategy: str | Strategy = WORDS) -> list[str | None]:
    return [hit.node.ref_doc_id for hit in index.as_retriever(strategy).retrieve(question)]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with make(tmp_path / "index") as made:
        yield made


def other_versions(index: Index, rule: str = OTHER) -> None:
    """Let the index say that other versions made its words."""
    with index.store.writer() as writer:
        config = replace(index.store.config, analysers=())
        writer.configure(config)
        writer.configure(replace(config, analysers=(("sudachi", rule),)))


def test_inflected_and_variant_words_find_the_passage(index: Index) -> None:
    assert found(index, "サーバー") == ["server"]
    assert found(index, "何を建てますか。") == ["factory"]


def test_passages_in_other_scripts_and_questions_in_them_have_no_vote(index: Index) -> None:
    assert found(index, "任天堂") == []
    assert found(index, "工厂") == []
    assert found(index, "factory") == []


def test_english_index_gives_what_hybrid_gives(tmp_path: Path) -> None:
    with make(tmp_path / "i", "english") as index:
        one, other = (
            [(hit.node.node_id, hit.score) for hit in index.as_retriever(name).retrieve("factory")]
            for name in ("hybrid", "sudachi")
        )
    assert one == other != []


def test_one_worker_or_two_count_the_same_words(tmp_path: Path) -> None:
    hits = []
    for workers in (1, 2):
        path = tmp_path / str(workers)
        with Index.create(path, embed_model=HashEmbedding(), pipelines=["sudachi"]) as index:
            index.ingest(RULES, workers=workers)
            found = index.as_retriever(WORDS).retrieve("所定労働時間")
            hits.append([(hit.node.node_id, hit.score) for hit in found])
    assert hits[0] == hits[1] != []


def test_strategy_adds_an_arm_that_explain_shows(index: Index) -> None:
    hit, *_ = index.as_retriever("sudachi").retrieve("工場を建てるのはいつですか。")
    assert hit.node.ref_doc_id == "factory"
    arms = {entry["arm"]: entry["text"] for entry in hit.node.metadata["matched"]}
    assert arms["words:sudachi"] == TEXTS["factory"]
    assert "words:parent" in arms
    shown = index.explain("工場を建てるのはいつですか。", strategy="sudachi").render()
    assert "words:sudachi, weight 0.5, 1 found" in shown


def test_an_index_without_the_list_says_how_to_build_it(tmp_path: Path) -> None:
    with make(tmp_path / "i", pipeline="hybrid") as index:
        assert index.info().config.analysers == ()
        with pytest.raises(MissingNodesError, match="rag ingest --pipeline sudachi"):
            index.as_retriever("sudachi")


def test_the_list_is_built_later_from_stored_text_and_then_costs_nothing(tmp_path: Path) -> None:
    with make(tmp_path / "i", pipeline="hybrid") as index:
        report = index.ingest(pipelines=["sudachi"])
        assert (set(report.completed), report.embedded) == (set(TEXTS), 0)
        assert found(index, "サーバー") == ["server"]
        generation = index.info().generation
        again = index.ingest(documents(), pipelines=["sudachi"])
        assert {one.status for one in again.files} == {"unchanged"}
        assert (again.completed, index.info().generation) == ((), generation)


def test_reopened_index_keeps_the_list_and_what_made_it(index: Index) -> None:
    index.close()
    with Index.open(index.path, embed_model=HashEmbedding()) as again:
        assert again.info().config.analysers == fingerprints(["sudachi"])
        assert found(again, "サーバー") == ["server"]
        assert again.info(verify=True).findings == ()


def test_removed_content_leaves_the_list(index: Index) -> None:
    index.remove("server")
    assert found(index, "サーバー") == []
    assert index.info(verify=True).findings == ()


def test_merged_index_has_the_list_of_both_and_completes_what_lacks_it(tmp_path: Path) -> None:
    with make(tmp_path / "a", "factory") as a, make(tmp_path / "b", "server") as b:
        with Index.merge([a, b], into=tmp_path / "ab", embed_model=HashEmbedding()) as merged:
            assert merged.info().config.analysers == fingerprints(["sudachi"])
            assert found(merged, "サーバー") == ["server"]
            assert found(merged, "建てる") == ["factory"]
        with make(tmp_path / "c", "server", pipeline="hybrid") as c:
            both = Index.merge([a, c], into=tmp_path / "ac", embed_model=HashEmbedding())
    with both:
        assert found(both, "サーバー") == []
        assert both.ingest().completed == ("server",)
        assert found(both, "サーバー") == ["server"]


def test_merge_of_lists_by_other_versions_names_both(tmp_path: Path) -> None:
    with make(tmp_path / "a", "factory") as a, make(tmp_path / "b", "server") as b:
        other_versions(b)
        with pytest.raises(IndexMismatchError, match=r"terms by sudachi: .*sudachipy==0\.1"):
            Index.merge([a.path, b.path], into=tmp_path / "ab")


def test_other_versions_stop_what_needs_the_list_and_nothing_else(index: Index) -> None:
    other_versions(index)
    install = r"pip install sudachipy==0\.1 sudachidict_small==2020"
    with pytest.raises(IndexMismatchError, match=install):
        index.as_retriever("sudachi")
    with pytest.raises(IndexMismatchError, match=install):
        index.ingest(documents("factory"))
    assert found(index, "工場", "hybrid")[0] == "factory"


def test_without_the_extra_nothing_is_made_and_the_command_is_named(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.sudachi.PACKAGES", ("sudachi-that-is-not-there",))
    _fingerprint.cache_clear()
    try:
        with pytest.raises(ConfigError, match="pip install"):
            Index.create(tmp_path / "new", embed_model=HashEmbedding(), pipelines=["sudachi"])
        with pytest.raises(ConfigError, match="pip install"):
            index.as_retriever("sudachi")
        with pytest.raises(ConfigError, match="pip install"):
            index.ingest(documents("factory"))
        assert found(index, "工場", "hybrid")[0] == "factory"
    finally:
        monkeypatch.undo()
        _fingerprint.cache_clear()
    assert not (tmp_path / "new").exists()
