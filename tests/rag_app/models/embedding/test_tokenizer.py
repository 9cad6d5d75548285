"""The model's own tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_app.models.embedding.folder import locate
from rag_app.models.embedding.recipe import UnsupportedModelError
from rag_app.models.embedding.tokenizer import TextTokenizer


def test_a_folder_without_tokenizer_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModelError, match=r"no tokenizer\.json"):
        TextTokenizer(tmp_path, max_tokens=8)


def test_a_damaged_tokenizer_is_unsupported(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UnsupportedModelError, match="does not load"):
        TextTokenizer(tmp_path, max_tokens=8)


def test_the_tokenizer_cuts_at_the_models_length_not_at_its_files() -> None:
    """The file of the default model cuts at 128 and pads to 128."""
    tokenizer = TextTokenizer(locate("minilm").path, max_tokens=200)
    assert [len(ids) for ids in tokenizer.encode(["word " * 300, "word"])] == [200, 3]
    assert tokenizer.count(["word " * 300]) == [302]


def test_lower_case_is_applied_when_the_model_says_so() -> None:
    class Cased(TextTokenizer):
        pass

    folder = locate("minilm").path
    assert Cased(folder, max_tokens=8, lower_case=True).encode(["WORD"]) == TextTokenizer(
        folder, max_tokens=8
    ).encode(["word"])
