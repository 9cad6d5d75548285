"""The model is loaded while LlamaIndex is imported, where a question needs a model."""

from __future__ import annotations

import gc
import importlib.util
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
# Modules and packages of ours that a question to an index without a language model does not need.
OURS_UNWANTED = tuple(
    f"{package}.{name}"
    for package, names in {
        "pipelines": "child_parent isolated pdfium_reader readers reading sentence_window worker",
        "rag_app": "cached evaluation ingest joined",
        "rag_app.answer": "written",
        "rag_app.cli": "answers batch cache evaluate info ingest manage passwords pdfs progress "
        "questions repair search trust watching",
        "rag_app.facade": "info ingesting",
        "rag_app.models": "llm",
        "rag_app.retrieval": "adapters explain",
        "rag_app.store.sqlite": "build contents exporting retitling salvage verify writer",
    }.items()
    for name in names.split()
)
MAX_MODULES = 158  # of ours; they were 149 when this was written


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("asked") / "index"
    with Index.create(path) as index:
        index.ingest(Document(text="The crane lifts seven tonnes.", id_="crane"))
    return path


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


@pytest.fixture(scope="module")
def imported(folder: Path) -> set[str]:
    """All modules of a new process that has answered a question to an index."""
    code = (
        "import sys\nfrom rag_app.cli.app import run\n"
        "code = run(['ask', 'What lifts seven tonnes?', '--index', sys.argv[1]])\n"
        "print(code, *sys.modules)"
    )
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, *modules = done.stdout.splitlines()[-1].split()
    assert code == "0"
    return set(modules)


def test_a_question_in_a_new_process_imports_no_library_that_it_does_not_need(imported):
    assert imported.isdisjoint(UNWANTED.split())


def test_a_question_in_a_new_process_imports_nothing_of_ours_that_others_need(imported):
    ours = {name for name in imported if name.partition(".")[0] in ("pipelines", "rag_app")}
    assert not ours & set(OURS_UNWANTED)
    assert len(ours) <= MAX_MODULES, "\n".join(sorted(ours))


@pytest.mark.parametrize("name", OURS_UNWANTED)
def test_a_module_that_a_question_may_not_import_exists(name):
    assert importlib.util.find_spec(name)
