"""The façade in a plain LlamaIndex program, and what opening an index compares."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings as GlobalSettings
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.schema import Document, IndexNode, TextNode
from llama_index.core.tools import QueryEngineTool
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from pipelines.documents import content_hash
from pipelines.errors import (
    ConfigError,
    IndexExistsError,
    IndexMismatchError,
    IndexNotFoundError,
    MissingNodesError,
)
from rag_app.index import Index
from rag_app.joined import JoinedIndex
from rag_app.settings import load_settings
from rag_app.store.sqlite.schema import DERIVED
from tests.support.embedding import HashEmbedding

DATA = Path(__file__).parents[2] / "data"
FERRIES = DATA / "marrowby-ferries-annual-report-2025.pdf"
REVIEW = DATA / "larkfield-reservoir-review.pdf"
QUESTION = "To what sum did the allowance for ground works at the tower grow?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "reports"
    with Index.create(folder, embed_model=HashEmbedding()) as index:
        report = index.ingest(FERRIES, REVIEW)
    assert [one.status for one in report.files] == ["added", "added"]
    return folder


@pytest.fixture
def index(folder: Path) -> Iterator[Index]:
    with Index.open(folder, embed_model=HashEmbedding()) as opened:
        yield opened


def test_retriever_and_engine_are_llamaindex_objects(index: Index) -> None:
    assert isinstance(index.as_retriever(), BaseRetriever)
    assert isinstance(index.as_query_engine(), BaseQueryEngine)


def test_query_when_document_answers_gives_cited_sentence(index: Index) -> None:
    answer = index.as_query_engine().query(QUESTION)
    assert "$4.2 million" in str(answer)
    first = answer.to_dict()["citations"][0]
    assert (first["file"], first["pages"]) == (REVIEW.name, [1, 2])


def test_retriever_in_llamaindex_evaluator_is_measured(index: Index) -> None:
    retriever = index.as_retriever(similarity_top_k=3)
    expected = [retriever.retrieve(QUESTION)[0].node.node_id]
    evaluator = RetrieverEvaluator.from_metric_names(["hit_rate", "mrr"], retriever=retriever)
    result = asyncio.run(evaluator.aevaluate(QUESTION, expected))
    assert result.metric_vals_dict == {"hit_rate": 1.0, "mrr": 1.0}


def test_engine_as_llamaindex_tool_answers(index: Index) -> None:
    tool = QueryEngineTool.from_defaults(index.as_query_engine(), name="reports", description="x")
    assert "$4.2 million" in str(tool.call(QUESTION))


def test_engine_with_globals_that_raise_gives_the_same_answer(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = index.as_query_engine().query(QUESTION).to_dict()

    class Raises:
        def __get__(self, *_: Any) -> Any:
            raise AssertionError("a global of LlamaIndex was read")

    kind = type(GlobalSettings)
    for name in ("llm", "embed_model", "callback_manager", "tokenizer", "node_parser"):
        monkeypatch.setattr(kind, name, Raises())
    after = index.as_query_engine().query(QUESTION).to_dict()
    before.pop("timings_ms"), after.pop("timings_ms")
    assert after == before


def test_results_when_changed_by_caller_leave_the_index_as_it_was(index: Index) -> None:
    first = index.as_retriever().retrieve(QUESTION)
    texts = [one.node.get_content() for one in first]
    for one in first:
        one.node.metadata.clear()
        one.node.set_content("changed")
    assert [one.node.get_content() for one in index.as_retriever().retrieve(QUESTION)] == texts


def test_filter_on_a_file_finds_only_that_file(index: Index) -> None:
    filters = MetadataFilters(filters=[MetadataFilter(key="file_name", value=FERRIES.name)])
    found = index.as_retriever(filters=filters).retrieve(QUESTION)
    assert {one.node.metadata["file_name"] for one in found} == {FERRIES.name}


def test_strategy_whose_nodes_are_missing_says_which_command_builds_them(index: Index) -> None:
    with pytest.raises(MissingNodesError, match="rag ingest --pipeline sentence_window"):
        index.as_retriever("sentence_window").retrieve(QUESTION)


def test_ingest_of_a_further_pipeline_builds_it_for_what_is_there(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i", embed_model=HashEmbedding()) as index:
        index.ingest(REVIEW)
        report = index.ingest(REVIEW, pipelines=["sentence_window"])
        assert [one.status for one in report.files] == ["unchanged"]
        assert index.as_retriever("sentence_window").retrieve(QUESTION)


def test_an_index_is_created_opened_and_merged_by_its_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = HashEmbedding()
    first, both = (tmp_path / "first").as_uri(), (tmp_path / "both").as_uri()
    with Index.create(first, embed_model=model) as index:
        index.ingest(Document(text="Cranes lift twelve tonnes.", id_="crane"))
    with Index.create(first, embed_model=model, exist_ok=True) as again:
        assert len(again.info().sources) == 1
    with Index.merge([first], into=both, embed_model=model) as merged:
        assert len(merged.info().sources) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"first", "both"}


def test_create_where_an_index_is_raises_unless_it_may_exist(folder: Path) -> None:
    with pytest.raises(IndexExistsError):
        Index.create(folder, embed_model=HashEmbedding())
    with Index.create(folder, embed_model=HashEmbedding(), exist_ok=True) as index:
        assert len(index.info().sources) == 2


def test_open_where_no_index_is_raises(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFoundError):
        Index.open(tmp_path / "nothing")


def test_open_with_another_model_of_the_same_dimension_names_both(folder: Path) -> None:
    """Case 18."""
    with pytest.raises(IndexMismatchError, match=r"'hash'.*'other'"):
        Index.open(folder, embed_model=HashEmbedding(model_name="other"))


def test_open_with_another_parent_size_names_both(folder: Path) -> None:
    settings = load_settings(parent_size=512)
    with pytest.raises(IndexMismatchError, match=r"1024.*512"):
        Index.open(folder, embed_model=HashEmbedding(), settings=settings)


def test_queries_without_a_language_model_is_an_error(index: Index) -> None:
    with pytest.raises(ConfigError, match="language model"):
        index.as_retriever(queries=3)


def test_bm25_pipeline_alone_needs_no_embedding_model(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i", pipelines=["bm25"]) as index:
        report = index.ingest(REVIEW)
        assert report.embedded == 0
        assert index.embed_model is None
        answer = index.as_query_engine("bm25").query("What was the allowance for ground works?")
        assert "$4.2 million" in str(answer)


def test_llamaindex_documents_are_ingested_and_cited_without_page(tmp_path: Path) -> None:
    text = "The lighthouse at Skarn was lit in 1871. It stands on a granite ledge."
    with Index.create(tmp_path / "i", embed_model=HashEmbedding()) as index:
        index.ingest(Document(text=text, id_="skarn"))
        answer = index.as_query_engine().query("When was the lighthouse at Skarn lit?")
    assert "1871" in str(answer)
    assert answer.to_dict()["citations"][0]["page"] is None


def test_passages_with_pieces_are_found_by_their_pieces(tmp_path: Path) -> None:
    passage = TextNode(text="Rule 7: leave it for a full day before you touch it.", id_="rule7")
    piece = IndexNode(text="How long does the varnish dry?", index_id="rule7")
    with Index.create(
        tmp_path / "i", embed_model=HashEmbedding(), pipelines=["hybrid", "multi_vector"]
    ) as index:
        index.ingest([passage, piece])
        found = index.as_retriever("multi_vector").retrieve("How long does the varnish dry?")
    assert found[0].node.get_content() == passage.text
    assert piece.text in [one["text"] for one in found[0].node.metadata["matched"]]


def test_merge_keeps_both_and_names_the_origin(tmp_path: Path) -> None:
    """Case 21."""
    model = HashEmbedding()
    for name, file in (("a", FERRIES), ("b", REVIEW)):
        with Index.create(tmp_path / name, embed_model=model) as one:
            one.ingest(file)
    embedded = model.embedded
    Index.merge([tmp_path / "a", tmp_path / "b"], into=tmp_path / "c").close()
    with Index.open(tmp_path / "c", embed_model=model) as merged:
        found = merged.as_retriever().retrieve(QUESTION)
        assert len(merged.info(verify=True).findings or ()) == 0
    assert model.embedded == embedded
    assert found[0].node.metadata["origin"] == "b"


def test_merge_of_folders_with_one_name_takes_both(tmp_path: Path) -> None:
    model = HashEmbedding()
    places = [tmp_path / "a" / "index", tmp_path / "b" / "index"]
    for place, file in zip(places, (FERRIES, REVIEW), strict=True):
        with Index.create(place, embed_model=model) as one:
            one.ingest(file)
    with Index.merge(places, into=tmp_path / "c") as merged:
        sources = merged.info().sources
    assert {source.origin for source in sources} == {str(place) for place in places}


def test_merge_under_given_names_takes_only_those_and_names_no_origin(tmp_path: Path) -> None:
    model = HashEmbedding()
    with Index.create(tmp_path / "a", embed_model=model) as one:
        one.ingest(FERRIES, REVIEW)
        wanted = content_hash(REVIEW)
        with Index.merge([one], into=tmp_path / "c", names={wanted: ["/new.pdf"]}) as merged:
            (source,) = merged.info(verify=True).sources
            assert merged.info(verify=True).findings == ()
    assert (source.content_hash, source.names, source.origin) == (wanted, ("/new.pdf",), "")
    assert source.title.startswith("new")


def test_info_counts_the_derived_files(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i", embed_model=HashEmbedding()) as index:
        index.ingest(REVIEW)
        derived = sum(file.stat().st_size for file in (index.path / DERIVED).iterdir())
        database = (index.path / "index.sqlite").stat().st_size
        assert index.info().bytes >= derived + database


def test_joined_indexes_answer_together_and_name_the_origin(tmp_path: Path) -> None:
    model = HashEmbedding()
    indexes = []
    for name, file in (("a", FERRIES), ("b", REVIEW)):
        indexes.append(Index.create(tmp_path / name, embed_model=model))
        indexes[-1].ingest(file)
    with JoinedIndex(indexes) as joined:
        answer = joined.as_query_engine().query(QUESTION)
        first = answer.to_dict()["citations"][0]
    assert (first["origin"], first["file"]) == ("b", REVIEW.name)


def test_info_names_scripts_that_the_model_does_not_know(tmp_path: Path) -> None:
    model = HashEmbedding(scripts=("latin",))
    with Index.create(tmp_path / "i", embed_model=model) as index:
        index.ingest(DATA / "shiomi-touki-shugyo-kisoku.pdf")
        assert index.info().silent_scripts == ("cjk",)


def test_remove_of_a_file_leaves_nothing_of_it(tmp_path: Path) -> None:
    """Case 11."""
    with Index.create(tmp_path / "i", embed_model=HashEmbedding()) as index:
        index.ingest(FERRIES, REVIEW)
        index.remove(REVIEW)
        found = index.as_retriever(similarity_top_k=50).retrieve(QUESTION)
        assert {one.node.metadata["file_name"] for one in found} == {FERRIES.name}
        assert index.info(verify=True).findings == ()


def test_question_in_new_kanji_finds_old_kanji_and_quotes_them_verbatim(tmp_path: Path) -> None:
    texts = {
        "library": "國立圖書館の舊館は昭和三年に竣工した。",
        "people": "髙橋部長と渡邊課長は契約を擔當する。",
        "tower": "水道塔は大正二年に完成した。",
    }
    with Index.create(tmp_path / "index", embed_model=HashEmbedding()) as index:
        index.ingest(*(Document(text=text, id_=name) for name, text in texts.items()))
        engine = index.as_query_engine()
        library = engine.query("国立図書館の旧館はいつ竣工しましたか。")
        people = engine.query("渡辺課長は何を担当しますか。")
    assert "國立圖書館の舊館は昭和三年に竣工した。" in str(library)
    assert "渡邊課長は契約を擔當する" in str(people)
