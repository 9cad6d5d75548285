"""The sentence that is shown for what words matched."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pipelines.analysers import query_terms
from pipelines.sentences import sentence_spans
from rag_app.retrieval.matched_sentences import best_sentence
from rag_app.retrieval.retriever import StrategyRetriever
from tests.support.sentences import sentence_table_at

SENTENCES = (
    "The pump is red.",
    "The valve is new.",
    "Its number is 450.",
    "京都は古い都です。",
    "The pump has a valve\nof steel.",
)
QUERIES = ("pump", "valve of steel", "450 pump valve", "京都の都", "nothing of it")


def even(query):
    """Every term of a query weighs the same."""
    return dict.fromkeys(query_terms(query), 1.0)


def span(text, query, sentences=None):
    found = best_sentence(text, even(query), sentences)
    return None if found is None else text[slice(*found)].strip()


def test_best_sentence_holds_most_of_the_question():
    text = "The pump is red. The pump has a valve of steel. The valve is old."
    assert span(text, "steel valve of the pump") == "The pump has a valve of steel."


def test_best_sentence_prefers_a_word_that_is_rare_in_the_text():
    text = "The pump is red. The pump is new. The pump is old. Its number is 450."
    assert span(text, "pump 450") == "Its number is 450."


def test_best_sentence_in_japanese():
    assert (
        span("京都は古い都です。東京は日本の首都です。", "日本の首都") == "東京は日本の首都です。"
    )


def test_best_sentence_of_texts_without_the_words_is_none():
    assert best_sentence("The pump is red.", even("首都")) is None
    assert best_sentence("", even("pump")) is None
    assert best_sentence("The pump.", {}) is None


def test_best_sentence_of_a_long_passage_is_whole_over_line_ends():
    filler = "The pump is red and new.\n" * 200
    text = f"{filler}The pressure of the\nvalve must not\nexceed 16 bar.\n{filler}"
    found = span(text, "pressure of the valve")
    assert found == "The pressure of the\nvalve must not\nexceed 16 bar."


def test_best_sentence_is_taken_from_the_sentences_of_the_table():
    text = "The pump is red. The valve is new. It is shut."
    assert best_sentence(text, even("valve"), sentence_table_at(text, (0, 17))) == (17, len(text))
    assert best_sentence(text, even("valve"), sentence_table_at(text, (0, 10, 30))) == (10, 29)


def test_sentences_that_the_text_cuts_are_judged_by_what_stands_in_it():
    """The first one began before it, the last one goes on after it."""
    whole = "The pump is red. The valve is new, as is the pump. It is shut by a valve."
    start, end = whole.index("valve"), whole.index("shut")
    cut = sentence_table_at(whole, (0, 17, 51)).within(start, end).moved(-start)
    text = whole[start:end]
    assert span(text, "valve", cut) == "valve is new, as is the pump."
    assert best_sentence(text, even("shut"), cut) is None


@given(st.lists(st.sampled_from(SENTENCES), max_size=9), st.sampled_from(QUERIES), st.data())
def test_the_same_sentence_is_found_with_a_table_and_without(chosen, query, data):
    text = " ".join(chosen)
    starts = [start for start, _ in sentence_spans(text, max_tokens=None)]
    first = data.draw(st.sampled_from([0, *starts]))
    last = data.draw(st.sampled_from([*starts, len(text)]))
    part = text[first:last]
    some = sentence_table_at(text, starts).within(first, last).moved(-first)
    assert best_sentence(part, even(query), some) == best_sentence(part, even(query))


def test_best_sentence_of_a_long_one_is_its_best_part():
    rows = "\n".join(f"Row {n} of the pump" for n in range(60))
    text = f"{rows}\nthe valve is new\n{rows}"
    start, end = best_sentence(text, even("valve"), sentence_table_at(text, (0,)))
    assert "the valve is new" in text[start:end]
    assert end - start < len(text) / 2


def test_evidence_lies_in_the_sentences_of_the_index_table(build):
    store = build({"a.pdf": ["The pump is red. The valve is new. It is shut."]})
    retriever = StrategyRetriever(store, "bm25")
    assert matched(retriever.retrieve("valve")) == ["The valve is new."]
    with store.writer() as writer, store.snapshot() as snapshot:
        content = snapshot.export(snapshot.sources()[0].content_hash)
        text = content.document.text
        writer.put(replace(content, sentences=sentence_table_at(text, [0, 35])))
    assert matched(retriever.retrieve("valve")) == ["The pump is red. The valve is new."]


def matched(found):
    return [entry["text"] for node in found for entry in node.node.metadata["matched"]]


def test_words_that_stand_in_every_passage_count_little(build):
    """The running head of one company's report names it once on each page."""
    topics = ["pump", "valve", "filter", "cash flow", "gauge", "boiler", "pipe", "motor"]
    pages = [
        f"ACME SYSTEMS\n\nHere is the {topic}. It was a good {topic}. Every {topic} counts.\n"
        + "It is steel. " * 25
        for topic in topics
    ]
    store = build({"a.pdf": pages})
    found = StrategyRetriever(store, "bm25", similarity_top_k=1).retrieve("acme cash flow")
    assert matched(found) == ["Here is the cash flow."]


def test_a_passage_that_says_more_than_its_place_is_cut_by_itself(build):
    store = build({"a.pdf": ["The pump is red. The valve is new. It is shut."]})
    with store.writer() as writer, store.snapshot() as snapshot:
        content = snapshot.export(snapshot.sources()[0].content_hash)
        parent = next(node for node in content.nodes if node.metadata["kind"] == "parent")
        parent.text = "Added words stand first. The valve is new."
        writer.put(content)
    assert matched(StrategyRetriever(store, "bm25").retrieve("valve")) == ["The valve is new."]
