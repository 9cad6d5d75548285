"""Embedding models behind the OpenAI protocol: OpenAI's own, TEI, Ollama, vLLM, LM Studio.

A server is not trusted: what it sends has a size and an end, and each text gets exactly
one vector of finite numbers, all of one length.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from pipelines.errors import (
    ConfigError,
    EmbeddingError,
    EmbeddingRefusedError,
    LLMError,
    LLMNotFoundError,
    LLMRequestError,
    LLMServerError,
    ModelNotFoundError,
)
from pipelines.text import count_tokens, sanitise
from pipelines.tokens import TokenOffsets
from rag_app.models.embedding.identity import EmbeddingIdentity
from rag_app.models.embedding.known import find_by_name
from rag_app.models.json_server import JsonServer
from rag_app.models.service import EMBEDDINGS, key_for
from rag_app.settings import OPENAI_URL, Settings, served_name

# Of the servers named above, TEI takes the fewest texts, and the fewest tokens, by default.
DEFAULT_BATCH_TEXTS = 32
MAX_BATCH_TOKENS = 8_192
# 2,048 vectors of 1,024 numbers as they are usually printed.
MAX_BODY_BYTES = 48 * 1024 * 1024
MAX_DIMENSION = 65_536
_PATH = "/embeddings"
_PROBE = "dimension"

Rows = list[list[float]]


class ServerEmbedding(BaseEmbedding):
    """An embedding model that a server computes; no representation shows its key.

    Made by :func:`load_server_embedding`. Requests hold at most ``embed_batch_size`` texts
    and :data:`MAX_BATCH_TOKENS` tokens; a batch that the server refuses is sent in halves,
    because servers have limits of their own.
    """

    embed_batch_size: int = DEFAULT_BATCH_TEXTS
    _server: JsonServer = PrivateAttr()
    _base: EmbeddingIdentity = PrivateAttr()
    _dimension: int | None = PrivateAttr(default=None)
    _cut_tokens: int | None = PrivateAttr(default=None)
    _guard: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(
        self,
        *,
        server: JsonServer,
        identity: EmbeddingIdentity,
        cut_tokens: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model_name=identity.name, **kwargs)
        self._server, self._base, self._cut_tokens = server, identity, cut_tokens

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex records the class."""
        return "ServerEmbedding"

    @property
    def identity(self) -> EmbeddingIdentity:
        """The identity of this model, which an index records; the server is asked once.

        Raises:
            EmbeddingError: the server does not tell the length of its vectors.
        """
        return replace(self._base, dimension=self._known_dimension())

    @property
    def scripts(self) -> tuple[str, ...]:
        """Scripts that the model knows."""
        return self._base.scripts

    def _known_dimension(self) -> int:
        if self._dimension is None:
            self._embed(self._base.query_instruction, [_PROBE])
        if self._dimension is None:
            raise EmbeddingError(f"{self.model_name}: the length of its vectors is not known")
        return self._dimension

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embed(self._base.query_instruction, [query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return (await self._aembed(self._base.query_instruction, [query]))[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embed(self._base.text_instruction, [text])[0]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aembed(self._base.text_instruction, [text]))[0]

    def _get_text_embeddings(self, texts: list[str]) -> Rows:
        return self._embed(self._base.text_instruction, texts)

    async def _aget_text_embeddings(self, texts: list[str]) -> Rows:
        return await self._aembed(self._base.text_instruction, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Rows:
        rows: Rows = []
        waiting = self._batches(prefix, texts)
        while waiting:
            batch = waiting.pop()
            try:
                rows += self._server.post(_PATH, self._body(batch), self._reader(batch))
            except LLMError as error:
                waiting += _halves(batch, error)
        return rows

    async def _aembed(self, prefix: str, texts: Sequence[str]) -> Rows:
        rows: Rows = []
        waiting = self._batches(prefix, texts)
        while waiting:
            batch = waiting.pop()
            try:
                rows += await self._server.apost(_PATH, self._body(batch), self._reader(batch))
            except LLMError as error:
                waiting += _halves(batch, error)
        return rows

    def _batches(self, prefix: str, texts: Sequence[str]) -> list[list[str]]:
        """Return the batches to send, the first one last."""
        whole = [self._cut(sanitise(prefix + text)) for text in texts]
        return list(batches_of(whole, self.embed_batch_size))[::-1]

    def _cut(self, text: str) -> str:
        if self._cut_tokens is None:
            return text
        return text[: TokenOffsets(text).end_of(0, self._cut_tokens)]

    def _body(self, batch: Sequence[str]) -> dict[str, Any]:
        return {"model": self._server.model, "input": list(batch), "encoding_format": "float"}

    def _reader(self, batch: Sequence[str]) -> Any:
        def read(answer: Any) -> Rows:
            matrix = read_vectors(answer, len(batch), self._server.model)
            self._check_dimension(matrix.shape[1])
            rows: Rows = matrix.tolist()
            return rows

        return read

    def _check_dimension(self, found: int) -> None:
        with self._guard:
            if self._dimension is None:
                self._dimension = found
        if found != self._dimension:
            raise LLMServerError(
                f"{self._server.model}: the server sent vectors of {found} numbers, "
                f"and before of {self._dimension}",
                hint=f"check that {EMBEDDINGS.address} serves one model of this name",
            )


def batches_of(texts: Sequence[str], max_texts: int) -> Iterator[list[str]]:
    """Yield the texts in order, in batches of at most ``max_texts`` and of bounded tokens.

    A text of more than :data:`MAX_BATCH_TOKENS` tokens is a batch by itself.
    """
    batch: list[str] = []
    tokens = 0
    for text in texts:
        # A question alone needs no tokenizer.
        count = count_tokens(text) if len(texts) > 1 else 0
        if batch and (len(batch) >= max_texts or tokens + count > MAX_BATCH_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += count
    if batch:
        yield batch


def _halves(batch: Sequence[str], error: LLMError) -> list[list[str]]:
    """Return a refused batch in halves, the first one last, or raise our error.

    Raises:
        EmbeddingError: the batch was not refused, or is a text alone.
    """
    if not isinstance(error, LLMRequestError) or len(batch) < 2:
        raise as_embedding_error(error) from None
    middle = len(batch) // 2
    return [list(batch[middle:]), list(batch[:middle])]


def read_vectors(answer: Any, count: int, model: str) -> npt.NDArray[np.float64]:
    """Return the vectors of an answer, shape (count, dimension), in the order of the texts.

    Args:
        answer: JSON of the OpenAI protocol.
        count: texts that were sent.
        model: name of the model, for messages.

    Raises:
        LLMServerError: another number of vectors, of uneven lengths, or no finite numbers.
        TypeError, LookupError: it is no answer of the protocol.
    """
    entries = answer["data"]
    if not isinstance(entries, list):
        raise TypeError("data is no list")
    if len(entries) != count:
        raise _wrong(model, f"{len(entries)} vectors for {count} texts")
    rows: list[Any] = [None] * count
    for place, entry in enumerate(entries):
        index = entry.get("index", place)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
            raise _wrong(model, f"a vector for text number {str(index)[:20]} of {count}")
        if rows[index] is not None:
            raise _wrong(model, f"two vectors for text number {index}")
        rows[index] = entry["embedding"]
    return _matrix(rows, model)


def _matrix(rows: Sequence[Any], model: str) -> npt.NDArray[np.float64]:
    lengths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if len(lengths) != 1 or not 0 < max(lengths) <= MAX_DIMENSION:
        raise _wrong(model, f"vectors of {', '.join(map(str, sorted(lengths)[:5]))} numbers")
    if not all(_is_number(value) for row in rows for value in row):
        raise _wrong(model, "a vector with what is no finite number")
    matrix = np.array(rows, dtype=np.float64)
    if not matrix.any(axis=1).all():
        raise _wrong(model, "a vector of zeros")
    return matrix


def _is_number(value: object) -> bool:
    if type(value) is float:
        return math.isfinite(value)
    return type(value) is int and abs(value) < 1 << 53


def _wrong(model: str, what: str) -> LLMServerError:
    return LLMServerError(
        f"{model}: the server sent {what}",
        hint=f"check that {EMBEDDINGS.address} serves an embedding model",
    )


def as_embedding_error(error: LLMError) -> EmbeddingError:
    """Return the error of an embedding model for one of a server of models."""
    if isinstance(error, LLMNotFoundError):
        return ModelNotFoundError(error.message, hint=error.hint)
    kind = EmbeddingError if error.retryable else EmbeddingRefusedError
    return kind(error.message, hint=error.hint)


def load_server_embedding(settings: Settings) -> ServerEmbedding:
    """Return the embedding model that the settings name; no request is sent yet.

    Raises:
        ConfigError: a model of another server than OpenAI's without its address.
        EmbeddingRefusedError: a model of OpenAI's without a key.
    """
    served = served_name(settings.embed_model)
    if served is None:
        raise ConfigError(f"embed_model {settings.embed_model} names no model of a server")
    kind, name = served
    base_url = settings.embed_base_url or (OPENAI_URL if kind == "openai" else None)
    if base_url is None:
        raise ConfigError(
            f"embed_model {settings.embed_model} needs the address of its server",
            hint="set embed_base_url (RAG_EMBED_BASE_URL, --embed-base-url), for example "
            "http://localhost:8080/v1",
        )
    key = key_for(settings, EMBEDDINGS, base_url)
    if kind == "openai" and key is None:
        raise EmbeddingRefusedError(
            f"{settings.embed_model} needs a key", hint="set OPENAI_API_KEY or RAG_EMBED_API_KEY"
        )
    server = JsonServer(
        service=EMBEDDINGS,
        model=name,
        base_url=base_url,
        timeout=settings.embed_timeout,
        key=key,
        limit=MAX_BODY_BYTES,
    )
    size = settings.embed_batch_size
    return ServerEmbedding(
        server=server,
        identity=_identity_of(settings, name),
        cut_tokens=settings.embed_max_tokens,
        **({"embed_batch_size": size} if size else {}),
    )


def _identity_of(settings: Settings, name: str) -> EmbeddingIdentity:
    """Return all of the identity but the dimension; explicit settings come before the table."""
    known = find_by_name(name)
    query, text = settings.query_instruction, settings.text_instruction
    if query is None:
        query = known.query_instruction if known else ""
    if text is None:
        text = known.text_instruction if known else ""
    return EmbeddingIdentity(
        name=settings.embed_model,
        fingerprint="",
        dimension=0,
        query_instruction=query,
        text_instruction=text,
        scripts=settings.embed_scripts or (known.scripts if known else ("*",)),
        max_tokens=None,
    )
