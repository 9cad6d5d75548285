from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import ConfigError
from rag_app.retrieval.glossary import (
    GLOSSARY_WEIGHT,
    MAX_FOUND_TERMS,
    MAX_QUESTION_CHARS,
    Glossary,
    GlossaryTerm,
    folded,
    search_text,
    terms_in,
)
from rag_app.retrieval.retriever import JoinedRetriever, StrategyRetriever
from rag_app.retrieval.strategy import strategy_from_dict
from tests.support.embedding import HashEmbedding


def glossary(terms=(), statements=(), name="mine"):
    def entries(sort, given):
        return {folded(t): GlossaryTerm(name, sort, folded(t), (f"prints {t}",)) for t in given}

    return Glossary(name, entries("terms", terms), entries("statements", statements))


def found(question, *terms, statements=()):
    return [term.term for term in terms_in(question, [glossary(terms, statements)])]


@pytest.mark.parametrize(
    "question",
    [
        "What was the capex?",
        "CAPEX in 2020",
        "Adobe's capex, please",
        "capex's share",
        "the ﬁrst ｃａｐｅｘ",
        "non-capex items",
        "capexs of both",
    ],
)
def test_a_term_is_found_as_a_whole_word_whatever_its_capitals(question):
    assert found(question, "capex") == ["capex"]


@pytest.mark.parametrize("question", ["capexed", "recapex", "cap ex", "capex2", "capexses", ""])
def test_a_term_inside_another_word_is_none(question):
    assert found(question, "capex") == []


def test_terms_of_several_words_and_signs_are_found_over_any_white_space():
    assert found("Take the P&L  and\nthe balance   sheet.", "p&l", "balance sheet") == [
        "p&l",
        "balance sheet",
    ]
    assert found("the shareholders’ equity", "shareholders' equity") == ["shareholders' equity"]


def test_the_longest_of_terms_that_overlap_counts_in_each_sort():
    terms = ("working capital", "working capital ratio", "capital")
    assert found("the working capital ratio", *terms) == ["working capital ratio"]
    both = found("operating cash flow", "operating cash flow", statements=("cash flow",))
    assert both == ["operating cash flow", "cash flow"]


@pytest.mark.parametrize(
    ("question", "terms", "expected"),
    [
        ("冬のボーナスはいつですか", ("ボーナス",), ["ボーナス"]),
        ("残業代の計算", ("残業", "残業代"), ["残業代"]),
        ("残業の上限", ("残業", "残業代"), ["残業"]),
        ("スパークリングの在庫", ("リング",), []),
        ("リングの在庫", ("リング",), ["リング"]),
        ("ＲＯＥは何%", ("roe",), ["roe"]),
        ("売上と利益", ("売上",), ["売上"]),
    ],
)
def test_japanese_terms_stand_anywhere_but_inside_a_word_of_katakana(question, terms, expected):
    assert found(question, *terms) == expected


def test_no_more_terms_are_searched_than_the_limit_and_no_more_of_the_question_is_read():
    terms = [f"term{i}" for i in range(MAX_FOUND_TERMS + 5)]
    assert len(found(" ".join(terms), *terms)) == MAX_FOUND_TERMS
    assert found("x " * MAX_QUESTION_CHARS + "term1", "term1") == []


@given(st.text(max_size=60), st.lists(st.text("aあアs' ", min_size=2, max_size=6), max_size=4))
def test_whatever_is_found_stands_in_the_question(question, terms):
    known = [term for term in terms if len(folded(term)) > 1]
    for term in found(question, *known):
        assert term in folded(question)


def test_what_is_searched_names_each_print_once():
    terms = [GlossaryTerm("g", "terms", t, ("net sales", t)) for t in ("revenue", "turnover")]
    assert search_text(terms) == "net sales; revenue; turnover"
    assert search_text([]) == ""


PAGES = {
    "a.pdf": "Purchases of property, plant and equipment amounted to 30 in this year.",
    "b.pdf": "The capex of the firm is a topic of this letter.",
    "c.pdf": "The ferries are painted white.",
}
QUESTION = "What was the capex?"


@pytest.fixture
def store(build):
    return build(PAGES)


def files(nodes):
    return [hit.node.metadata["file_name"] for hit in nodes]


def test_what_documents_print_is_found_beside_what_the_question_says(store, model):
    words = strategy_from_dict(
        "words", {"arms": [{"how": "words", "kind": "parent"}], "fusion": "rrf"}
    )
    with_it = StrategyRetriever(store, words, embed_model=model).retrieve(QUESTION)
    without = StrategyRetriever(store, words, embed_model=model, glossary=["none"])
    assert files(without.retrieve(QUESTION)) == ["b.pdf"]
    assert files(with_it) == ["b.pdf", "a.pdf"]
    entry = with_it[1].node.metadata["matched"][0]
    assert entry["of_glossary"] is True
    assert "purchases of property, plant and equipment" in entry["query"]


def test_lists_of_a_glossary_have_less_weight_and_the_others_stay_as_they_are(store, model):
    shown = StrategyRetriever(store, embed_model=model).explain(QUESTION)
    plain = StrategyRetriever(store, embed_model=model, glossary=["none"]).explain(QUESTION)
    own = [arm for arm in shown.arms if not arm.of_glossary]
    assert [(a.arm, a.query, a.rows, a.weight) for a in own] == [
        (a.arm, a.query, a.rows, a.weight) for a in plain.arms
    ]
    assert {a.weight for a in shown.arms if a.of_glossary} == {GLOSSARY_WEIGHT}
    assert len(shown.arms) == 2 * len(own)


def test_a_passage_names_one_vote_of_a_glossary_beside_all_of_the_question(store, model):
    found = StrategyRetriever(store, embed_model=model).retrieve("What was the capex of the year?")
    for hit in found:
        matched = hit.node.metadata["matched"]
        assert sum(bool(entry.get("of_glossary")) for entry in matched) <= 1
        assert len(matched) > 1
    assert any(entry.get("of_glossary") for hit in found for entry in hit.node.metadata["matched"])


def test_a_question_without_a_term_is_searched_as_before(store, model):
    question = "Which colour do the ferries have?"
    with_it = StrategyRetriever(store, embed_model=model).retrieve_detailed(question)
    without = StrategyRetriever(store, embed_model=model, glossary=["none"])
    assert with_it.glossary == ()
    assert [(n.node.node_id, n.score) for n in with_it.nodes] == [
        (n.node.node_id, n.score) for n in without.retrieve(question)
    ]


def test_explain_names_the_terms_in_text_and_json(store, model):
    shown = StrategyRetriever(store, embed_model=model).explain(QUESTION)
    [term] = json.loads(json.dumps(shown.to_dict()))["glossary"]
    assert (term["glossary"], term["sort"], term["term"]) == ("accounting", "terms", "capex")
    assert "purchases of property, plant and equipment" in term["prints"]
    text = shown.render()
    assert "Terms of glossaries in the question\n  capex (accounting): " in text
    assert "words:parent rank 1 for the glossary: " in text


def test_what_a_glossary_says_is_embedded_once_for_several_questions(store):
    asked: list[str] = []

    class Counting(HashEmbedding):
        def _get_query_embedding(self, query):
            asked.append(query)
            return super()._get_query_embedding(query)

    retriever = StrategyRetriever(store, embed_model=Counting())
    for question in (QUESTION, "Was the capex large?", QUESTION):
        retriever.retrieve(question)
    printed = [text for text in asked if "purchases of property" in text]
    assert len(printed) == 1
    assert asked.count(QUESTION) == 2


@pytest.mark.parametrize("strategy", ["naive", "bm25"])
def test_a_strategy_of_raw_scores_searches_the_question_alone(store, model, strategy):
    found = StrategyRetriever(store, strategy, embed_model=model).retrieve_detailed(QUESTION)
    assert found.glossary == ()


def test_a_glossary_in_a_language_that_the_model_does_not_know_is_searched_by_words(build, model):
    store = build({"ja.pdf": "純資産合計に対する当期純利益。"}, scripts=("latin",))
    retriever = StrategyRetriever(store, embed_model=model, glossary=["accounting-ja"])
    found = retriever.retrieve_detailed("How high was the ROE?")
    assert found.degraded == []
    assert files(found.nodes) == ["ja.pdf"]
    silent = retriever.retrieve_detailed("ROEはいくらですか")
    assert {part.reason for part in silent.degraded} == {"hash does not know Japanese"}


def test_a_preset_names_glossaries_and_several_are_searched(store, model, tmp_path):
    (tmp_path / "mine.json").write_text('{"terms": {"firm": ["the ferries"]}}')
    names = ["accounting", str(tmp_path / "mine.json")]
    preset = strategy_from_dict("both", {"base": "hybrid", "glossary": names})
    found = StrategyRetriever(store, preset, embed_model=model).retrieve_detailed(
        "Is the capex of the firm high?"
    )
    named = [term for term in found.glossary if term.glossary != "synonyms"]
    assert [(term.glossary, term.term) for term in named] == [
        ("accounting", "capex"),
        ("mine", "firm"),
    ]


def test_several_indexes_search_with_the_glossary_of_the_first(build, model):
    parts = [
        StrategyRetriever(build(PAGES), embed_model=model, origin="A", glossary=["accounting"]),
        StrategyRetriever(build({"d.pdf": PAGES["a.pdf"] + " D."}), embed_model=model, origin="B"),
    ]
    found = JoinedRetriever(parts, similarity_top_k=4).retrieve_detailed(QUESTION)
    assert [term.term for term in found.glossary] == ["capex"]
    assert {"a.pdf", "d.pdf"} <= set(files(found.nodes))


@pytest.mark.parametrize("names", ["accounting", 5, [1], [None]])
def test_a_glossary_that_is_no_list_of_names_is_refused(names):
    with pytest.raises(ConfigError, match="glossary"):
        strategy_from_dict("mine", {"base": "hybrid", "glossary": names})
