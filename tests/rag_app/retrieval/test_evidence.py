from __future__ import annotations

from dataclasses import replace

from llama_index.core.schema import TextNode

from rag_app.retrieval.evidence import best_sentence, joined_evidence
from rag_app.retrieval.retriever import StrategyRetriever


def span(text, query):
    found = best_sentence(text, query)
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
    assert best_sentence("The pump is red.", "首都") is None
    assert best_sentence("", "pump") is None
    assert best_sentence("The pump.", "") is None


def test_evidence_of_several_copies_is_joined_on_a_new_node():
    copies = [TextNode(id_="a", text="x", metadata={"matched": [{"arm": arm}]}) for arm in "vw"]
    joined = joined_evidence(copies)
    assert [match["arm"] for match in joined.metadata["matched"]] == ["v", "w"]
    assert [len(copy.metadata["matched"]) for copy in copies] == [1, 1]
    assert joined_evidence(copies[:1]) is copies[0]
    plain = TextNode(text="x")
    assert "matched" not in joined_evidence([plain, plain]).metadata


def test_best_sentence_of_a_long_passage_is_whole_over_line_ends():
    filler = "The pump is red and new.\n" * 200
    text = f"{filler}The pressure of the\nvalve must not\nexceed 16 bar.\n{filler}"
    found = span(text, "pressure of the valve")
    assert found == "The pressure of the\nvalve must not\nexceed 16 bar."


def test_best_sentence_is_taken_from_sentences_that_are_known():
    text = "The pump is red. The valve is new. It is shut."
    assert best_sentence(text, "valve", (0, 17)) == (17, len(text))
    assert best_sentence(text, "valve", (0, 10, 30)) == (10, 29)


def test_best_sentence_of_a_long_one_is_its_best_part():
    rows = "\n".join(f"Row {n} of the pump" for n in range(60))
    text = f"{rows}\nthe valve is new\n{rows}"
    start, end = best_sentence(text, "valve", ())
    assert "the valve is new" in text[start:end]
    assert end - start < len(text) / 2


def test_evidence_lies_in_the_sentences_that_the_index_noted(build):
    store = build({"a.pdf": ["The pump is red. The valve is new. It is shut."]})
    retriever = StrategyRetriever(store, "bm25")
    assert matched(retriever.retrieve("valve")) == ["The valve is new."]
    with store.writer() as writer, store.snapshot() as snapshot:
        content = snapshot.export(snapshot.sources()[0].content_hash)
        writer.put(replace(content, sentences=[0, 35]))
    assert matched(retriever.retrieve("valve")) == ["The pump is red. The valve is new."]


def matched(found):
    return [entry["text"] for node in found for entry in node.node.metadata["matched"]]
