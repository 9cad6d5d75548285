"""A queue of parsed files for embedding: texts of several files are embedded together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pipelines.errors import RagError
from rag_app.ingest.embedding import Chosen, Embedder, texts_of
from rag_app.ingest.parsing import Parsed
from rag_app.store.array_types import Vector

Task = TypeVar("Task")
Vectors = dict[str, tuple[list[str], Vector]]  # by kind: node ids and their vectors
# Texts that are sorted by length together. Fewer need more padding, more delay files that
# could be in the index already.
MIN_TEXTS = 512


@dataclass(frozen=True)
class Embedded(Generic[Task]):
    """A file with all its vectors, or with its error."""

    task: Task
    parsed: Parsed
    vectors: Vectors = field(default_factory=dict)
    error: RagError | None = None


@dataclass
class _Waiting(Generic[Task]):
    """A file whose ``missing`` texts (an ordered set, by length) have no vector yet."""

    task: Task
    parsed: Parsed
    chosen: Chosen
    missing: dict[str, None]
    found: dict[str, Vector] = field(default_factory=dict)
    error: RagError | None = None

    def take(self, found: Mapping[str, Vector]) -> int:
        """Store the vectors of its texts; return how many."""
        mine = [text for text in found if text in self.missing]
        for text in mine:
            del self.missing[text]
            self.found[text] = found[text]
        return len(mine)

    def fail(self, error: RagError) -> int:
        """Set its error; return how many of its texts were still missing."""
        left = len(self.missing)
        self.missing, self.error = {}, error
        return left


class EmbeddingQueue(Generic[Task]):
    """Files in order of arrival; each leaves as soon as its last text is embedded.

    Attributes:
        texts: how many texts the files have, counted in each file.
        done: how many of them are embedded, or belong to a file that failed.
    """

    def __init__(
        self, embedder: Embedder | None, kinds: Sequence[str], told: Callable[[Task], None]
    ) -> None:
        """Make an empty queue; ``told`` gets the first file before and after every step."""
        self._embedder, self._kinds, self._told = embedder, kinds, told
        self._files: list[_Waiting[Task]] = []
        self.texts = self.done = 0

    def add(self, task: Task, parsed: Parsed) -> Iterator[Embedded[Task]]:
        """Add a file; embed once there are enough texts, and yield the finished files."""
        chosen = self._embedder.choose(parsed.nodes, self._kinds) if self._embedder else {}
        texts = sorted(set(texts_of(chosen)), key=lambda text: (len(text), text))
        self._files.append(_Waiting(task, parsed, chosen, dict.fromkeys(texts)))
        self.texts += len(texts)
        yield from self._finished()
        while self.texts - self.done >= MIN_TEXTS:
            yield from self._step()

    def rest(self) -> Iterator[Embedded[Task]]:
        """Embed the rest and yield the remaining files."""
        while self._files:
            yield from self._step()

    def _step(self) -> Iterator[Embedded[Task]]:
        if self._embedder is None:
            return
        for batch in self._embedder.batches(self._window(MIN_TEXTS)):
            if not self._files:
                return  # all have failed
            self._told(self._files[0].task)
            for texts, found in self._found(self._embedder, batch):
                for file in self._files:
                    if isinstance(found, RagError):
                        self.done += file.fail(found) if texts & file.missing.keys() else 0
                    else:
                        self.done += file.take(found)
            self._told(self._files[0].task)
            yield from self._finished()

    def _window(self, most: int) -> list[str]:
        """Return distinct texts of the first files."""
        texts: dict[str, None] = {}
        for file in self._files:
            for text in file.missing:
                texts[text] = None
                if len(texts) >= most:
                    return list(texts)
        return list(texts)

    def _found(
        self, embedder: Embedder, batch: Sequence[str]
    ) -> Iterator[tuple[set[str], dict[str, Vector] | RagError]]:
        """Embed a batch; where that fails, file by file, so that only the faulty file fails."""
        parts = [part for file in self._files if (part := file.missing.keys() & set(batch))]
        if len(parts) > 1:
            try:
                yield set(batch), embedder.embed_batch(batch)
            except RagError:
                pass  # whose fault it is, is seen file by file
            else:
                return
        for part in parts:
            try:
                yield part, embedder.embed_batch(sorted(part))
            except RagError as error:
                yield part, error

    def _finished(self) -> list[Embedded[Task]]:
        """Remove and yield the files that have all vectors, or an error."""
        out = [file for file in self._files if not file.missing]
        self._files = [file for file in self._files if file.missing]
        return [self._embedded(file) for file in out]

    def _embedded(self, file: _Waiting[Task]) -> Embedded[Task]:
        if file.error is not None or self._embedder is None:
            return Embedded(file.task, file.parsed, error=file.error)
        self._embedder.count_too_long(file.chosen)
        vectors = self._embedder.placed(file.chosen, file.found)
        return Embedded(file.task, file.parsed, vectors)
