"""The harness: any BaseRetriever, judged by pages, ids or answers."""

from __future__ import annotations

import json
import random

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

from pipelines.errors import ConfigError
from rag_app.evaluation import Question, compare, evaluate, interval, load_questions
from rag_app.evaluation.metrics import Judged, coverage, judge, pages_of


def passage(text="", pages=(), file="a.pdf", document="doc", id_=None):
    node = TextNode(text=text, metadata={"file_name": file, "pages": list(pages)})
    if id_:
        node.id_ = id_
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document)
    return NodeWithScore(node=node, score=1.0)


class Fixed(BaseRetriever):
    """Answers each question with a list that was decided before."""

    def __init__(self, answers):
        super().__init__()
        self.answers = answers

    def _retrieve(self, query_bundle: QueryBundle):
        return self.answers[query_bundle.query_str]


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


def test_evaluate_reports_each_measure_with_its_interval():
    retriever = Fixed(
        {
            "one": [passage("alpha beta", [1]), passage("gamma", [2, 3])],
            "two": [passage("delta", [9]), passage("epsilon", [8])],
        }
    )
    questions = [
        Question("one", "1", pages=(("a.pdf", 2),)),
        Question("two", "2", pages=(("a.pdf", 9), ("a.pdf", 5))),
        Question("three", "3"),
    ]
    done = []
    report = evaluate(retriever, questions, ks=(1, 2), budgets=(3,), progress=done.append)
    assert report.skipped == ("3",)
    assert done == [1, 2]
    assert report.values("recall@1") == {"1": 0, "2": 0.5}
    assert report.mean("mrr@2").mean == 0.75
    assert report.values("pages_per_passage@2") == {"1": 1.5, "2": 1}
    assert report.values("tokens@1")["1"] == 2
    as_json = json.loads(json.dumps(report.to_dict()))
    assert as_json["questions"] == 2
    assert as_json["metrics"]["hit@2"] == {"mean": 1, "low": 1, "high": 1}
    assert "recall@2" in report.table()


def test_evaluate_at_a_budget_reads_whole_passages_and_one_at_least():
    long, short = "word " * 50, "brief words"
    nodes = [passage(long, [1]), passage(short, [2]), passage(short, [3])]
    question = [Question("q", "1", pages=(("a.pdf", 2),))]
    report = evaluate(Fixed({"q": nodes}), question, ks=(1,), budgets=(10, 53, 1000))
    read = [report.values(f"passages_in_{budget}")["1"] for budget in (10, 53, 1000)]
    assert read == [1, 2, 3]
    assert report.values("recall_in_10")["1"] == 0
    assert report.values("recall_in_53")["1"] == 1


def test_evaluate_with_page_texts_measures_how_much_of_them_is_read():
    question = [Question("q", "1", pages=(("a.pdf", 2),))]
    retriever = Fixed({"q": [passage("net revenue grew by 12 percent", [2])]})
    text = {("a.pdf", 2): "net revenue grew by 12 percent last year again"}
    report = evaluate(retriever, question, ks=(1,), page_text=lambda *page: text[page])
    assert report.values("coverage@1")["1"] == 6 / 9
    assert report.values("covered@1")["1"] == 0


def test_evaluate_runs_strict_where_the_retriever_can():
    class Strict(Fixed):
        def as_strict(self):
            return Fixed({"q": [passage(pages=[1])]})

    question = [Question("q", "1", pages=(("a.pdf", 1),))]
    assert evaluate(Strict({}), question, ks=(1,)).mean("hit@1").mean == 1


def test_evaluate_of_an_empty_result_gives_zeros():
    report = evaluate(Fixed({"q": []}), [Question("q", "1", answers=("x",))])
    assert report.mean("recall@5").mean == 0
    assert report.mean("tokens@5").mean == 0


@pytest.mark.parametrize("wrong", [{"ks": ()}, {"ks": (0,)}, {"budgets": (0,)}])
def test_evaluate_with_impossible_k_or_budget_raises(wrong):
    with pytest.raises(ConfigError):
        evaluate(Fixed({}), [], **wrong)


def test_evaluate_without_any_evidence_raises():
    with pytest.raises(ConfigError, match="no question has evidence"):
        evaluate(Fixed({}), [Question("q", "1")])


def test_interval_is_the_same_for_the_same_seed_and_holds_the_mean():
    values = [random.Random(3).random() for _ in range(50)]
    assert interval(values, seed=1) == interval(values, seed=1)
    assert interval(values).low <= interval(values).mean <= interval(values).high
    assert f"{interval([0.5, 0.5]):.2f}" == "0.50 [0.50, 0.50]"


def test_interval_covers_the_true_mean_about_as_often_as_it_says():
    rng = random.Random(0)
    inside = 0
    for seed in range(200):
        found = interval([rng.random() for _ in range(40)], seed=seed, resamples=300)
        inside += found.low <= 0.5 <= found.high
    assert 175 <= inside <= 200


def test_interval_drawn_in_parts_is_as_long_as_asked(monkeypatch):
    monkeypatch.setattr("rag_app.evaluation.bootstrap._MAX_DRAWS", 10)
    assert interval([0.0, 1.0, 2.0], resamples=50).low >= 0


@pytest.mark.parametrize("wrong", [{"values": []}, {"resamples": 0}, {"level": 1.0}])
def test_interval_of_impossible_input_raises(wrong):
    with pytest.raises(ConfigError):
        interval(**{"values": [1.0], **wrong})


def test_compare_gives_paired_differences():
    questions = [Question(str(n), str(n), documents={"d": 1}) for n in range(20)]
    good = evaluate(Fixed({str(n): [passage(document="d")] for n in range(20)}), questions)
    half = Fixed({str(n): [passage(document="d" if n % 2 else "x")] for n in range(20)})
    difference = compare(good, evaluate(half, questions))["hit@1"]
    assert difference.mean == 0.5
    assert 0 < difference.low < 0.5 < difference.high < 1


def test_compare_where_one_finds_nothing_for_a_question_compares_the_rest():
    questions = [Question("q", str(n), pages=(("a.pdf", n),)) for n in (1, 2)]
    all_found = Fixed({"q": [passage("x", [1])]})
    none_found = Fixed({"q": []})
    differences = compare(evaluate(all_found, questions), evaluate(none_found, questions))
    assert differences["recall@5"].mean == 0.5
    assert "pages_per_passage@5" not in differences


def test_compare_of_other_questions_raises():
    one, two = Question("q", "1", answers=("x",)), Question("q", "2", answers=("x",))
    reports = [evaluate(Fixed({"q": []}), [question]) for question in (one, two)]
    with pytest.raises(ConfigError, match="same questions"):
        compare(*reports)


def test_mean_of_a_measure_that_was_not_taken_names_those_that_were():
    report = evaluate(Fixed({"q": []}), [Question("q", "1", answers=("x",))])
    with pytest.raises(ConfigError) as caught:
        report.mean("map")
    assert "recall@5" in caught.value.hint


def test_load_questions_reads_all_kinds_of_evidence(tmp_path):
    lines = [
        {"question": "a", "evidence": [{"file": "x/a.pdf", "page": 2, "text": "t"}] * 2},
        {"id": "b", "question": "b", "documents": {"d": 2, "e": 0}},
        {"question": "c", "passages": ["p"], "answer": "yes"},
        {"question": "d"},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("\ufeff" + "\n\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    a, b, c, d = load_questions(path)
    assert (a.id, a.pages, a.texts) == ("1", (("a.pdf", 2),), ("t", "t"))
    assert b.documents == {"d": 2.0}
    assert (c.passages, c.answers) == ({"p": 1.0}, ("yes",))
    assert not d.measurable


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "line 1"),
        ("[]", "line 1"),
        ('{"question": "a", "evidence": [{"page": 1}]}', "KeyError"),
        ('{"question": "a", "evidence": ["a.pdf"]}', "AttributeError|TypeError"),
        ('{"id": 1, "question": "a"}\n{"id": 1, "question": "b"}', "two questions"),
    ],
)
def test_load_questions_of_a_wrong_file_says_where(tmp_path, content, says):
    path = tmp_path / "questions.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=says):
        load_questions(path)


def test_load_questions_of_a_missing_file_raises(tmp_path):
    with pytest.raises(ConfigError, match="nowhere"):
        load_questions(tmp_path / "nowhere.jsonl")
