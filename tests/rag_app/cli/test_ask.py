from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.openai_server import Failure, Reply
from tests.support.pdfs import make_pdf

ANSWER_KEYS = {
    "question", "answer", "outcome", "mode", "model", "sentences", "citations", "closest",
    "unread_pages", "decision", "degraded", "usage", "timings_ms",
}  # fmt: skip
LEAD_TIME = "What is the lead time of the valve?"
NONSENSE = "Which galaxy did Zyxwvut colonise?"
KEY = "sk-a-secret-key-of-the-user-0123456789"


def test_json_has_the_documented_shape(rag, index):
    done = rag("ask", LEAD_TIME, "--json")
    assert (done.code, done.err) == (0, "")
    answer = done.json
    assert set(answer) == ANSWER_KEYS
    assert (answer["question"], answer["outcome"]) == (LEAD_TIME, "answered")
    assert (answer["mode"], answer["model"]) == ("extractive", None)
    sentence = answer["sentences"][0]
    assert set(sentence) == {
        "text", "citations", "verified", "support", "problems", "notes", "evidence",
    }  # fmt: skip
    assert "twelve weeks" in sentence["text"]
    citation = answer["citations"][0]
    assert set(citation) == {
        "number", "origin", "file", "path", "page", "page_label", "pages", "quotes",
        "read_by", "confidence",
        "content_hash",
    }  # fmt: skip
    assert (citation["file"], citation["page"], citation["page_label"]) == ("valve.pdf", 2, "1")
    assert citation["path"].endswith("/pdfs/valve.pdf")
    assert set(citation["quotes"][0]) == {"text", "start", "end", "pages", "verified"}


def test_text_has_marks_place_quote_and_label(rag, index):
    done = rag("ask", LEAD_TIME)
    assert (done.code, done.err) == (0, "")
    # "Its" is the valve of the sentence before.
    assert done.out.startswith("The valve AX-450 opens at a pressure of 4.2 bar. Its lead time is")
    assert "twelve weeks from the date of the order. [1]\n" in done.out
    assert "\n[1] valve.pdf, page 2 (1)\n    “The valve AX-450 opens at" in done.out
    assert done.out.endswith("extractive: sentences of the documents as they stand\n")


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_what_the_documents_do_not_say_is_refused(rag, index, stream):
    """Case 14: the same with and without streaming."""
    done = rag("ask", NONSENSE, stream)
    assert done.code == 3
    assert done.out.endswith("refused: the documents do not say\n")


def test_a_refusal_with_json_is_a_document_and_3(rag, index):
    done = rag("ask", NONSENSE, "--json")
    assert done.code == 3
    assert (done.json["outcome"], done.json["citations"]) == ("refused", [])


def test_another_language_is_told_apart_from_a_refusal(rag, index, model, pdfs):
    model.scripts = ("latin",)
    rag("ingest", pdfs, "--index", "english")
    done = rag("ask", "納期は何週間ですか", "--index", "english", "--json")
    assert done.code == 3
    assert done.json["outcome"] == "other_language"
    text = rag("ask", "納期は何週間ですか", "--index", "english")
    assert text.out.endswith("not answered: no document is in the language of the question\n")


def test_a_pdf_beside_the_question_is_read_once(rag, pdfs, model):
    first = rag("ask", LEAD_TIME, pdfs / "valve.pdf", "--json")
    assert first.code == 0
    assert "reading" in first.err
    embedded = model.embedded
    second = rag("ask", LEAD_TIME, "pdfs/valve.pdf", "--json")
    assert (second.code, second.err) == (0, "")
    assert second.json["sentences"] == first.json["sentences"]
    # Sentences of an answer may be embedded, the file is not.
    assert model.embedded - embedded <= 9  # sentences of the answer, no passage
    assert not Path(".rag").exists()


def test_several_pdfs_are_asked_together(rag, pdfs):
    done = rag(
        "ask",
        "Which class of licence must the operator of the crane hold?",
        pdfs / "valve.pdf",
        pdfs / "crane.pdf",
        "--json",
    )
    assert done.code == 0
    citation = done.json["citations"][0]
    assert (citation["file"], citation["origin"]) == ("crane.pdf", "")


def test_a_moved_pdf_is_known_by_its_content_and_cited_by_its_new_name(rag, pdfs, model):
    rag("ask", LEAD_TIME, pdfs / "valve.pdf")
    moved = (pdfs / "valve.pdf").rename(pdfs / "renamed.pdf")
    embedded = model.embedded
    done = rag("ask", LEAD_TIME, moved, "--json")
    assert done.json["citations"][0]["file"] == "renamed.pdf"
    assert model.embedded - embedded <= 9  # sentences of the answer, no passage


def test_a_pdf_that_cannot_be_read_is_an_error_of_one_line(rag, place):
    (place / "empty.pdf").write_bytes(b"")
    done = rag("ask", LEAD_TIME, "empty.pdf")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[-1].startswith("error: empty.pdf: the file has 0 bytes")
    missing = rag("ask", LEAD_TIME, "none.pdf")
    assert missing.code == 1
    assert missing.err == "error: none.pdf: No such file or directory\n"


def test_among_several_pdfs_one_that_cannot_be_read_is_named_and_left_out(rag, pdfs):
    (pdfs / "empty.pdf").write_bytes(b"")
    done = rag("ask", LEAD_TIME, pdfs / "empty.pdf", pdfs / "valve.pdf", "--json")
    assert done.code == 0
    assert "it was left out" in done.err
    (failed,) = done.json["files_failed"]
    assert failed["file"] == str(pdfs / "empty.pdf")
    assert "0 bytes" in failed["message"]


def test_a_damaged_kept_index_is_made_anew(rag, pdfs):
    rag("ask", LEAD_TIME, pdfs / "valve.pdf")
    (database,) = Path(rag("cache", "info", "--json").json["folder"]).rglob("index.sqlite")
    database.write_bytes(b"this is no database" * 1000)
    assert rag("ask", LEAD_TIME, pdfs / "valve.pdf").code == 0


def test_a_cache_that_cannot_be_written_is_done_without(rag, pdfs, place, monkeypatch):
    (place / "file").write_text("")
    monkeypatch.setenv("RAG_CACHE_DIR", str(place / "file"))
    done = rag("ask", LEAD_TIME, pdfs / "valve.pdf")
    assert done.code == 0
    assert "not cached" in done.err


def test_words_alone_need_no_model_for_a_pdf(rag, pdfs, monkeypatch):
    def refuse(*_):
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("rag_app.facade.opening.load_embedding", refuse)
    assert rag("ask", LEAD_TIME, pdfs / "valve.pdf", "--strategy", "bm25").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give a question"),
        ([" "], "the question is empty"),
        (["Q?", "a.pdf", "--index", "x"], "not both"),
        (["pdfs/valve.pdf"], "the question comes before the files"),
        (["Q?", "--out", "x"], "--out goes with --questions"),
        (["Q?", "--workers", "2"], "--workers goes with --questions"),
        (["Q?", "--stream", "--json"], "--stream"),
        (["--questions", "q.txt", "--stream"], "--stream"),
        (["Q?", "--base-url", "http://localhost:1/v1"], "name it with --llm"),
        (["Q?", "--page", "x"], "--page"),
        (["Q?", "--where", "x"], "--where"),
        (["Q?", "-k", "0"], "a whole number from 1 to 10000"),
        (["Q?", "-k", "many"], "a whole number from 1 to 10000"),
        (["Q?", "--nonsense"], "No such option"),
    ],
)
def test_wrong_usage_is_2_and_one_line(rag, index, arguments, said):
    done = rag("ask", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert said in done.err
    assert done.err.endswith("(see 'rag ask --help')\n")


def test_a_model_writes_and_streams(rag, index, serve):
    reply = Reply("The lead time is twelve weeks [1].")
    with serve(reply) as server:
        model = ("--llm", "like:test", "--base-url", server.url)
        streamed = rag("ask", LEAD_TIME, *model, "--stream")
        whole = rag("ask", LEAD_TIME, *model, "--json")
    assert (streamed.code, whole.code) == (0, 0)
    assert streamed.out.startswith("The lead time is twelve weeks")
    assert "[1] valve.pdf, page 2 (1)" in streamed.out
    assert "written by test" in streamed.out
    assert (whole.json["mode"], whole.json["model"]) == ("llm", "test")
    assert [chat.streams for chat in server.chats] == [True, False]


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_a_model_that_says_that_the_documents_do_not_say_exits_with_3(rag, index, serve, stream):
    with serve(Reply("The passages do not mention a galaxy.")) as server:
        done = rag("ask", NONSENSE, "--llm", "like:test", "--base-url", server.url, stream)
    assert done.code == 3
    assert "refused: the documents do not say" in done.out
    assert len(server.chats) == 1


def test_escape_sequences_of_a_model_never_reach_the_terminal(rag, index, serve):
    reply = Reply("\x1b[31mTwelve weeks\x1b[0m [bold]now[/bold] \x1b]0;owned\x07[1].", chunk=1)
    with serve(reply) as server:
        for stream in ("--stream", "--no-stream"):
            done = rag("ask", LEAD_TIME, "--llm", "like:test", "--base-url", server.url, stream)
            assert "\x1b" not in done.out
            assert "\x07" not in done.out
            assert "[bold]now[/bold]" in done.out


def test_a_refused_key_is_an_error_that_does_not_show_it(rag, index, monkeypatch, serve):
    monkeypatch.setenv("RAG_LLM_API_KEY", KEY)
    with serve(Failure(401, f"Incorrect API key provided: {KEY}")) as server:
        model = ("--llm", "like:test", "--base-url", server.url)
        for more in ((), ("--json",), ("--verbose",)):
            done = rag("ask", LEAD_TIME, *model, *more)
            assert done.code == 1
            assert KEY not in done.out + done.err
            assert done.err.splitlines()[-1].startswith("error: ")


def test_a_broken_stream_is_an_error_after_the_words_so_far(rag, index, serve):
    with serve(Reply("The lead time is twelve weeks.", ending="torn")) as server:
        done = rag("ask", LEAD_TIME, "--llm", "like:test", "--base-url", server.url, "--stream")
    assert done.code == 1
    assert done.out.startswith("The lead")
    assert done.out.endswith("\n")
    assert done.err.startswith("error: ")


def test_ctrl_c_while_it_streams_ends_with_130(rag, index, monkeypatch, serve):
    def interrupt(*_):
        raise KeyboardInterrupt

    with serve(Reply("The lead time is twelve weeks [1].")) as server:
        monkeypatch.setattr("rag_app.cli.show.answer_evidence", interrupt)
        done = rag("ask", LEAD_TIME, "--llm", "like:test", "--base-url", server.url, "--stream")
    assert done.code == 130
    assert done.err == "interrupted\n"


def test_text_of_a_document_is_no_markup(rag, place):
    make_pdf(place / "markup.pdf", ["The colour [red]crimson[/red] costs five euros [1]."])
    done = rag("ask", "What does the colour crimson cost?", "markup.pdf", "-q")
    assert "[red]crimson[/red]" in done.out
    assert not re.search("\x1b", done.out)
