"""The model's own tokenizer, without transformers: the ``tokenizer.json`` of its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rag_app.models.embedding.recipe import UnsupportedModelError

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


class TextTokenizer:
    """Texts → ids of the model's vocabulary; safe to use from several threads.

    Args:
        folder: the folder with ``tokenizer.json``.
        max_tokens: maximum ids per text, special ones included.
        lower_case: whether the text is lowercased first.

    Raises:
        UnsupportedModelError: the file is missing, or cannot be loaded.
    """

    def __init__(self, folder: Path, *, max_tokens: int, lower_case: bool = False) -> None:
        self._max_tokens = max_tokens
        self._lower_case = lower_case
        self._cutting = _load(folder)
        # The file may pad to, and truncate at, the length of its training.
        self._cutting.no_padding()
        self._cutting.enable_truncation(max_tokens)
        self._counting: Tokenizer | None = None
        self._folder = folder

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, truncated at ``max_tokens``."""
        return [encoding.ids for encoding in self._encode(self._cutting, texts)]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return how many ids each text has, not truncated, special ones included."""
        if self._counting is None:
            # A second tokenizer: switching truncation off and on would race with other threads.
            counting = _load(self._folder)
            counting.no_padding()
            counting.no_truncation()
            self._counting = counting
        return [len(encoding.ids) for encoding in self._encode(self._counting, texts)]

    def _encode(self, tokenizer: Tokenizer, texts: Sequence[str]) -> list[Encoding]:
        cleaned = [_utf8(text.lower() if self._lower_case else text) for text in texts]
        return tokenizer.encode_batch_fast(cleaned)


def _load(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if not path.is_file():
        raise UnsupportedModelError("it has no tokenizer.json")
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the Rust library raises nothing narrower
        raise UnsupportedModelError(f"its tokenizer.json does not load: {error}") from error


def _utf8(text: str) -> str:
    # A question from the command line may hold lone surrogates (bytes that are not UTF-8).
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
