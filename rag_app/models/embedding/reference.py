"""The reference runtime: LlamaIndex's ``HuggingFaceEmbedding`` with complete arguments.

Importing this module takes seconds (torch, transformers, scikit-learn): only
``embedding.load_embedding`` does, when no lighter runtime can compute the model.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from llama_index.embeddings.huggingface import (  # type: ignore[import-untyped]
    HuggingFaceEmbedding,
)
from pydantic import PrivateAttr
from transformers.utils import logging as transformers_logging

from pipelines.errors import EmbeddingError, ModelNotFoundError
from rag_app.models.embedding.folder import ModelFolder
from rag_app.models.embedding.identity import EmbeddingIdentity


class ReferenceEmbedding(HuggingFaceEmbedding):  # type: ignore[misc]  # its package is untyped
    """``HuggingFaceEmbedding`` on a local folder, with the identity that an index records.

    Its instructions are the model's (LlamaIndex knows only those of BGE, and only
    under the hub's exact name), its batches are 64 texts, and it never uses the network.
    """

    _identity: EmbeddingIdentity = PrivateAttr()

    @property
    def identity(self) -> EmbeddingIdentity:
        """The identity of this model, which an index records."""
        return self._identity

    @property
    def scripts(self) -> tuple[str, ...]:
        """Scripts that the model knows."""
        return self._identity.scripts

    @property
    def transformer(self) -> torch.nn.Module:
        """The torch module that computes token vectors from ids."""
        module: torch.nn.Module = self._model[0].model
        return module

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has with its instruction, uncut."""
        if not texts:
            return []
        prefix = self._identity.text_instruction
        encoded = self._model.tokenizer([prefix + text for text in texts], verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex records the class."""
        return "ReferenceEmbedding"


def load_reference(
    folder: ModelFolder,
    *,
    query_instruction: str = "",
    text_instruction: str = "",
    scripts: tuple[str, ...] = ("*",),
    batch_size: int = 64,
    max_tokens: int | None = None,
    precision: str = "float32",
    device: str | None = None,
) -> ReferenceEmbedding:
    """Load a model into torch.

    Args:
        folder: the model.
        query_instruction: prepended to a query.
        text_instruction: prepended to a passage.
        scripts: scripts that the model knows.
        batch_size: texts per batch.
        max_tokens: maximum tokens of a text that are read; None: the model's own maximum.
        precision: ``float32`` or ``bfloat16``.
        device: torch's name of a device; None: the best one available.

    Raises:
        ModelNotFoundError: the folder cannot be loaded.
    """
    try:
        with quiet():
            model = ReferenceEmbedding(
                model_name=str(folder.path),
                max_length=max_tokens,
                query_instruction=query_instruction,
                text_instruction=text_instruction,
                embed_batch_size=batch_size,
                device=device,
                local_files_only=True,
                model_kwargs={"dtype": getattr(torch, precision)},
            )
    except Exception as error:  # the libraries below raise anything here
        raise ModelNotFoundError(f"embed_model: {folder.path} does not load: {error}") from error
    dimension = model._model.get_embedding_dimension()
    if dimension is None:
        raise EmbeddingError(f"the model in {folder.path} has no fixed dimension")
    model._identity = EmbeddingIdentity(
        name=folder.canonical_name,
        fingerprint=folder.fingerprint,
        dimension=dimension,
        query_instruction=query_instruction,
        text_instruction=text_instruction,
        scripts=scripts,
        precision=precision,
        max_tokens=model.max_length,
    )
    return model


@contextmanager
def quiet() -> Iterator[None]:
    """Load without a progress bar on stderr and without warnings that do not help a user."""
    bar = transformers_logging.is_progress_bar_enabled()
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bar:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]
