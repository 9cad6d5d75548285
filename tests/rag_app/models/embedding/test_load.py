"""Loading and describing embedding models, without torch where it is not needed."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from llama_index.core import MockEmbedding
from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import EmbeddingError
from rag_app.models.embedding import load as module
from rag_app.models.embedding.load import count_tokens, describe_embedding, load_embedding, too_long
from rag_app.settings import Settings
from tests.rag_app.models.embedding.vectors import HEAVY, unsupported
from tests.support.bilingual import BilingualEmbedding
from tests.support.embedding import HashEmbedding
from tests.support.modules import imported_by


def test_the_default_is_english_and_named_by_its_weights(minilm: BaseEmbedding) -> None:
    identity = describe_embedding(minilm)
    assert identity.name == "sentence-transformers/all-MiniLM-L6-v2"
    assert identity.fingerprint.startswith("53aa5117")
    assert (identity.dimension, identity.max_tokens) == (384, 256)
    assert identity.scripts == ("latin",)
    assert identity.knows("latin")
    assert identity.knows("none")
    assert not identity.knows("cjk")


def test_near_meanings_are_near(minilm: BaseEmbedding) -> None:
    query = np.array(minilm.get_query_embedding("How long until delivery?"))
    near, far = np.array(
        minilm.get_text_embedding_batch(
            ["The lead time is six weeks.", "The cafeteria opens at noon."]
        )
    )
    assert query @ near > query @ far + 0.2


def test_vectors_have_unit_length_and_do_not_depend_on_company(minilm: BaseEmbedding) -> None:
    """Score differences from batching: at most 2e-2 in bfloat16."""
    texts = ["one", "two words", "a longer text " * 30, "", "   ", "one", "東京", "\ud800 broken"]
    together = np.array(minilm.get_text_embedding_batch(texts))
    alone = np.array([minilm.get_text_embedding(text) for text in texts])
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-3)
    assert np.abs(together @ together.T - alone @ alone.T).max() <= 2e-2
    assert (together[0] == together[5]).all()


def test_text_that_would_be_cut_is_told(minilm: BaseEmbedding) -> None:
    """Stock LlamaIndex cuts it without a word."""
    texts = ["short", "word " * 300, "word " * 254, "word " * 255]
    assert count_tokens(minilm, texts) == [3, 302, 256, 257]
    assert too_long(minilm, texts) == [1, 3]
    assert count_tokens(minilm, []) == []


def test_precision_is_explicit_and_recorded(cache: Path) -> None:
    model = load_embedding(Settings(cache_dir=cache, embed_precision="float32"))
    assert describe_embedding(model).precision == "float32"
    together = np.array(model.get_text_embedding_batch(["one", "two words", "three " * 90]))
    alone = np.array([model.get_text_embedding(text) for text in ["one", "two words"]])
    assert np.abs(together[:2] - alone).max() <= 1e-3


def test_instructions_are_put_in_front(cache: Path, minilm: BaseEmbedding) -> None:
    settings = Settings(cache_dir=cache, query_instruction="query: ", text_instruction="passage: ")
    model = load_embedding(settings)
    assert model.get_query_embedding("x") == minilm.get_query_embedding("query: x")
    assert model.get_text_embedding("x") == minilm.get_text_embedding("passage: x")
    assert count_tokens(model, ["x"]) == count_tokens(minilm, ["passage: x"])
    described = describe_embedding(model)
    assert (described.query_instruction, described.text_instruction) == ("query: ", "passage: ")
    assert not described.same_model(describe_embedding(minilm))


def test_scripts_and_batch_size_can_be_set(cache: Path) -> None:
    model = load_embedding(
        Settings(cache_dir=cache, embed_scripts=("latin", "greek"), embed_batch_size=7)
    )
    assert describe_embedding(model).scripts == ("latin", "greek")
    assert model.embed_batch_size == 7


def test_an_unwritable_cache_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    model = load_embedding(Settings(cache_dir=tmp_path / "file"))
    assert len(model.get_query_embedding("x")) == 384


# When OpenVINO does not serve.


def test_auto_falls_back_to_torch_with_a_word(
    cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_load_openvino", unsupported)
    monkeypatch.setattr(module, "_load_torch", lambda *_: HashEmbedding())
    with caplog.at_level(logging.WARNING):
        model = load_embedding(Settings(cache_dir=cache))
    assert isinstance(model, HashEmbedding)
    assert "torch computes the embedding model minilm: it is too new" in caplog.text


def test_openvino_that_was_asked_for_is_not_replaced(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_load_openvino", unsupported)
    with pytest.raises(EmbeddingError, match="it is too new"):
        load_embedding(Settings(cache_dir=cache, embed_runtime="openvino"))


# Models of the user's own.


def test_a_users_model_is_described_by_what_it_says() -> None:
    identity = describe_embedding(BilingualEmbedding())
    assert (identity.name, identity.dimension) == ("bilingual", 64)
    assert identity.scripts == ("latin", "cjk")
    assert identity.fingerprint == ""
    assert identity.max_tokens is None
    assert too_long(BilingualEmbedding(), ["word " * 1000]) == []


def test_a_model_that_says_nothing_is_asked_once_and_knows_all_scripts() -> None:
    model = HashEmbedding()
    identity = describe_embedding(model)
    assert identity.dimension == 64
    assert identity.scripts == ("*",)
    assert model.embedded == 0


def test_a_model_without_a_name_is_named_by_its_class() -> None:
    identity = describe_embedding(MockEmbedding(embed_dim=9))
    assert (identity.name, identity.dimension) == ("MockEmbedding", 9)


# What is imported.


def test_importing_the_models_imports_neither_torch_nor_openvino() -> None:
    assert not imported_by("rag_app.models.embedding.load") & {*HEAVY, "openvino", "tokenizers"}


def test_a_first_question_imports_no_torch_and_sends_no_telemetry(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from rag_app.models.embedding.load import load_embedding\n"
        "from rag_app.settings import load_settings\n"
        "load_embedding(load_settings()).get_query_embedding('x')\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    environment = {"HOME": str(tmp_path), "PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    modules = set(done.stdout.split())
    assert "openvino" in modules
    assert not modules & {*HEAVY, "openvino_telemetry"}
    assert {path.name for path in tmp_path.iterdir()} <= {".cache"}
    assert done.stderr == ""
