"""Postprocessors of LlamaIndex between fusion and the choice of k."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from llama_index.core.postprocessor import (
    LongContextReorder,
    MetadataReplacementPostProcessor,
    SimilarityPostprocessor,
)
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from pydantic import Field

from pipelines.errors import ConfigError, RetrievalError, StoreError
from rag_app.retrieval.rerank import ModelReranker, load_reranker
from rag_app.retrieval.retriever import JoinedRetriever, StrategyRetriever
from rag_app.retrieval.strategy import STRATEGIES, Strategy, get_strategy

QUESTION = "What is the number of the valve?"
HERE = __name__


class Reversed(BaseNodePostprocessor):
    """Scores the candidates from worst to best, and notes what it was given."""

    seen: list = Field(default_factory=list)
    top_n: int = 99

    def _postprocess_nodes(self, nodes, query_bundle=None):
        self.seen.append((query_bundle.query_str, [n.node.node_id for n in nodes]))
        turned = [
            NodeWithScore(node=n.node, score=np.float32(rank))
            for rank, n in enumerate(nodes, start=1)
        ]
        return turned[::-1][: self.top_n]


class Returns(BaseNodePostprocessor):
    """Returns what it is told to."""

    make: object = None

    def _postprocess_nodes(self, nodes, query_bundle=None):
        return self.make(nodes)


class Unready(BaseNodePostprocessor):
    def __init__(self):
        raise OSError("no weights here")

    def _postprocess_nodes(self, nodes, query_bundle=None):
        return nodes


def returns(make):
    return Returns(make=make)


def raises(error):
    def make(nodes):
        raise error

    return returns(make)


def reversed_one():
    return Reversed()


def retriever(store, model, **options):
    return StrategyRetriever(store, embed_model=model, **options)


def ids(nodes):
    return [found.node.node_id for found in nodes]


def test_the_first_passages_go_in_and_the_k_best_come_out(build, model):
    store = build({f"{n}.pdf": [f"The valve of engine {n} leaks."] for n in range(40)})
    plain = retriever(store, model, similarity_top_k=40).retrieve(QUESTION)
    chooser = reversed_one()
    found = retriever(store, model, similarity_top_k=3, node_postprocessors=[chooser]).retrieve(
        QUESTION
    )
    [(asked, given)] = chooser.seen
    assert asked == QUESTION
    assert given == ids(plain)[:30]
    assert ids(found) == given[::-1][:3]
    assert [one.score for one in found] == [30, 29, 28]
    assert all(type(one.score) is float for one in found)


def test_depth_bounds_the_candidates_and_k_is_served_in_any_case(manual, model):
    for k, depth, candidates in ((2, 4, 4), (6, 4, 6)):
        chooser = reversed_one()
        retriever(
            manual, model, similarity_top_k=k, depth=depth, node_postprocessors=[chooser]
        ).retrieve(QUESTION)
        assert len(chooser.seen[0][1]) == candidates


def test_without_postprocessors_nothing_changes(manual, model):
    plain = retriever(manual, model).retrieve(QUESTION)
    assert retriever(manual, model, node_postprocessors=[]).retrieve(QUESTION) == plain
    assert "rerank" not in retriever(manual, model).retrieve_detailed(QUESTION).timings_ms


def test_several_run_one_after_the_other(manual, model):
    first, second = reversed_one(), reversed_one()
    found = retriever(manual, model, node_postprocessors=[first, second]).retrieve(QUESTION)
    assert second.seen[0][1] == first.seen[0][1][::-1]
    assert ids(found) == first.seen[0][1][:5]


def test_a_stock_filter_and_a_stock_reordering_work(manual, model):
    plain = retriever(manual, model, similarity_top_k=10).retrieve(QUESTION)
    cutoff = plain[2].score
    few = retriever(
        manual,
        model,
        similarity_top_k=10,
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=cutoff)],
    ).retrieve(QUESTION)
    assert few == [one for one in plain if one.score >= cutoff]
    plain = retriever(manual, model, similarity_top_k=30).retrieve(QUESTION)
    reordered = retriever(
        manual, model, similarity_top_k=30, node_postprocessors=[LongContextReorder()]
    ).retrieve(QUESTION)
    expected = LongContextReorder().postprocess_nodes(list(plain))
    assert ids(reordered) == ids(expected) != ids(plain)


@pytest.mark.parametrize(
    "score", [lambda rank: None, lambda rank: float("nan"), float, lambda rank: float("inf")]
)
def test_scores_fall_along_the_list_whatever_a_postprocessor_gives(manual, model, score):
    def make(nodes):
        return [NodeWithScore(node=n.node, score=score(rank)) for rank, n in enumerate(nodes)]

    found = retriever(manual, model, node_postprocessors=[returns(make)]).retrieve(QUESTION)
    assert [one.score for one in found] == [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]


def test_what_is_done_to_the_nodes_changes_neither_the_index_nor_the_evidence(manual, model):
    def spoil(nodes):
        for one in nodes:
            one.node.set_content("overwritten")
            one.node.metadata.clear()
            one.node.excluded_llm_metadata_keys.clear()
        return nodes

    plain = retriever(manual, model).retrieve(QUESTION)
    found = retriever(manual, model, node_postprocessors=[returns(spoil)]).retrieve(QUESTION)
    assert {one.node.get_content() for one in found} == {"overwritten"}
    for before, after in zip(plain, found, strict=True):
        for key in ("matched", "page", "origin"):
            assert after.node.metadata[key] == before.node.metadata[key]
        assert "matched" not in after.node.get_content(metadata_mode=MetadataMode.LLM)
    assert retriever(manual, model).retrieve(QUESTION) == plain


def test_a_stock_replacement_gets_copies(manual, model):
    replacing = MetadataReplacementPostProcessor(target_metadata_key="heading")
    plain = retriever(manual, model).retrieve(QUESTION)
    retriever(manual, model, node_postprocessors=[replacing]).retrieve(QUESTION)
    assert retriever(manual, model).retrieve(QUESTION) == plain


def test_a_node_given_twice_comes_once_and_a_new_one_may_come(manual, model):
    def make(nodes):
        new = NodeWithScore(node=TextNode(id_="new", text="A summary."), score=9.0)
        return [new, nodes[1], nodes[1], nodes[0], nodes[1]]

    found = retriever(manual, model, node_postprocessors=[returns(make)]).retrieve(QUESTION)
    plain = retriever(manual, model).retrieve(QUESTION)
    assert ids(found) == ["new", plain[1].node.node_id, plain[0].node.node_id]


@pytest.mark.parametrize(
    "broken",
    [raises(RuntimeError("out of memory")), returns(lambda _: None), returns(lambda _: ["a"])],
)
def test_one_that_fails_is_reported_and_the_fused_order_stays(manual, model, broken):
    plain = retriever(manual, model)
    fails = retriever(manual, model, node_postprocessors=[broken])
    result = fails.retrieve_detailed(QUESTION)
    assert list(result.nodes) == plain.retrieve(QUESTION)
    [degraded] = result.degraded
    assert (degraded.part, degraded.kind) == ("postprocessor:Returns", "failed")
    with pytest.raises(RetrievalError, match="Returns failed"):
        fails.as_strict().retrieve(QUESTION)


def test_a_wrong_configuration_or_index_is_always_an_error(manual, model):
    for error in (ConfigError("no model"), StoreError("damaged")):
        with pytest.raises(type(error), match=error.message):
            retriever(manual, model, node_postprocessors=[raises(error)]).retrieve(QUESTION)


def test_one_that_leaves_nothing_gives_nothing(manual, model):
    nothing = retriever(manual, model, node_postprocessors=[returns(lambda _: [])])
    assert nothing.retrieve(QUESTION) == []


def test_several_indexes_are_postprocessed_together_and_once(build, manual, model):
    other = build({"other.pdf": ["The valve of the other engine leaks."]})
    parts = [
        retriever(store, model, origin=origin, node_postprocessors=[raises(RuntimeError("part"))])
        for store, origin in ((manual, "one"), (other, "two"))
    ]
    chooser = reversed_one()
    joined = JoinedRetriever(parts, similarity_top_k=2, node_postprocessors=[chooser], session=None)
    result = joined.retrieve_detailed(QUESTION)
    assert ids(result.nodes) == chooser.seen[0][1][::-1][:2]
    assert len(chooser.seen) == 1
    assert not result.degraded


def test_explain_shows_what_was_chosen_and_its_place_before(manual, model):
    chooser = reversed_one()
    shown = retriever(manual, model, similarity_top_k=2, node_postprocessors=[chooser]).explain(
        QUESTION, top=50
    )
    assert shown.postprocessors == ("Reversed",)
    given = chooser.seen[0][1]
    assert [row.passage_id for row in shown.chosen] == given[::-1][:2]
    assert [row.fused_rank for row in shown.chosen] == [len(given), len(given) - 1]
    returned = {row.passage_id for row in shown.fused if row.outcome == "returned"}
    assert returned == set(given[-2:])
    assert "Chosen by Reversed" in shown.render()
    json.dumps(shown.to_dict())
    plain = retriever(manual, model).explain(QUESTION)
    assert (plain.postprocessors, plain.chosen) == ((), ())
    assert "Chosen" not in plain.render()


# Fused.


def fusing(store, model, k=3, **options):
    strategy = replace(STRATEGIES["hybrid"], rerank_fused=True)
    return retriever(store, model, strategy=strategy, similarity_top_k=k, **options)


def moved_up(nodes):
    """The last one first, the others as they were."""
    return [NodeWithScore(node=n.node, score=None) for n in (nodes[-1], *nodes[:-1])]


def test_a_fused_order_counts_both_ranks(manual, model):
    plain = retriever(manual, model, similarity_top_k=30).retrieve(QUESTION)
    found = fusing(manual, model, node_postprocessors=[returns(moved_up)]).retrieve(QUESTION)
    last, count = plain[-1].node.node_id, len(plain)
    sums = {one.node.node_id: 1 / (10 + r) + 1 / (11 + r) for r, one in enumerate(plain, 1)}
    sums[last] = 1 / (10 + count) + 1 / 11
    best = sorted(sums, key=lambda key: (-sums[key], key))[:3]
    assert ids(found) == best
    assert [one.score for one in found] == pytest.approx([sums[key] for key in best])
    assert best[0] == ids(plain)[0], "the order before holds it up"


def test_what_a_postprocessor_takes_out_stays_out_of_a_fusion(manual, model):
    plain = retriever(manual, model, similarity_top_k=30).retrieve(QUESTION)
    second = returns(lambda nodes: nodes[1:2])
    assert ids(fusing(manual, model, node_postprocessors=[second]).retrieve(QUESTION)) == [
        plain[1].node.node_id
    ]


def test_a_fusion_with_one_that_failed_changes_nothing(manual, model):
    plain = retriever(manual, model, similarity_top_k=3).retrieve(QUESTION)
    result = fusing(manual, model, node_postprocessors=[raises(OSError("x"))]).retrieve_detailed(
        QUESTION
    )
    assert list(result.nodes) == plain
    assert result.reranked == {}


def test_explain_shows_what_the_model_gave_beside_the_fused_score(manual, model):
    shown = fusing(manual, model, node_postprocessors=[reversed_one()]).explain(QUESTION, top=50)
    count = len({row.passage_id for row in shown.fused})
    for row in shown.chosen:
        assert row.reranked_rank == count + 1 - row.fused_rank
        assert row.reranked_score == row.fused_rank
        assert f"reranked rank {row.reranked_rank} ({row.reranked_score:.4f})" in shown.render()


def test_a_named_one_gives_all_that_a_fusion_needs(manual, model):
    strategy = Strategy(
        "x", STRATEGIES["hybrid"].arms, rerank=f"{HERE}:Reversed", rerank_fused=True
    )
    named = StrategyRetriever(manual, strategy, embed_model=model, similarity_top_k=2)
    given = fusing(manual, model, 2, node_postprocessors=[reversed_one()])
    assert named.retrieve(QUESTION) == given.retrieve(QUESTION)


# By a model's scores.


def by_length(question, texts):
    return [float(len(text)) for text in texts]


def test_a_models_scores_order_the_passages_and_equal_ones_stay_in_their_order():
    nodes = [NodeWithScore(node=TextNode(id_=text, text=text)) for text in ("b", "ccc", "a", "dd")]
    chooser = ModelReranker(label="mine", top_n=3, scores=by_length)
    found = chooser.postprocess_nodes(nodes, query_str=QUESTION)
    assert [(one.node.node_id, one.score) for one in found] == [("ccc", 3), ("dd", 2), ("b", 1)]
    assert chooser.postprocess_nodes([], query_str=QUESTION) == []
    with pytest.raises(ConfigError, match="no question"):
        chooser.postprocess_nodes(nodes)


def test_too_few_scores_are_a_failure_and_not_fewer_passages(manual, model):
    chooser = ModelReranker(label="mine", top_n=3, scores=lambda question, texts: [1.0])
    result = retriever(manual, model, node_postprocessors=[chooser]).retrieve_detailed(QUESTION)
    assert list(result.nodes) == retriever(manual, model).retrieve(QUESTION)
    assert [one.part for one in result.degraded] == ["postprocessor:mine"]


def test_a_language_model_needs_an_index():
    with pytest.raises(ConfigError, match="only for an index"):
        load_reranker("llm", 5)


# By name.


def test_a_preset_names_one_that_is_told_how_many_are_asked_for(manual, model):
    presets = {"turned": {"base": "hybrid", "rerank": f"{HERE}:Reversed", "rerank_depth": 7}}
    strategy = get_strategy("turned", presets)
    found = StrategyRetriever(manual, strategy, embed_model=model, similarity_top_k=2)
    plain = retriever(manual, model, similarity_top_k=7).retrieve(QUESTION)
    assert ids(found.retrieve(QUESTION)) == ids(plain)[:-3:-1]
    assert load_reranker(f"{HERE}:Reversed", 4).top_n == 4
    assert isinstance(load_reranker(f"{HERE}:reversed_one", 4), Reversed)


def test_none_given_in_python_switches_off_what_the_strategy_names(manual, model):
    strategy = Strategy("x", STRATEGIES["hybrid"].arms, rerank=f"{HERE}:Unready")
    with pytest.raises(ConfigError, match="no weights here"):
        StrategyRetriever(manual, strategy, embed_model=model)
    off = StrategyRetriever(manual, strategy, embed_model=model, node_postprocessors=())
    assert off.retrieve(QUESTION) == retriever(manual, model).retrieve(QUESTION)


@pytest.mark.parametrize(
    "name",
    [
        "cross-encoder",
        "no_such_package.module:Reranker",
        f"{HERE}:NoSuchClass",
        f"{HERE}:Unready",
        f"{HERE}:QUESTION",
        "builtins:dict",
        ":x",
        "x:",
        "../evil:X",
    ],
)
def test_a_name_that_gives_no_postprocessor_is_an_error_that_says_the_form(name):
    with pytest.raises(ConfigError) as raised:
        load_reranker(name, 5)
    assert repr(name) in raised.value.message
    assert "package.module:NAME" in raised.value.hint


@pytest.mark.parametrize(
    "wrong", [{"rerank": 5}, {"rerank_depth": 0}, {"rerank_depth": True}, {"rerank_fused": 1}]
)
def test_a_preset_with_a_wrong_value_is_an_error(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        get_strategy("mine", {"mine": {"base": "hybrid", **wrong}})
