"""Cross-encoders on this machine: a tiny one of the right form, computed by torch."""

from __future__ import annotations

import numpy as np
import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from pipelines.errors import ConfigError
from rag_app.retrieval.rerank import load_reranker
from rag_app.settings import Settings
from tests.support.models import save_tiny_cross_encoder

pytest.importorskip("torch")

QUESTION = "which valve"
TEXTS = ["a valve", "the crane lifts", "42", "which valve leaks oil", "oil"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_cross_encoder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return Settings(cache_dir=tmp_path_factory.mktemp("cache"))


def given(texts=TEXTS):
    return [NodeWithScore(node=TextNode(id_=text, text=text), score=0.5) for text in texts]


def test_a_folder_scores_as_sentence_transformers_does_and_orders_by_it(folder, settings):
    from sentence_transformers import CrossEncoder

    pairs = [(QUESTION, text) for text in TEXTS]
    expected = CrossEncoder(str(folder)).predict(pairs, show_progress_bar=False)
    assert np.ptp(expected) > 1e-3, "the model tells texts apart"
    found = load_reranker(f"cross-encoder:{folder}", 3, settings).postprocess_nodes(
        given(), query_str=QUESTION
    )
    order = [TEXTS[place] for place in np.argsort(-expected, kind="stable")][:3]
    assert [one.node.node_id for one in found] == order
    assert [one.score for one in found] == pytest.approx(sorted(expected, reverse=True)[:3])


def test_it_is_loaded_once(folder, settings):
    one, two = (load_reranker(f"cross-encoder:{folder}", k, settings) for k in (3, 5))
    assert one._scores is two._scores
    assert (one.label, two.top_n) == (f"cross-encoder:{folder}", 5)


def test_one_that_gives_several_numbers_is_refused(tmp_path, settings):
    folder = save_tiny_cross_encoder(tmp_path / "three", labels=3)
    with pytest.raises(ConfigError, match="gives 3 scores for each passage"):
        load_reranker(f"cross-encoder:{folder}", 3, settings)


def test_weights_that_do_not_load_are_one_line(folder, tmp_path, settings):
    broken = save_tiny_cross_encoder(tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ConfigError, match="does not load"):
        load_reranker(f"cross-encoder:{broken}", 3, settings)


@pytest.mark.parametrize("name", ["cross-encoder/ms-marco-none-such", "./nowhere", "no name"])
def test_one_that_is_not_here_says_how_to_fetch_it(name, settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ConfigError, match="not on this machine") as raised:
        load_reranker(f"cross-encoder:{name}", 3, settings)
    assert f"hf download {name}" in raised.value.hint
