"""The retriever over a real store: k passages, evidence, languages, failures."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.schema import IndexNode, MetadataMode, QueryBundle, TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from pipelines.errors import (
    ConfigError,
    FilterError,
    IndexMismatchError,
    MissingNodesError,
    RetrievalError,
)
from rag_app.index import Index
from rag_app.retrieval.explain import explanation_of
from rag_app.retrieval.retriever import JoinedRetriever, StrategyRetriever
from rag_app.retrieval.strategy import STRATEGIES, Arm, Strategy
from rag_app.session import QuerySession
from rag_app.settings import load_settings
from tests.rag_app.retrieval.conftest import MANUAL, TOPICS, paged, prepare
from tests.support.embedding import HashEmbedding, hash_vector
from tests.support.hanging import MAX_HANG_S
from tests.support.resealing import reseal

JAPANESE = "京都は古い都です。\n\n東京は日本の首都です。\n\n大阪は商業の町です。"
VECTORS = Strategy("v", (Arm("vectors", "child-128"),), fusion="max")


class Broken(HashEmbedding):
    """Embeds no question."""

    def _get_query_embedding(self, query):
        raise RuntimeError("no GPU")


def texts(nodes):
    return [found.node.get_content() for found in nodes]


def ids(nodes):
    return [found.node.node_id for found in nodes]


def files(nodes):
    return {found.node.metadata["file_name"] for found in nodes}


@pytest.mark.parametrize("strategy", ["hybrid", "naive", "child_parent"])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_retrieve_gives_k_distinct_passages_whose_scores_fall(manual, model, strategy, k):
    nodes = StrategyRetriever(manual, strategy, embed_model=model, similarity_top_k=k).retrieve(
        "How is the valve tested?"
    )
    assert len(set(ids(nodes))) == k
    assert [n.score for n in nodes] == sorted((n.score for n in nodes), reverse=True)


def test_children_of_one_parent_do_not_push_others_out(build, model):
    """CASES 9: all best children point at one parent, and five parents come all the same."""
    same = "The valve is tested at 20 bar. " * 6
    store = build({"a.pdf": [same, *(f"The {t} is painted in red." * 8 for t in TOPICS)]})
    found = StrategyRetriever(store, VECTORS, embed_model=model).retrieve("valve tested at bar")
    assert len(set(ids(found))) == 5
    assert found[0].node.get_content().startswith("The valve")


def test_k_above_depth_is_filled_nevertheless(manual, model):
    retriever = StrategyRetriever(manual, "naive", embed_model=model, similarity_top_k=9, depth=2)
    assert len(retriever.retrieve("valve")) == 9


def test_k_above_what_the_index_holds_gives_all_of_it(build, model):
    store = build({"a.pdf": ["One page about the valve."]})
    assert len(StrategyRetriever(store, embed_model=model).retrieve("valve")) == 1


def test_an_empty_index_gives_nothing(build, model):
    assert StrategyRetriever(build({}), embed_model=model).retrieve("valve") == []
    assert StrategyRetriever(build({}), "bm25").retrieve("valve") == []


def test_evidence_is_the_best_child_of_each_arm(manual, model):
    found = StrategyRetriever(manual, embed_model=model).retrieve("number of the valve")[0]
    matched = found.node.metadata["matched"]
    assert {m["arm"] for m in matched} == {"vectors:child-256", "words:parent"}
    with manual.snapshot() as snapshot:
        children = snapshot.children(found.node.node_id, "child-256")
    best = max(
        children,
        key=lambda c: sum(
            a * b
            for a, b in zip(hash_vector(c.text), hash_vector("number of the valve"), strict=True)
        ),
    )
    child = next(m for m in matched if m["arm"] == "vectors:child-256")
    assert child["node_id"] == best.node_id
    assert child["text"] == best.text
    assert child["pages"] == [3]
    assert found.node.metadata["page"] == 3
    assert found.node.metadata["origin"] == ""


def test_evidence_of_words_is_the_sentence_that_holds_them(manual, model):
    found = StrategyRetriever(manual, "bm25").retrieve("number of the valve")[0]
    (match,) = found.node.metadata["matched"]
    assert match["text"] == "The valve has number 2."
    document = found.node.ref_doc_id
    with manual.snapshot() as snapshot:
        assert snapshot.text(document, match["start"], match["end"]) == match["text"]


def test_evidence_is_not_read_by_models(manual, model):
    node = StrategyRetriever(manual, embed_model=model).retrieve("valve")[0].node
    for mode in (MetadataMode.EMBED, MetadataMode.LLM):
        assert "matched" not in node.get_content(metadata_mode=mode)
        assert "origin" not in node.get_content(metadata_mode=mode)


def test_page_is_that_of_the_evidence_when_a_passage_lies_on_several(build, model):
    store = build({"a.pdf": ["Steel. " * 10, "The valve leaks."]})
    found = StrategyRetriever(store, embed_model=model, similarity_top_k=1).retrieve("valve leaks")
    assert found[0].node.metadata["pages"] == [1, 2]
    assert found[0].node.metadata["page"] == 2


def test_page_of_a_document_without_pages_is_null(build, model):
    found = StrategyRetriever(build({"note": "The valve leaks."}), embed_model=model).retrieve(
        "valve"
    )
    assert found[0].node.metadata["page"] is None


def test_what_a_caller_does_to_the_result_changes_nothing(manual, model):
    retriever = StrategyRetriever(manual, embed_model=model)
    before = retriever.retrieve("valve")
    kept = [found.model_copy(deep=True) for found in before]
    for found in before:
        found.node.set_content("overwritten")
        found.node.metadata.clear()
        found.score = 0.0
    assert retriever.retrieve("valve") == kept


def test_aretrieve_gives_the_same(manual, model):
    retriever = StrategyRetriever(manual, embed_model=model)
    assert asyncio.run(retriever.aretrieve("valve")) == retriever.retrieve("valve")


def test_aretrieve_does_not_block_the_loop(manual):
    embedding, looped = threading.Event(), threading.Event()

    class Slow(HashEmbedding):
        def _get_query_embedding(self, query):
            embedding.set()
            assert looped.wait(MAX_HANG_S), "the loop stood still"
            return hash_vector(query)

    async def ask():
        retriever = StrategyRetriever(manual, embed_model=Slow(), strict=True)
        task = asyncio.create_task(retriever.aretrieve("valve"))
        await asyncio.to_thread(embedding.wait, MAX_HANG_S)
        looped.set()
        return await task

    assert asyncio.run(ask())


def test_queries_that_wait_for_a_model_let_others_compute(manual):
    """Each of two queries gets on only when the other one has come as far."""
    embedding, writing = threading.Barrier(2), threading.Barrier(2)

    class Slow(HashEmbedding):
        def _get_query_embedding(self, query):
            embedding.wait(MAX_HANG_S)
            return hash_vector(query)

    def generate(question):
        writing.wait(MAX_HANG_S)
        return []

    retriever = StrategyRetriever(
        manual, "child_parent", embed_model=Slow(), query_generator=generate, strict=True
    )
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(retriever.retrieve, ["valve"] * 2))
    assert ids(both[0]) == ids(both[1]) != []


def test_many_threads_get_the_same_results(manual, model):
    retriever = StrategyRetriever(manual, embed_model=model)
    questions = [f"Which {topic} is tested?" for topic in TOPICS]
    expected = [ids(retriever.retrieve(question)) for question in questions]
    with ThreadPoolExecutor(8) as pool:
        assert [ids(nodes) for nodes in pool.map(retriever.retrieve, questions * 4)] == expected * 4


def test_each_query_sees_what_was_written_before_it(build, model):
    store = build({"a.pdf": ["The pump runs."]})
    retriever = StrategyRetriever(store, embed_model=model)
    retriever.retrieve("turbine")
    with store.writer() as writer:
        writer.put(prepare(paged("b.pdf", ["The turbine turns."], {}), store.config))
    assert texts(retriever.retrieve("turbine"))[0] == "The turbine turns."
    with store.writer() as writer:
        writer.remove(["b.pdf"])
    assert texts(retriever.retrieve("turbine")) == ["The pump runs."]


@pytest.mark.parametrize("question", ["日本の首都", "日本の首都はどこですか。"])
@pytest.mark.parametrize("strategy", ["bm25", "hybrid"])
def test_a_japanese_question_finds_its_sentence(build, model, question, strategy):
    """CASES 2: 「東京は日本の首都です」 comes first, its BM25 score above 0."""
    pages = JAPANESE.split("\n\n")
    store = build({f"{n}.pdf": [page] for n, page in enumerate(pages)}, scripts=("latin",))
    found = StrategyRetriever(store, strategy, embed_model=model).retrieve(question)
    assert found[0].node.get_content() == "東京は日本の首都です。"
    assert found[0].node.metadata["matched"][0]["score"] > 0


def test_without_a_lexical_match_the_vectors_decide(build, model):
    """CASES 3: BM25 gives nothing and adds nothing, the right passage stays first."""

    class Synonyms(HashEmbedding):
        def _get_query_embedding(self, query):
            return hash_vector("The turbine turns.")

    store = build({"a.pdf": ["The turbine turns."], "b.pdf": ["The pump runs."]})
    result = StrategyRetriever(store, embed_model=Synonyms()).retrieve_detailed(
        "rotating machinery"
    )
    assert texts(result.nodes)[0] == "The turbine turns."
    words = next(ranking for ranking in result.rankings if ranking.arm.how == "words")
    assert (words.found, words.status) == ((), "nothing")
    assert result.nodes[0].score == 1 / 11
    assert result.degraded == []
    assert StrategyRetriever(store, "bm25").retrieve("rotating machinery") == []


def test_a_filter_on_a_file_holds_on_every_arm(build, model):
    """CASES 22: k passages of that file, and no other file anywhere."""
    pages = [page + " It is steel. " * 25 for page in MANUAL]
    store = build({"a.pdf": pages, "b.pdf": pages[::-1], "c.pdf": ["The valve is tested."]})
    filters = MetadataFilters(filters=[MetadataFilter(key="file_name", value="b.pdf")])
    for strategy in STRATEGIES:
        if strategy in ("multi_vector", "sudachi"):
            continue
        retriever = StrategyRetriever(store, strategy, embed_model=model, filters=filters)
        result = retriever.retrieve_detailed("How is the valve tested?")
        assert files(result.nodes) == {"b.pdf"}
        assert strategy in ("bm25", "sentence_window") or len(result.nodes) == 5
        with store.snapshot() as snapshot:
            found = [f.node_id for r in result.rankings for f in r.found]
            nodes = snapshot.nodes(found).values()
        assert {node.metadata["file_name"] for node in nodes} == {"b.pdf"}


def test_a_filter_that_keeps_nothing_is_an_error_when_it_is_asked(manual, model):
    filters = MetadataFilters(filters=[MetadataFilter(key="page", value=99)])
    retriever = StrategyRetriever(manual, embed_model=model, filters=filters)
    with pytest.raises(FilterError, match="page == 99"):
        retriever.retrieve("valve")


def test_a_filter_with_an_unknown_key_names_the_known_ones(manual, model):
    filters = MetadataFilters(filters=[MetadataFilter(key="author", value="x")])
    with pytest.raises(FilterError, match="author") as caught:
        StrategyRetriever(manual, embed_model=model, filters=filters)
    assert "file_name" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The valve AX-450 leaks.", "Ｔｈｅ　ｖａｌｖｅ　ＡＸ－４５０"),
        ("The ﬁlter is ﬂat.", "flat filter"),
        ("The filter is flat.", "ﬂat ﬁlter"),
        ("ﾎﾟﾝﾌﾟの点検", "ポンプの点検"),
        ("ポンプの点検", "ﾎﾟﾝﾌﾟの点検"),
        ("Cafe\u0301 opening hours", "caf\u00e9"),
    ],
)
@pytest.mark.parametrize("strategy", ["bm25", "hybrid"])
def test_other_unicode_forms_are_the_same_question(build, model, text, question, strategy):
    """CASES 24."""
    store = build({"a.pdf": ["Nothing of that kind."], "b.pdf": [text]}, scripts=("latin",))
    found = StrategyRetriever(store, strategy, embed_model=model).retrieve(question)
    assert files(found[:1]) == {"b.pdf"}
    assert any(match["arm"] == "words:parent" for match in found[0].node.metadata["matched"])


def test_a_model_that_does_not_know_the_language_does_not_vote(build, model):
    store = build(
        {
            "a.pdf": ["京都は古い都です。"],
            "b.pdf": ["東京は日本の首都です。"],
            "c.pdf": ["The pump."],
        },
        scripts=("latin",),
    )
    result = StrategyRetriever(store, embed_model=Broken()).retrieve_detailed("日本の首都")
    words = StrategyRetriever(store, "bm25").retrieve("日本の首都")
    assert ids(result.nodes) == ids(words)
    assert {d.part for d in result.degraded} == {"vectors:child-256"}
    assert {d.kind for d in result.degraded} == {"silent"}
    assert "hash does not know Japanese" in str(result.degraded[0])
    assert result.degraded[0].hint


def test_a_silent_model_is_no_failure_when_strict(build):
    store = build({"a.pdf": ["東京は日本の首都です。"]}, scripts=("latin",))
    assert StrategyRetriever(store, embed_model=HashEmbedding(), strict=True).retrieve("首都")


def test_a_strategy_of_vectors_alone_is_silent_in_a_language_its_model_does_not_know(build, model):
    store = build({"a.pdf": ["東京は日本の首都です。"]}, scripts=("latin",))
    result = StrategyRetriever(store, "naive", embed_model=model).retrieve_detailed("首都")
    assert (list(result.nodes), [d.kind for d in result.degraded]) == ([], ["silent"])


def test_a_question_in_both_scripts_finds_passages_in_both(build, model):
    store = build(
        {"a.pdf": ["The USB-C port is on the left."], "b.pdf": ["USB-Cポートは左側にあります。"]},
        scripts=("latin",),
    )
    found = StrategyRetriever(store, embed_model=model).retrieve("Where is the USB-C ポート?")
    assert files(found) == {"a.pdf", "b.pdf"}


def test_one_failing_arm_is_reported_and_the_rest_answers(manual):
    result = StrategyRetriever(manual, embed_model=Broken()).retrieve_detailed("valve")
    assert ids(result.nodes) == ids(StrategyRetriever(manual, "bm25").retrieve("valve"))
    assert [(d.part, d.kind) for d in result.degraded] == [("vectors:child-256", "failed")]
    assert "no GPU" in result.degraded[0].reason


def test_one_failing_arm_raises_when_strict(manual):
    with pytest.raises(RetrievalError, match=r"vectors:child-256: .*no GPU"):
        StrategyRetriever(manual, embed_model=Broken(), strict=True).retrieve("valve")
    with pytest.raises(RetrievalError):
        StrategyRetriever(manual, embed_model=Broken()).as_strict().retrieve("valve")


def test_all_arms_failing_raises(manual):
    with pytest.raises(RetrievalError, match="every arm of 'naive'"):
        StrategyRetriever(manual, "naive", embed_model=Broken()).retrieve("valve")


@pytest.mark.parametrize("vector", [[0.0] * 64, [float("nan")] * 64])
def test_a_vector_without_direction_is_a_failing_arm(manual, vector):
    class Lost(HashEmbedding):
        def _get_query_embedding(self, query):
            return vector

    result = StrategyRetriever(manual, embed_model=Lost()).retrieve_detailed("valve")
    assert "without a direction" in result.degraded[0].reason


def test_a_model_of_another_dimension_always_raises(manual):
    class Short(HashEmbedding):
        def _get_query_embedding(self, query):
            return [1.0, 0.0]

    with pytest.raises(IndexMismatchError, match="hash"):
        StrategyRetriever(manual, embed_model=Short()).retrieve("valve")


def test_a_strategy_whose_nodes_are_missing_names_the_command(build, model):
    store = build({"a.pdf": ["x"]}, vector_kinds=("child-128", "child-256"))
    with pytest.raises(MissingNodesError, match="vectors:parent") as caught:
        StrategyRetriever(store, "naive", embed_model=model)
    assert "rag ingest --pipeline naive" in caught.value.hint
    with pytest.raises(MissingNodesError, match="child-96"):
        StrategyRetriever(store, Strategy("s", (Arm("vectors", "child-96"),)), embed_model=model)


def test_an_arm_of_weight_zero_needs_no_nodes(build, model):
    store = build({"a.pdf": ["The pump."]}, vector_kinds=())
    strategy = Strategy("s", (Arm("words", "parent"), Arm("vectors", "child-128", 0.0)))
    assert StrategyRetriever(store, strategy).retrieve("pump")


def test_vectors_without_a_model_raise_at_once(manual):
    with pytest.raises(ConfigError, match="searches by vectors"):
        StrategyRetriever(manual, "hybrid")


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_an_impossible_k_raises(manual, model, k):
    with pytest.raises(ConfigError, match="similarity_top_k"):
        StrategyRetriever(manual, embed_model=model, similarity_top_k=k)


@pytest.mark.parametrize("question", ["", " \n", "\u3000"])
def test_an_empty_question_raises(manual, model, question):
    with pytest.raises(ConfigError, match="empty"):
        StrategyRetriever(manual, embed_model=model).retrieve(question)


@pytest.mark.parametrize("question", ["?", "。", "\x00?", "the of and", "😀", "\ud800?"])
def test_a_question_without_words_does_no_harm(manual, model, question):
    assert StrategyRetriever(manual, embed_model=model).retrieve(question)


def test_generated_queries_are_searched_and_named_in_the_evidence(manual, model):
    retriever = StrategyRetriever(
        manual,
        embed_model=model,
        query_generator=lambda q: ["boiler number", q.upper(), " ", "boiler  number"],
    )
    result = retriever.retrieve_detailed("valve number")
    assert result.queries == ["valve number", "boiler number"]
    boiler = next(n for n in result.nodes if "boiler" in n.node.get_content())
    assert {m.get("query") for m in boiler.node.metadata["matched"]} >= {"boiler number"}


def test_a_generator_that_fails_leaves_the_question(manual, model):
    def fail(question):
        raise RuntimeError("no server")

    retriever = StrategyRetriever(manual, embed_model=model, query_generator=fail)
    result = retriever.retrieve_detailed("valve")
    assert [(d.part, d.reason) for d in result.degraded] == [("queries", "no server")]
    assert result.nodes
    with pytest.raises(RuntimeError):
        retriever.as_strict().retrieve("valve")


def test_an_embedding_in_the_query_bundle_is_used(manual):
    bundle = QueryBundle("valve", embedding=hash_vector("The boiler has number 5."))
    found = StrategyRetriever(manual, VECTORS, embed_model=Broken()).retrieve(bundle)
    assert "The boiler has number 5." in texts(found)[0]


def test_callbacks_of_llama_index_are_told(manual, model):
    handler = LlamaDebugHandler(print_trace_on_end=False)
    manager = CallbackManager([handler])
    StrategyRetriever(manual, embed_model=model, callback_manager=manager).retrieve("valve")
    assert len(handler.get_event_pairs(CBEventType.RETRIEVE)) == 1


def test_globals_of_llama_index_decide_nothing(manual, model, monkeypatch):
    from llama_index.core import Settings as Globals

    expected = StrategyRetriever(manual, embed_model=model).retrieve("valve")

    def fail(self, *args):
        raise AssertionError("a global was asked")

    for name in ("llm", "embed_model", "tokenizer", "callback_manager", "node_parser"):
        monkeypatch.setattr(type(Globals), name, property(fail))
    assert StrategyRetriever(manual, embed_model=model).retrieve("valve") == expected


def test_results_do_not_depend_on_the_order_of_arms(manual, model):
    hybrid = STRATEGIES["hybrid"]
    turned = replace(hybrid, arms=hybrid.arms[::-1])
    expected = StrategyRetriever(manual, hybrid, embed_model=model).retrieve("valve tested")
    found = StrategyRetriever(manual, turned, embed_model=model).retrieve("valve tested")
    assert [(n.node.node_id, n.score) for n in found] == [
        (n.node.node_id, n.score) for n in expected
    ]


def test_convex_fusion_is_a_strategy_like_any(manual, model):
    convex = replace(STRATEGIES["hybrid"], fusion="convex")
    found = StrategyRetriever(manual, convex, embed_model=model).retrieve("number of the valve")
    assert "The valve has number 2." in texts(found)[0]
    assert found[0].score <= 1


def test_depth_and_timings_are_told(manual, model):
    result = StrategyRetriever(manual, embed_model=model, depth=4).retrieve_detailed("valve")
    assert all(len(ranking.found) <= 5 for ranking in result.rankings)
    assert result.timings_ms["total"] >= result.timings_ms["arms"] > 0


class TestSentenceWindows:
    """CASES 19: overlapping windows are one passage, verbatim, no sentence twice."""

    TEXT = "Alpha one. The valve leaks. The valve drips. Delta four. Epsilon five. Zeta six. Eta."

    def retriever(self, build, **options):
        store = build(
            {"a.pdf": [self.TEXT], "b.pdf": ["Theta. Iota. The valve leaks. Kappa. Lambda."]}
        )
        model = HashEmbedding()
        return StrategyRetriever(store, "sentence_window", embed_model=model, **options)

    def test_overlapping_windows_are_merged_in_retrieval(self, build):
        found = self.retriever(build, similarity_top_k=2).retrieve("The valve leaks.")
        assert files(found) == {"a.pdf", "b.pdf"}
        node = next(n.node for n in found if n.node.metadata["file_name"] == "a.pdf")
        text = node.get_content()
        assert text in self.TEXT
        assert "The valve leaks. The valve drips." in text
        assert self.TEXT[node.start_char_idx : node.end_char_idx] == text
        assert len(node.metadata["matched"]) >= 2

    def test_k_counts_merged_passages(self, build):
        sentences = " ".join(
            f"The valve {n} leaks. Word{n} here. More{n} there." for n in range(30)
        )
        store = build({"a.pdf": [sentences]})
        retriever = StrategyRetriever(
            store, "sentence_window", embed_model=HashEmbedding(), similarity_top_k=12, depth=12
        )
        found = retriever.retrieve("The valve leaks.")
        assert len(found) == 12
        spans = sorted((n.node.start_char_idx, n.node.end_char_idx) for n in found)
        assert all(one[1] <= two[0] for one, two in pairwise(spans))

    def test_arms_rank_deeper_until_k_windows_are_apart(self, build):
        near = "The valve leaks. " * 4
        far = " ".join(f"Word{n} here. More{n} there. A valve {n}. Next{n}." for n in range(6))
        store = build({"a.pdf": [f"{near}{far}"]})
        result = StrategyRetriever(
            store, "sentence_window", embed_model=HashEmbedding(), similarity_top_k=3, depth=3
        ).retrieve_detailed("The valve leaks.")
        assert len(result.nodes) == 3
        assert len(result.rankings[0].found) > 3

    def test_when_all_windows_meet_fewer_than_k_come(self, build):
        found = self.retriever(build, similarity_top_k=5).retrieve("The valve leaks.")
        assert 2 <= len(found) < 5

    def test_a_window_over_a_page_break_names_both_pages(self, build):
        store = build({"a.pdf": ["One. Two. The valve leaks.", "It drips. Five. Six."]})
        retriever = StrategyRetriever(
            store, "sentence_window", embed_model=HashEmbedding(), similarity_top_k=1
        )
        node = retriever.retrieve("The valve leaks.")[0].node
        assert node.metadata["pages"] == [1, 2]


class TestJoined:
    def joined(self, build, contents, scripts=("*",), **options):
        retrievers = [
            StrategyRetriever(
                build(texts, scripts=scripts), embed_model=HashEmbedding(), origin=name, **options
            )
            for name, texts in contents.items()
        ]
        return JoinedRetriever(retrievers)

    def test_results_say_which_index_they_come_from(self, build):
        joined = self.joined(
            build, {"A": {"a.pdf": ["The valve leaks."]}, "B": {"b.pdf": ["The pump runs."]}}
        )
        found = joined.retrieve("pump")
        assert [n.node.metadata["origin"] for n in found] == ["B", "A"]
        assert asyncio.run(joined.aretrieve("pump")) == found

    def test_one_content_in_both_comes_once(self, build):
        page = ["The valve leaks."]
        found = self.joined(build, {"A": {"a.pdf": page}, "B": {"a.pdf": page}}).retrieve("valve")
        assert len(found) == 1
        assert found[0].score == 2 / 11

    def test_the_better_match_of_either_index_comes_first_by_words_too(self, build):
        noise = {f"{n}.pdf": [f"都市{n}の天気です。"] for n in range(30)}
        joined = self.joined(
            build,
            {"A": noise, "B": {"b.pdf": ["東京は日本の首都です。"]}},
            scripts=("latin",),
        )
        assert joined.retrieve("日本の首都")[0].node.metadata["origin"] == "B"
        turned = self.joined(
            build,
            {"B": {"b.pdf": ["東京は日本の首都です。"]}, "A": noise},
            scripts=("latin",),
        )
        assert turned.retrieve("日本の首都")[0].node.metadata["origin"] == "B"

    def test_indexes_of_different_models_are_fused_by_rank(self, build):
        class Other(HashEmbedding):
            def _get_query_embedding(self, query):
                return [-x for x in hash_vector(query)]

        one, two = build({"a.pdf": ["The valve leaks."]}), build({"b.pdf": ["The valve drips."]})
        two._config = replace(two.config, embed_model="other")
        with two.writer() as writer:
            writer._sql.execute(
                "UPDATE state SET config = replace(config, '\"hash\"', '\"other\"')"
            )
            reseal(writer._sql, two.path)
        joined = JoinedRetriever(
            [
                StrategyRetriever(one, embed_model=HashEmbedding(), origin="A"),
                StrategyRetriever(two, embed_model=Other(), origin="B"),
            ]
        )
        result = joined.retrieve_detailed("valve")
        assert len(result.rankings) == 3
        assert {n.node.metadata["origin"] for n in result.nodes} == {"A", "B"}

    def test_k_is_the_first_ones_or_its_own(self, build):
        contents = {"A": {"a.pdf": MANUAL}, "B": {"b.pdf": MANUAL}}
        assert self.joined(build, contents, similarity_top_k=1).similarity_top_k == 1
        retrievers = [
            StrategyRetriever(build(texts), embed_model=HashEmbedding(), origin=name)
            for name, texts in contents.items()
        ]
        assert len(JoinedRetriever(retrievers, similarity_top_k=2).retrieve("valve")) == 2

    def test_without_indexes_or_with_equal_names_it_raises(self, build, manual, model):
        with pytest.raises(ConfigError, match="no index"):
            JoinedRetriever([])
        same = StrategyRetriever(manual, embed_model=model)
        with pytest.raises(ConfigError, match="origin"):
            JoinedRetriever([same, same])
        named = [same.named("A"), same.named("B")]
        assert JoinedRetriever(named).retrieve("valve")[0].node.metadata["origin"] == "A"


def test_any_embedding_model_of_llama_index_serves(manual):
    class Foreign(BaseEmbedding):
        def _get_query_embedding(self, query):
            return [3 * x for x in hash_vector(query)]

        async def _aget_query_embedding(self, query):
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text):
            return hash_vector(text)

    ours = StrategyRetriever(manual, embed_model=HashEmbedding()).retrieve("valve")
    assert ids(StrategyRetriever(manual, embed_model=Foreign()).retrieve("valve")) == ids(ours)


def test_a_piece_finds_the_passage_that_it_points_at(tmp_path):
    """A text that is no part of the passage is searched; the passage is what comes back."""
    passages = [
        TextNode(id_=f"p{n}", text=f"Section {n} of the manual.", metadata={"file_name": "m.pdf"})
        for n in range(3)
    ]
    piece = IndexNode(id_="q", index_id="p1", text="How do I bleed the radiator?")
    with Index.create(
        tmp_path / "index",
        embed_model=HashEmbedding(),
        pipelines=("hybrid", "multi_vector"),
        settings=load_settings(),
    ) as index:
        assert not index.ingest([*passages, piece]).failed
        found = index.as_retriever("multi_vector").retrieve("bleed the radiator")
    assert found[0].node.node_id == "p1"
    assert found[0].node.get_content() == "Section 1 of the manual."
    arms = {match["arm"]: match["text"] for match in found[0].node.metadata["matched"]}
    assert arms["vectors:piece"] == arms["words:piece"] == piece.text


def test_a_node_that_is_gone_from_a_damaged_index_is_left_out(manual, model):
    class Damaged:
        def __init__(self, inner, lost):
            self.inner, self.lost = inner, lost

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def nodes(self, ids):
            return {k: v for k, v in self.inner.nodes(ids).items() if k != self.lost}

    retriever = StrategyRetriever(manual, embed_model=model)
    first = ids(retriever.retrieve("valve"))[0]
    with QuerySession(retriever.stores) as session:
        views = retriever._views(session)
        broken = [replace(view, snapshot=Damaged(view.snapshot, first)) for view in views]
        result = retriever._search(QueryBundle("valve"), broken)
        shown = explanation_of(result, 5, 3)
    assert result.reading.gone == [first]
    assert first not in ids(result.nodes)
    assert len(result.nodes) == 5
    assert shown.fused[0].outcome == "missing"


def test_a_word_that_stands_nowhere_is_searched_by_its_synonyms(build, model):
    store = build({"a.pdf": ["在宅勤務は週二日です。"], "b.pdf": ["できますか。できますよ。"]})
    result = StrategyRetriever(store, embed_model=model).retrieve_detailed("テレワークできますか")
    assert files(result.nodes) == {"a.pdf", "b.pdf"}
    (term,) = result.glossary
    assert (term.glossary, term.term) == ("synonyms", "テレワーク")
    assert "在宅勤務" in term.prints


def test_synonyms_of_a_word_that_the_index_holds_are_not_searched(build, model):
    store = build({"a.pdf": ["在宅勤務は週二日です。"], "b.pdf": ["テレワークできます。"]})
    result = StrategyRetriever(store, embed_model=model).retrieve_detailed("テレワークできますか")
    assert result.glossary == ()


def test_synonyms_are_not_searched_without_glossaries(build, model):
    store = build({"a.pdf": ["The managing director left."]})
    retriever = StrategyRetriever(store, embed_model=model)
    assert [one.term for one in retriever.retrieve_detailed("Who is the CEO?").glossary] == ["ceo"]
    without = StrategyRetriever(store, embed_model=model, glossary=["none"])
    assert without.retrieve_detailed("Who is the CEO?").glossary == ()
