"""Measures of one ranked list, judged by pages, ids or answers."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import (
    NodeWithScore,
    TextNode,
)

from rag_app.evaluation import Question
from rag_app.evaluation.metrics import Judged, coverage, judge, pages_of
from tests.rag_app.evaluation.ranked import passage


def test_page_recall_is_the_share_of_evidence_pages_in_the_union():
    question = Question("q", "1", pages=(("a.pdf", 3), ("a.pdf", 4), ("b.pdf", 9)))
    nodes = [passage(pages=[1]), passage(pages=[3, 4]), passage(pages=[9]), passage(pages=[3])]
    judged = judge(question, nodes)
    assert [judged.recall(k) for k in (1, 2, 3, 4)] == [0, 2 / 3, 2 / 3, 2 / 3]
    assert judged.reciprocal_rank(10) == 1 / 2
    assert (judged.hit(1), judged.hit(2)) == (0, 1)


def test_pages_of_another_file_do_not_count():
    judged = judge(Question("q", "1", pages=(("a.pdf", 3),)), [passage(pages=[3], file="b.pdf")])
    assert judged.recall(1) == 0


def test_pages_of_a_stock_node_come_from_its_label():
    node = TextNode(text="x", metadata={"file_path": "/somewhere/a.pdf", "page_label": "7"})
    assert pages_of(node) == [("a.pdf", 7)]
    assert pages_of(TextNode(text="x", metadata={"page_label": "iv"})) == []


def test_passages_collapse_to_documents_before_scoring():
    question = Question("q", "1", documents={"d2": 1.0})
    nodes = [passage(document="d1"), passage(document="d1"), passage(document="d2")]
    assert judge(question, nodes).reciprocal_rank(10) == 1 / 2


def test_nodes_without_a_source_count_by_their_own_id():
    node = NodeWithScore(node=TextNode(id_="p", text="x"))
    assert judge(Question("q", "1", documents={"p": 1.0}), [node]).hit(1) == 1
    assert judge(Question("q", "1", passages={"p": 1.0}), [node]).hit(1) == 1


def test_answers_are_found_in_other_unicode_forms():
    question = Question("q", "1", answers=("ﬁnance １２",))
    assert judge(question, [passage("no"), passage("Finance  12 grew")]).reciprocal_rank(5) == 0.5


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 3), min_size=1),
    st.permutations("abcdefghijkl"),
    st.integers(1, 12),
)
def test_measures_equal_those_of_ir_measures(gains, ranking, k):
    judged = judge(Question("q", "1", documents=gains), [passage(document=d) for d in ranking])
    qrels = [ir_measures.Qrel("1", doc, gain) for doc, gain in gains.items()]
    run = [ir_measures.ScoredDoc("1", doc, -float(place)) for place, doc in enumerate(ranking)]
    ours = {
        ir_measures.nDCG @ k: judged.ndcg(k),
        ir_measures.R @ k: judged.recall(k),
        ir_measures.RR @ k: judged.reciprocal_rank(k),
        ir_measures.Success @ k: judged.hit(k),
    }
    assert ours == pytest.approx(ir_measures.calc_aggregate(list(ours), qrels, run))


def test_ndcg_of_two_pages_in_one_passage_stays_below_one():
    judged = Judged((frozenset("ab"),), {"a": 1.0, "b": 1.0})
    assert judged.ndcg(5) == 1.0


def test_coverage_counts_words_inside_runs_of_four():
    evidence = "net revenue grew by 12 percent in the year"
    assert coverage([evidence], ["In 2019 Net revenue\ngrew by 12 percent."]) == 6 / 9
    assert coverage([evidence], ["revenue net by grew percent 12"]) == 0
    assert coverage([evidence], [evidence.upper()]) == 1


def test_coverage_of_short_and_of_japanese_evidence():
    assert coverage(["12 percent"], ["grew by 12 percent"]) == 1
    assert coverage(["12 percent"], ["12 of 100 percent"]) == 0
    assert coverage(["東京は日本の首都です"], ["東京は日本の首都ではない"]) == 9 / 10
    assert coverage([], ["x"]) == 0
