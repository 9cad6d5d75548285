"""Evidence out of a real store."""

from __future__ import annotations

import json

import pytest
from llama_index.core.schema import Document, TextNode

from pipelines.page_map import Page
from pipelines.text import count_tokens
from rag_app.answer.evidence import IndexEvidence, NoEvidence, _running_lines, running_lines
from rag_app.index import Index
from rag_app.passages import Passage, passages_of
from rag_app.session import QuerySession
from tests.support.embedding import HashEmbedding
from tests.support.passages import node

TEXT = "The plant in Kobe was opened in 1998. It made 4,200 pumps in 2019. Ms. Ito manages it."


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("evidence") / "index"
    with Index.create(path, embed_model=HashEmbedding()) as made:
        made.ingest(
            Document(id_="plant", text=TEXT, metadata={"file_name": "plant.txt"}),
            Document(id_="tokyo", text="東京は日本の首都です。大阪は大きい。"),
            TextNode(
                id_="ready", text="A ready passage about bananas.", metadata={"file_name": "b"}
            ),
        )
        yield made


@pytest.fixture(scope="module")
def evidence(index):
    with QuerySession({"": index.store}) as session:
        yield IndexEvidence(session.snapshots)


WHOLE = (0, len(TEXT))


def passage(document="plant", span=WHOLE):
    start, end = span
    return Passage(("n",), "", document, start, end, TEXT[start:end], 1)


def test_the_stored_text_of_a_passage_is_given(evidence):
    assert evidence.text(passage(span=(4, 9))) == "plant"


def test_what_is_gone_has_no_text_and_no_pages(evidence):
    assert evidence.text(passage("gone")) == ""
    assert evidence.pages(passage("gone")) == []


def test_rare_words_weigh_more_and_unknown_ones_most(evidence):
    weights = evidence.idf({"kobe", "the", "zebra"})
    assert weights["zebra"] >= weights["kobe"] > 0


def test_scripts_and_languages_of_the_documents_are_known(evidence):
    assert {"latin", "cjk"} <= set(evidence.scripts())
    assert {"English", "Japanese"} <= set(evidence.languages())


def test_several_indexes_are_told_apart_by_their_origin(index):
    with QuerySession({"a": index.store, "b": index.store}) as session:
        both, one = (IndexEvidence(session.snapshots), IndexEvidence({"": session.snapshots["a"]}))
        assert both.text(passages_of([node(TEXT, document="plant", origin="b")])[0]) == TEXT
        assert both.text(passages_of([node(TEXT, document="plant", origin="c")])[0]) == ""
        assert both.scripts()["latin"] == 2 * one.scripts()["latin"]


def test_without_a_store_nothing_is_claimed():
    nothing = NoEvidence()
    assert nothing.pages(passage()) == []
    assert nothing.text(passage()) == TEXT
    assert nothing.idf({"a", "b"}) == {"a": 1.0, "b": 1.0}
    assert nothing.scripts() == {}
    assert nothing.languages() == []
    assert nothing.is_multilingual()


def test_an_answer_out_of_an_index_is_verified(index):
    answer = index.as_query_engine().query("How many pumps did the plant in Kobe make in 2019?")
    assert answer.outcome == "answered"
    assert any("It made 4,200 pumps in 2019." in s.text for s in answer.sentences)
    assert all(s.verified for s in answer.sentences)
    assert answer.citations[0].file == "plant.txt"
    assert answer.citations[0].page is None
    json.dumps(answer.to_dict())


def test_a_ready_passage_is_verified_against_its_stored_node(index):
    answer = index.as_query_engine().query("What is the ready passage about bananas?")
    assert answer.sentences[0].text == "A ready passage about bananas."
    assert answer.sentences[0].verified


def test_a_multilingual_model_is_known_as_one(evidence):
    assert evidence.is_multilingual()


def test_a_model_of_one_script_is_not_multilingual(tmp_path):
    model = HashEmbedding(scripts=("latin",))
    with (
        Index.create(tmp_path / "one", embed_model=model) as one,
        QuerySession({"": one.store}) as session,
    ):
        evidence = IndexEvidence(session.snapshots)
        assert not evidence.is_multilingual()
        assert evidence.idf({"kobe"}) == {"kobe": 1.0}, "nothing is rare in an empty index"
        assert evidence.languages() == []


def test_pages_come_with_their_raw_text(tmp_path):
    from tests.support.pdfs import make_pdf

    path = tmp_path / "report.pdf"
    make_pdf(path, ["The plant is old.", "It made 4,200 pumps."])
    with Index.create(tmp_path / "pages", embed_model=HashEmbedding()) as made:
        made.ingest(path)
        answer = made.as_query_engine().query("How many pumps were made?")
    pumps = next(s for s in answer.sentences if "pumps" in s.text)
    assert pumps.verified
    assert answer.citations[pumps.citations[0] - 1].page == 2


def test_where_the_sentences_of_a_passage_begin_is_known(evidence):
    assert evidence.sentences(passage(span=(10, len(TEXT)))).starts.tolist() == [28, 57]
    ready = "A ready passage about bananas."
    found = evidence.sentences(Passage(("n",), "", "ready", 0, len(ready), ready, 1))
    assert found.starts.tolist() == [0]


def test_of_what_is_gone_or_has_no_span_no_sentence_is_known(evidence):
    assert evidence.sentences(passage("gone")) is None
    assert evidence.sentences(Passage(("n",), "", "plant", None, None, TEXT, 1)) is None
    assert NoEvidence().sentences(passage()) is None


def test_an_answer_from_the_sentence_table_counts_no_token_again(index, monkeypatch):
    """The tokenizer takes a tenth of a second to load: a question need not wait for it."""

    def never(*_):
        raise AssertionError("a text was taken apart into tokens")

    monkeypatch.setattr("rag_app.answer.compose.count_tokens", never)
    monkeypatch.setattr("pipelines.tokens._tokenizer", never)
    answer = index.as_query_engine().query("Plant in Kobe made pumps in 2019")
    assert answer.outcome == "answered"
    read = {one.file: one.tokens for one in answer.context.used}
    monkeypatch.undo()
    assert abs(read["plant.txt"] - count_tokens(TEXT)) <= 1


def _pages(head: str) -> list[Page]:
    texts = [f"{head}\nBody {number} of its own says more.\nEnd {number}" for number in "abcd"]
    return [Page(number, str(number), 0, len(raw), raw) for number, raw in enumerate(texts, 1)]


def test_running_lines_of_pages_seen_before_are_not_found_again(monkeypatch):
    _running_lines.cache_clear()
    once = running_lines(_pages("Annual report"))
    assert once == {"annualreport"}
    monkeypatch.setattr("rag_app.answer.evidence.split_margins", None)
    assert running_lines(_pages("Annual report")) == once


def test_running_lines_of_other_pages_are_their_own():
    assert running_lines(_pages("Annual report")) != running_lines(_pages("Yearly letter"))
