"""Rerankers behind a server: the protocol of Cohere, Jina, vLLM and LiteLLM, and that of TEI.

A server is not trusted: what it sends has a size and an end, and each passage gets exactly
one finite score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.errors import ConfigError, LLMError, LLMServerError, RerankError
from rag_app.models.json_server import JsonServer
from rag_app.models.service import RERANKING, key_for
from rag_app.settings import RERANK_URLS, Settings

_PATH = "/rerank"
# TEI takes 32 texts by default, the others a thousand or more.
_MAX_TEXTS = {"tei": 32}
_MAX_TEXTS_OF_OTHERS = 1_000


@dataclass(frozen=True)
class RerankServer:
    """A reranker behind a server; safe for several threads.

    Attributes:
        kind: ``cohere``, ``jina``, ``like`` (their protocol) or ``tei``.
        server: how it is reached.
    """

    kind: str
    server: JsonServer

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text; higher is better.

        Raises:
            RerankError: the server failed, or what it sent is not one score a text.
        """
        size = _MAX_TEXTS.get(self.kind, _MAX_TEXTS_OF_OTHERS)
        batches = [list(texts[start : start + size]) for start in range(0, len(texts), size)]
        return [score for batch in batches for score in self._batch(question, batch)]

    def _batch(self, question: str, texts: list[str]) -> list[float]:
        def read(answer: Any) -> list[float]:
            return read_scores(answer, len(texts), self.server.model)

        try:
            return self.server.post(_PATH, self._body(question, texts), read)
        except LLMError as error:
            raise RerankError(error.message, hint=error.hint) from None

    def _body(self, question: str, texts: list[str]) -> dict[str, Any]:
        if self.kind == "tei":
            return {"query": question, "texts": texts, "truncate": True}
        body = {
            "model": self.server.model,
            "query": question,
            "documents": texts,
            # Of some servers the default is fewer than all.
            "top_n": len(texts),
        }
        return {**body, "return_documents": False} if self.kind == "jina" else body


def read_scores(answer: Any, count: int, model: str) -> list[float]:
    """Return the scores of an answer in the order of the texts.

    Args:
        answer: JSON of the protocol of Cohere and Jina, or of TEI (a list).
        count: texts that were sent.
        model: name of the model, for messages.

    Raises:
        LLMServerError: another number of scores, or no finite numbers.
        TypeError, LookupError: it is no answer of the protocol.
    """
    entries = answer["results"] if isinstance(answer, dict) else answer
    if not isinstance(entries, list):
        raise TypeError("results is no list")
    if len(entries) != count:
        raise _wrong(model, f"{len(entries)} scores for {count} passages")
    scores: dict[int, float] = {}
    for entry in entries:
        index = entry["index"]
        score = entry["relevance_score"] if "relevance_score" in entry else entry["score"]
        if type(index) is not int or not 0 <= index < count or index in scores:
            raise _wrong(model, f"scores whose index is not once each of 0 to {count - 1}")
        if type(score) not in (int, float) or not math.isfinite(score) or abs(score) > 1e300:
            raise _wrong(model, "a score that is no finite number")
        scores[index] = float(score)
    return [scores[index] for index in range(count)]


def _wrong(model: str, what: str) -> LLMServerError:
    return LLMServerError(
        f"{model}: the server sent {what}",
        hint=f"check that {RERANKING.address} serves a reranker",
    )


def load_rerank_server(kind: str, name: str, settings: Settings) -> RerankServer:
    """Return a reranker behind a server; no request is sent yet.

    Args:
        kind: a key of :data:`rag_app.settings.RERANK_URLS`.
        name: of the model.
        settings: address, key, time.

    Raises:
        ConfigError: the address or the key is missing.
    """
    usual = RERANK_URLS[kind]
    base_url = settings.rerank_base_url or usual
    if base_url is None:
        raise ConfigError(
            f"the reranker {kind}:{name} needs the address of its server",
            hint="set rerank_base_url (RAG_RERANK_BASE_URL, --rerank-base-url), for example "
            "http://localhost:8000/v1",
        )
    key = key_for(settings, RERANKING, base_url)
    if key is None and base_url == usual:
        raise ConfigError(
            f"the reranker {kind}:{name} needs a key",
            hint=f"set {kind.upper()}_API_KEY or RAG_RERANK_API_KEY",
        )
    server = JsonServer(RERANKING, name, base_url, settings.rerank_timeout, key)
    return RerankServer(kind, server)
