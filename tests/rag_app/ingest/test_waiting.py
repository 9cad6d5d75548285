"""Files share batches, and each leaves as soon as its last text is embedded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from llama_index.core.schema import Document, MetadataMode, TextNode
from pydantic import PrivateAttr

from pipelines.errors import EmbeddingError
from pipelines.sentence_table import SentenceTable
from rag_app.ingest.embedding import Embedder
from rag_app.ingest.parsing import Parsed
from rag_app.ingest.waiting import Embedded, EmbeddingQueue
from rag_app.models.embedding.load import describe_embedding
from tests.support.embedding import HashEmbedding

KINDS = ("child-128",)


class Recorded(HashEmbedding):
    """Remembers what it was given at once; fails on texts that hold ``bad``."""

    embed_batch_size: int = 4
    _given: list[list[str]] = PrivateAttr(default_factory=list)

    def get_text_embedding_batch(self, texts: list[str], **_: object) -> list[list[float]]:
        self._given.append(list(texts))
        if any("bad" in text for text in texts):
            raise RuntimeError("a bad text")
        return [self._get_text_embedding(text) for text in texts]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_app.ingest.waiting.MIN_TEXTS", 8)
    monkeypatch.setattr("rag_app.ingest.embedding._MAX_BATCH_TEXTS", 4)


@pytest.fixture
def model() -> Recorded:
    return Recorded()


def file(name: str, texts: int, word: str = "good") -> Parsed:
    """Return a document of so many children, each longer than the one before it."""
    own = {"kind": KINDS[0], "script": "latin"}
    nodes = [
        TextNode(
            text=f"{name} {word} {'word ' * number}.",
            metadata=own,
            excluded_embed_metadata_keys=list(own),
        )
        for number in range(texts)
    ]
    return Parsed(Document(id_=name, text=name), nodes, {}, {}, SentenceTable.joined([]))


def queue_of(model: Recorded | None) -> tuple[EmbeddingQueue[str], list[str]]:
    told: list[str] = []
    embedder = Embedder(model, describe_embedding(model)) if model else None
    return EmbeddingQueue(embedder, KINDS, told.append), told


def names(embedded: Iterable[Embedded[str]]) -> list[str]:
    return [one.task for one in embedded]


def test_without_a_model_a_file_leaves_at_once() -> None:
    queue, _ = queue_of(None)
    (one,) = queue.add("a", file("a", 3))
    assert (one.task, one.vectors, one.error) == ("a", {}, None)
    assert list(queue.rest()) == []


def test_small_files_wait_until_a_batch_is_full_and_share_it(model: Recorded) -> None:
    queue, told = queue_of(model)
    assert [names(queue.add(name, file(name, 3))) for name in "ab"] == [[], []]
    assert model._given == []
    # Nine texts: eight are embedded together, of which two are those of the third file.
    assert names(queue.add("c", file("c", 3))) == ["a", "b"]
    assert [len(batch) for batch in model._given] == [4, 4]
    assert names(queue.rest()) == ["c"]
    assert (queue.done, queue.texts) == (9, 9)
    assert told == ["a", "a", "a", "a", "c", "c"]


def test_a_batch_holds_texts_of_like_length_of_different_files(model: Recorded) -> None:
    queue, _ = queue_of(model)
    for name in "ab":
        list(queue.add(name, file(name, 4)))
    lengths = [len(text) for batch in model._given for text in batch]
    assert lengths == sorted(lengths)
    assert {text[0] for text in model._given[0]} == {"a", "b"}


def test_a_small_file_does_not_wait_for_a_large_one_behind_it(model: Recorded) -> None:
    queue, _ = queue_of(model)
    assert names(queue.add("small", file("small", 2))) == []
    left = queue.add("large", file("large", 40))
    assert next(left).task == "small"
    assert sum(map(len, model._given)) <= 8
    assert names(left) == []
    assert names(queue.rest()) == ["large"]


def test_the_same_text_in_two_files_is_embedded_once(model: Recorded) -> None:
    queue, _ = queue_of(model)
    parsed = file("a", 3)
    for task in "ab":
        list(queue.add(task, parsed))
    first, second = queue.rest()
    assert model.embedded == 3
    assert first.vectors["child-128"][1].tolist() == second.vectors["child-128"][1].tolist()
    assert (queue.done, queue.texts) == (6, 6)


def test_each_vector_is_that_of_its_node(model: Recorded) -> None:
    queue, _ = queue_of(model)
    for name in "abcde":
        list(queue.add(name, file(name, 1)))
    for one in queue.rest():
        ids, vectors = one.vectors["child-128"]
        texts = {node.node_id: node.get_content(MetadataMode.EMBED) for node in one.parsed.nodes}
        expected = [model._get_text_embedding(texts[node_id]) for node_id in ids]
        assert vectors.tolist() == [pytest.approx(row, abs=1e-6) for row in expected]


def outcomes(embedded: Sequence[Embedded[str]]) -> dict[str, bool]:
    return {one.task: one.error is None for one in embedded}


def test_a_fault_stays_with_its_own_file(model: Recorded) -> None:
    queue, _ = queue_of(model)
    seen = list(queue.add("a", file("a", 3)))
    seen += queue.add("b", file("b", 3, word="bad"))
    seen += queue.add("c", file("c", 3))
    seen += queue.rest()
    assert outcomes(seen) == {"a": True, "b": False, "c": True}
    (error,) = [one.error for one in seen if one.error]
    assert isinstance(error, EmbeddingError)
    assert "a bad text" in error.message
    assert queue.done == queue.texts == 9


def test_a_model_that_fails_altogether_is_asked_once_for_each_file(model: Recorded) -> None:
    queue, _ = queue_of(model)
    seen = list(queue.add("a", file("a", 30, word="bad")))
    seen += queue.add("b", file("b", 30, word="bad"))
    seen += queue.rest()
    assert outcomes(seen) == {"a": False, "b": False}
    assert len(model._given) == 2
