"""What a server of embeddings does with a request, by vectors that a function computes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.support.openai_server import Failure, Json, OpenAIServer, Request

NAME = "all-minilm"

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]


def vectors_by(embed: Embed, *, max_texts: int | None = None) -> Callable[[Request], object]:
    """Serve the OpenAI embeddings protocol; the vectors come in another order than the texts.

    ``max_texts``: larger batches are refused as TEI refuses them.
    """

    def serve(request: Request) -> Json | Failure:
        texts = request.body["input"]
        if not request.path.endswith("/v1/embeddings") or request.body["model"] != NAME:
            return Failure(404, "no such model")
        if max_texts is not None and len(texts) > max_texts:
            return Failure(422, f"batch size {len(texts)} > maximum allowed batch size {max_texts}")
        data = [
            {"object": "embedding", "index": place, "embedding": list(vector)}
            for place, vector in enumerate(embed(texts))
        ]
        random.Random(0).shuffle(data)
        return Json({"object": "list", "data": data, "model": NAME})

    return serve


def sent(server: OpenAIServer) -> list[list[str]]:
    """The texts of each request so far."""
    return [request.body["input"] for request in server.requests]
