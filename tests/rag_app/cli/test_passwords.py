"""Passwords of PDFs: by option, by the environment, typed in; kept and shown nowhere."""

import getpass
import sys

import pytest

from rag_app import Index
from rag_app.cli.output import Output
from tests.rag_app.cli.conftest import CRANE, VALVE
from tests.support.pdfs import make_pdf

WORD = "tr0ub4dor&3"


@pytest.fixture
def locked(place):
    return make_pdf(place / "locked.pdf", [VALVE], password=WORD)


@pytest.fixture
def typed(monkeypatch):
    """Let somebody sit at a terminal who types these words; return what they were asked."""
    words, asked = [], []

    def answer(prompt, stream):
        asked.append(prompt)
        return words.pop(0) if words else ""

    monkeypatch.setattr(getpass, "getpass", answer)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(Output, "stderr_on_terminal", property(lambda self: True))
    return words, asked


def stored_anywhere(place):
    files = [path for path in place.parent.rglob("*") if path.is_file() and path.suffix != ".pdf"]
    return any(WORD.encode() in path.read_bytes() for path in files)


def test_the_hint_names_every_way(rag, locked):
    done = rag("ingest", locked)
    assert done.code == 1
    assert all(way in done.err for way in ("--password", "RAG_PDF_PASSWORD", "password=…"))


def test_ingest_takes_it_as_an_option(rag, locked, place):
    done = rag("ingest", locked, "--password", WORD)
    assert (done.code, WORD in done.out + done.err) == (0, False)
    assert not stored_anywhere(place)
    assert rag("ask", "At what pressure does the valve AX-450 open?").code == 0


def test_ingest_takes_it_from_the_environment_for_those_that_need_it(
    rag, locked, place, monkeypatch
):
    monkeypatch.setenv("RAG_PDF_PASSWORD", WORD)
    make_pdf(place / "open.pdf", [CRANE])
    make_pdf(place / "empty.pdf", [CRANE + " "], password="")
    done = rag("ingest", ".", "--json")
    assert [file["status"] for file in done.json["files"]] == ["added"] * 3
    assert WORD not in done.out + done.err
    assert not stored_anywhere(place)


def test_ingest_asks_until_it_is_right_and_shows_nothing_of_it(rag, locked, place, typed):
    words, asked = typed
    words[:] = ["wrong", WORD]
    make_pdf(place / "open.pdf", [CRANE])
    done = rag("ingest", ".")
    assert done.code == 0
    assert done.out.count("added") >= 2
    assert len(asked) == 2
    assert asked[1].startswith("that did not open it")
    assert WORD not in done.out + done.err
    assert not stored_anywhere(place)


def test_one_that_is_typed_for_the_only_file_makes_the_index(rag, locked, typed):
    typed[0][:] = [WORD]
    assert rag("ingest", locked).code == 0
    assert rag("info").code == 0


@pytest.mark.parametrize("option", ["--json", "--quiet"])
def test_nobody_is_asked_where_nobody_may_be(rag, locked, typed, option):
    assert rag("ingest", locked, option).code == 1
    assert typed[1] == []


def test_enter_alone_leaves_the_file_out(rag, locked, typed):
    done = rag("ingest", locked)
    assert (done.code, len(typed[1])) == (1, 1)


def test_ask_opens_the_file_and_keeps_nothing_that_needs_no_password_again(
    rag, locked, place, typed
):
    words, asked = typed
    words[:] = [WORD]
    question = "At what pressure does the valve AX-450 open?"
    done = rag("ask", question, locked)
    assert (done.code, "4.2 bar" in done.out) == (0, True)
    assert not stored_anywhere(place)
    assert "not cached" in done.err
    assert rag("cache", "info", "--json").json["indexes"] == []
    assert rag("ask", question, locked).code == 1
    assert len(asked) == 2


def test_ask_takes_it_as_an_option_beside_files_that_need_none(rag, locked, place):
    other = make_pdf(place / "open.pdf", [CRANE])
    question = "At what pressure does the valve AX-450 open?"
    done = rag("ask", question, locked, other, "--password", WORD, "--json")
    assert (done.code, "files_failed" in done.json) == (0, False)


def test_a_password_without_a_file_to_open_is_wrong_usage(rag):
    assert rag("ask", "Q?", "--password", WORD).code == 2


def test_a_program_gives_it_to_ingest(locked, place, model):
    with Index.create(place / "own", embed_model=model) as index:
        assert index.ingest(locked).failed[0].kind == "EncryptedError"
        assert index.ingest(locked, password=WORD).ok
    assert not stored_anywhere(place)


def test_settings_show_no_password(monkeypatch):
    from rag_app import load_settings

    monkeypatch.setenv("RAG_PDF_PASSWORD", WORD)
    settings = load_settings()
    assert WORD not in repr(settings) + settings.model_dump_json()
