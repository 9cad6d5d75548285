"""The command line run in this process, offline, with words as vectors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.embedding import HashEmbedding
from tests.support.openai_server import OpenAIServer
from tests.support.pdfs import make_pdf

VALVE = (
    "The valve AX-450 opens at a pressure of 4.2 bar.\n"
    "Its lead time is twelve weeks from the date of the order."
)
CRANE = "The crane lifts seven tonnes.\nIts operator must hold a licence of class B."


@dataclass(frozen=True)
class Done:
    """What one command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Rag = Callable[..., Done]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    """An empty folder to work in, and a home and cache of its own."""
    for name in list(os.environ):
        if name.startswith(("RAG_", "OPENAI_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    work = tmp_path / "work"
    home.mkdir()
    work.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("RAG_CACHE_DIR", str(home / "cache"))
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def model(monkeypatch) -> HashEmbedding:
    """The model that every index of the test is made with."""
    embedding = HashEmbedding()
    monkeypatch.setattr("rag_app.facade.opening.load_embedding", lambda *_: embedding)
    return embedding


@pytest.fixture
def rag(capsys, model) -> Rag:
    """Run a command line as the program does."""
    from rag_app.cli.app import run

    def call(*arguments: object) -> Done:
        capsys.readouterr()
        code = run([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return call


@pytest.fixture
def pdfs(place) -> Path:
    """A folder with two PDFs: valve.pdf (pages i and 1) and crane.pdf."""
    folder = place / "pdfs"
    folder.mkdir()
    make_pdf(folder / "valve.pdf", ["Preface of the manual.", VALVE], labels=["i", "1"])
    make_pdf(folder / "crane.pdf", [CRANE])
    return folder


@pytest.fixture
def two(pdfs) -> list[Path]:
    """The two PDFs themselves."""
    return [pdfs / "valve.pdf", pdfs / "crane.pdf"]


@pytest.fixture
def index(rag, pdfs) -> Path:
    """The index ./.rag over both."""
    assert rag("ingest", pdfs, "--quiet").code == 0
    return Path(".rag")


@pytest.fixture
def serve(monkeypatch) -> Iterator[type[OpenAIServer]]:
    """Servers of language models; the program's connections to them end with the test."""
    from rag_app.models.llm import client as llm

    clients = []
    make = llm.bounded_client

    def recorded(*arguments, **options):
        clients.append(make(*arguments, **options))
        return clients[-1]

    monkeypatch.setattr(llm, "bounded_client", recorded)
    yield OpenAIServer
    for client in clients:
        client.close()
