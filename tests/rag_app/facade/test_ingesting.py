"""Ingesting into an opened index: lists of inputs, settings, and who writes pieces."""

from __future__ import annotations

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.schema import Document

from rag_app.facade import ingesting
from rag_app.facade.ingesting import ingest_into
from rag_app.facade.opening import create_index
from rag_app.settings import Settings
from tests.support.embedding import HashEmbedding

OPTIONS = {
    **{"pipelines": (), "llm": None, "prune": False, "progress": None, "on_file": None},
    **{"workers": None, "password": None, "timeout": 1.0},
}


@pytest.fixture
def opened(tmp_path):
    made = create_index(tmp_path / "i", Settings(), ("hybrid",), HashEmbedding())
    yield made
    made.store.close()


def test_inputs_and_lists_of_them_are_ingested(opened):
    one, *more = (Document(text=f"Text {n}.", id_=str(n)) for n in range(3))
    report = ingest_into(opened, [one, more], **OPTIONS)
    assert [(file.file, file.status) for file in report.files] == [
        (str(n), "added") for n in range(3)
    ]


@pytest.mark.parametrize(
    ("pipelines", "llm", "writes"),
    [
        ((), MockLLM(), False),
        (("multi_vector",), None, False),
        (("multi_vector",), MockLLM(), True),
    ],
)
def test_pieces_are_written_where_they_are_searched_and_a_model_is_there(
    opened, monkeypatch, pipelines, llm, writes
):
    given = {}
    monkeypatch.setattr(ingesting, "ingest", lambda *_, **options: given.update(options))
    ingest_into(opened, [], **{**OPTIONS, "pipelines": pipelines, "llm": llm})
    assert (given["piece_writer"] is not None) == writes


def test_only_explicit_settings_are_passed_on(tmp_path, monkeypatch):
    given = {}
    monkeypatch.setattr(ingesting, "ingest", lambda *_, **options: given.update(options))
    for settings, reader in ((Settings(), None), (Settings(reader="pypdf"), "pypdf")):
        opened = create_index(tmp_path / str(reader), settings, ("hybrid",), HashEmbedding())
        ingest_into(opened, [], **OPTIONS)
        assert given["reader"] == reader
        opened.store.close()
