"""The embedding model that computes with OpenVINO."""

from __future__ import annotations

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.errors import EmbeddingError
from rag_app.models.embedding.agreement import (
    SENTENCES,
)
from rag_app.models.embedding.encoder import Engine
from rag_app.models.embedding.load import count_tokens, describe_embedding, load_embedding
from rag_app.settings import Settings
from tests.rag_app.models.embedding.vectors import unsupported


def test_both_runtimes_open_the_same_index(reference: BaseEmbedding, cache: Path) -> None:
    ours = describe_embedding(load_embedding(Settings(cache_dir=cache)))
    torchs = describe_embedding(reference)
    assert ours.same_model(torchs)
    assert (ours.name, ours.max_tokens, ours.scripts) == (
        torchs.name,
        torchs.max_tokens,
        torchs.scripts,
    )


def test_both_runtimes_count_the_same_tokens(reference: BaseEmbedding, cache: Path) -> None:
    ours = load_embedding(Settings(cache_dir=cache))
    texts = [*SENTENCES, "", "word " * 400]
    assert count_tokens(ours, texts) == count_tokens(reference, texts)
    assert count_tokens(reference, []) == []


def test_async_and_threads_give_the_same(minilm: BaseEmbedding) -> None:
    questions = [f"question number {number}" for number in range(16)]
    expected = [minilm.get_query_embedding(question) for question in questions]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(minilm.get_query_embedding, questions)) == expected

    async def gather() -> list[list[float]]:
        return await asyncio.gather(*map(minilm.aget_query_embedding, questions))

    assert asyncio.run(gather()) == expected


def test_a_copy_made_by_pickle_computes_the_same(minilm: BaseEmbedding) -> None:
    copy = pickle.loads(pickle.dumps(minilm))
    assert copy.get_query_embedding("a question") == minilm.get_query_embedding("a question")
    assert describe_embedding(copy) == describe_embedding(minilm)


def test_warm_up_compiles_in_the_background(cache: Path) -> None:
    model: Any = load_embedding(Settings(cache_dir=cache))
    model.warm_up()
    assert len(model.get_query_embedding("a question")) == 384


def test_a_failing_runtime_is_our_error(
    minilm: BaseEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Engine) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Engine, "ready", fail)
    with pytest.raises(EmbeddingError, match="out of memory") as caught:
        minilm.get_text_embedding("x")
    assert caught.value.retryable


def test_a_model_that_no_longer_compiles_is_our_error(
    minilm: BaseEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "ready", unsupported)
    with pytest.raises(EmbeddingError, match="it is too new"):
        minilm.get_text_embedding("x")
