"""PDFs asked from Python: ``rag_app.ask`` and ``open_pdfs``."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import rag_app
from pipelines.errors import ConfigError, ReadError
from rag_app.cached.folders import IndexCache
from rag_app.cached.indexes import Notices, UnreadPdf
from rag_app.cached.pdfs import open_pdfs
from rag_app.settings import load_settings
from tests.rag_app.cli.conftest import VALVE
from tests.support.pdfs import make_pdf

QUESTION = "What is the lead time of the valve?"
WORD = "tr0ub4dor&3"
MAX_SENTENCES = 9  # of an answer, which may be embedded


@pytest.fixture
def locked(place: Path) -> Path:
    return make_pdf(place / "locked.pdf", [VALVE], password=WORD)


def entries() -> list[tuple[str, ...]]:
    return [entry.files for entry in IndexCache.of(load_settings()).entries()]


def test_ask_answers_by_the_file_that_says_it(model, two):
    answer = rag_app.ask(QUESTION, *two)
    assert isinstance(answer, rag_app.Answer)
    assert (answer.citations[0].file, answer.citations[0].page) == ("valve.pdf", 2)


def test_ask_again_embeds_no_passage_and_takes_texts_for_paths(model, two):
    first = rag_app.ask(QUESTION, *two)
    embedded = model.embedded
    second = rag_app.ask(QUESTION, *map(str, reversed(two)))
    assert model.embedded - embedded <= MAX_SENTENCES
    assert second.sentences == first.sentences


def test_ask_by_a_strategy_builds_and_searches_what_it_needs(model, two):
    assert rag_app.ask(QUESTION, two[0], strategy="bm25").citations
    assert model.embedded == 0


def test_ask_without_a_file_is_an_error_that_shows_how():
    with pytest.raises(ConfigError, match="no PDF is given"):
        rag_app.ask(QUESTION)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((QUESTION, 3), r"ask\(\): one of pdfs is 3"),
        ((3, "a.pdf"), r"ask\(\): question is 3"),
    ],
)
def test_ask_with_a_wrong_argument_names_the_function(arguments, said):
    with pytest.raises(ConfigError, match=said):
        rag_app.ask(*arguments)


def test_ask_leaves_out_what_cannot_be_read_and_logs_it(model, two, pdfs, caplog):
    (pdfs / "empty.pdf").write_bytes(b"")
    with caplog.at_level(logging.WARNING, "rag_app.cached"):
        assert rag_app.ask(QUESTION, pdfs / "empty.pdf", *two).citations
    assert "it was left out" in caplog.text


def test_ask_an_only_file_that_cannot_be_read_raises_its_error(model, pdfs):
    (pdfs / "empty.pdf").write_bytes(b"")
    with pytest.raises(ReadError, match="0 bytes"):
        rag_app.ask(QUESTION, pdfs / "empty.pdf")
    assert entries() == []


def test_ask_an_encrypted_file_needs_its_password_and_keeps_nothing(model, place, locked):
    with pytest.raises(ReadError, match="it is encrypted and needs a password"):
        rag_app.ask(QUESTION, locked)
    assert rag_app.ask(QUESTION, locked, password=WORD).citations
    assert entries() == []
    files = [path for path in place.parent.rglob("*") if path.is_file() and path != locked]
    assert not any(WORD.encode() in path.read_bytes() for path in files)


def test_passwords_are_asked_for_until_one_opens_the_file(model, locked):
    asked: list[int] = []

    def prompt(files, tried):
        asked.append(tried)
        assert list(files) == [locked]
        return ["wrong", WORD, "never asked"][tried]

    with open_pdfs([locked], ask_password=prompt) as opened:
        assert opened.index.as_query_engine().query(QUESTION).citations
    assert asked == [0, 1]


def test_open_pdfs_tells_progress_and_what_is_left_out(model, two, pdfs):
    (pdfs / "empty.pdf").write_bytes(b"")
    notes: list[str] = []
    unread: list[UnreadPdf] = []
    with open_pdfs(
        [pdfs / "empty.pdf", *two], notices=Notices(notes.append, unread.append)
    ) as opened:
        assert opened.unread == tuple(unread)
    assert [one.paths for one in unread] == [(pdfs / "empty.pdf",)]
    assert isinstance(unread[0].error, ReadError)
    assert notes == [f"reading pdfs/{name}" for name in ("empty.pdf", "valve.pdf", "crane.pdf")]
