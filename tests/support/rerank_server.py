"""What servers of rerankers do with a request, by scores that a function computes."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.openai_server import Failure, Json, Request

NAME = "reranker-1"

Score = Callable[[str, str], float]


def shared_words(question: str, text: str) -> float:
    """The share of the question's words that a text holds."""
    words = set(question.lower().split())
    return len(words & set(text.lower().split())) / len(words)


def scores_by(score: Score) -> Callable[[Request], Json | Failure]:
    """Serve the protocol of Cohere and Jina: best first, and three without a ``top_n``."""

    def serve(request: Request) -> Json | Failure:
        body = request.body
        if not request.path.endswith("/v1/rerank") or body["model"] != NAME:
            return Failure(404, "no such model")
        results = [
            {"index": place, "relevance_score": score(body["query"], text)}
            for place, text in enumerate(body["documents"])
        ]
        results.sort(key=lambda one: -one["relevance_score"])
        return Json({"id": "1", "results": results[: body.get("top_n", 3)], "meta": {}})

    return serve


def tei_scores_by(score: Score, *, max_texts: int = 32) -> Callable[[Request], Json | Failure]:
    """Serve the protocol of TEI, which refuses large batches."""

    def serve(request: Request) -> Json | Failure:
        texts = request.body["texts"]
        if len(texts) > max_texts:
            return Failure(422, f"batch size {len(texts)} > maximum allowed batch size {max_texts}")
        scored = [
            {"index": place, "score": score(request.body["query"], text)}
            for place, text in enumerate(texts)
        ]
        return Json(sorted(scored, key=lambda one: -one["score"]))

    return serve
