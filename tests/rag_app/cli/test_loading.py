"""The model is loaded while LlamaIndex is imported, where a question needs a model."""

from __future__ import annotations

import gc
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest
from llama_index.core.schema import Document

from pipelines.errors import IndexNotFoundError, ModelNotFoundError
from rag_app.cli.loading import begin
from rag_app.index import Index
from rag_app.models.embedding.load import load_embedding
from rag_app.settings import Settings, load_settings
from tests.support.embedding import HashEmbedding

# What a question needs neither to find nor to answer; it was imported once.
UNWANTED = (
    "torch transformers sentence_transformers sklearn scipy pandas openai pypdf pypdfium2 rich"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Index.create(tmp_path / "index") as index:
        index.ingest(Document(text="The crane lifts seven tonnes.", id_="crane"))
    return tmp_path / "index"


def test_an_index_opened_with_what_was_begun_loads_no_second_model(folder, monkeypatch):
    settings = load_settings()
    loading = begin(folder, settings)
    assert loading is not None
    engine = loading.result().engine
    monkeypatch.setattr("rag_app.models.embedding.load.load_engine", lambda _: pytest.fail("again"))
    with Index.open(folder, settings=settings, loading=loading) as index:
        assert index.embed_model is not None
        assert index.embed_model._engine is engine
        assert index.as_retriever().retrieve("What lifts?")


def test_words_alone_begin_no_model(folder):
    assert begin(folder, Settings(strategy="bm25")) is None


def test_an_index_without_vectors_begins_no_model(tmp_path):
    Index.create(tmp_path / "words", pipelines=("bm25",)).close()
    assert begin(tmp_path / "words", load_settings()) is None


def test_a_missing_index_is_an_error_at_once(tmp_path):
    with pytest.raises(IndexNotFoundError):
        begin(tmp_path / "nothing", load_settings())


def test_a_missing_model_is_an_error_where_it_is_used(tmp_path):
    Index.create(tmp_path / "own", embed_model=HashEmbedding()).close()
    loading = begin(tmp_path / "own", load_settings())
    assert isinstance(loading, Future)
    with pytest.raises(ModelNotFoundError):
        load_embedding(load_settings(), loading)


def test_collecting_garbage_goes_on_after_a_question(rag, index):
    rag("ask", "What is the lead time of the valve AX-450?")
    assert gc.isenabled()


def test_a_question_in_a_new_process_imports_nothing_that_it_does_not_need(folder):
    code = (
        "import sys\nfrom rag_app.cli.app import run\n"
        f"code = run(['ask', 'What lifts seven tonnes?', '--index', {str(folder)!r}])\n"
        "print(code, *(m for m in sys.argv[1].split() if m in sys.modules))"
    )
    command = [sys.executable, "-c", code, UNWANTED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"
