"""The table of known models."""

from __future__ import annotations

import pytest

from rag_app.models.embedding.known import MODELS, find_by_name, find_by_sha256

E5 = "intfloat/multilingual-e5-small"


@pytest.mark.parametrize(
    "name",
    [E5, "multilingual-e5-small", "models--intfloat--multilingual-e5-small", E5.upper()],
)
def test_a_model_is_found_under_each_of_its_names(name: str) -> None:
    known = find_by_name(name)
    assert known is not None
    assert (known.query_instruction, known.text_instruction) == ("query: ", "passage: ")
    assert known.scripts == ("*",)


def test_a_name_that_only_contains_a_known_one_is_not_found() -> None:
    assert find_by_name("my-bge-small-en-v1.5-finetuned") is None


def test_the_default_is_found_by_its_weights() -> None:
    minilm = find_by_name("minilm")
    assert minilm is not None
    assert find_by_sha256(minilm.sha256) is minilm
    assert minilm.license == "Apache-2.0"
    assert minilm.scripts == ("latin",)


def test_names_are_unique_and_licences_recorded() -> None:
    names = [model.hub.lower() for model in MODELS]
    shorts = [model.short for model in MODELS if model.short]
    assert len(set(names)) == len(names)
    assert len(set(shorts)) == len(shorts)
    assert all(model.license for model in MODELS)
