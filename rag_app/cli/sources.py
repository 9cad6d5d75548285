"""What a question is put to: an index, several, or PDFs named beside it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import (
    FilterError,
    IndexDamagedError,
    IndexMismatchError,
    IndexNewerError,
    IndexNotFoundError,
    ReadError,
)
from rag_app.cli.cache import IndexCache, key_of
from rag_app.cli.filters import filters_of
from rag_app.cli.options import DEFAULT_INDEX
from rag_app.cli.session import Session, describe

if TYPE_CHECKING:
    from llama_index.core.vector_stores.types import MetadataFilters

    from rag_app.index import Index
    from rag_app.joined import JoinedIndex

_STALE = (IndexMismatchError, IndexDamagedError, IndexNewerError)


@dataclass(frozen=True)
class Source:
    """One index or several, open.

    Attributes:
        index: what is asked.
        parts: the indexes it is made of.
        failed: PDFs that could not be read, as errors: ``file``, ``message``, ``hint``.
        named: whether the indexes are of PDFs named beside the question.
    """

    index: Index | JoinedIndex
    parts: tuple[Index, ...]
    failed: tuple[dict[str, str], ...] = ()
    named: bool = False


@contextmanager
def indexes(paths: Sequence[Path], current: Session) -> Iterator[Source]:
    """Open the indexes, as one where they are several; ``./.rag`` where none is named."""
    from rag_app.index import Index

    unique = {path.resolve(): path for path in paths or [DEFAULT_INDEX]}
    with ExitStack() as stack:
        parts = tuple(
            stack.enter_context(Index.open(path, settings=current.settings))
            for path in unique.values()
        )
        yield Source(_joined(parts), parts)


def open_or_create(
    path: Path, pipelines: Sequence[str], current: Session, embed_model: Any = None
) -> Index:
    """Open the index at a path; make an empty one where there is none."""
    from rag_app.index import Index

    settings = current.settings
    try:
        # First, because making one loads the embedding model.
        return Index.open(path, embed_model=embed_model, settings=settings)
    except IndexNotFoundError:
        return Index.create(
            path, embed_model=embed_model, pipelines=pipelines, settings=settings, exist_ok=True
        )


@contextmanager
def pdfs(paths: Sequence[Path], current: Session) -> Iterator[Source]:
    """Open the kept index of each PDF, made now where there is none.

    A file that cannot be read is named on stderr, and the others are asked.

    Raises:
        ReadError: none of the files could be read.
    """
    unique = {path.resolve(): path for path in paths}
    failed: list[dict[str, str]] = []
    with ExitStack() as stack:
        cache = stack.enter_context(_cache(current))
        kept = _Keeper(cache, current, stack)
        for path in unique.values():
            try:
                kept.open(path)
            except (ReadError, OSError) as error:
                if len(unique) == 1:
                    raise
                about = describe(error)
                failed.append({"file": str(path)} | about)
                current.out.complain(f"warning: {about['message']}: it was left out")
        if not kept.parts:
            raise ReadError(
                f"none of the {len(unique)} files could be read",
                hint="each is named above with its reason",
            )
        cache.trim()
        parts = tuple(kept.parts)
        yield Source(_joined(parts), parts, tuple(failed), named=True)


def chosen(
    source: Source,
    files: Sequence[str] | None,
    pages: Sequence[str] | None,
    where: Sequence[str] | None,
) -> MetadataFilters | None:
    """Return the filters that the options ask for.

    Raises:
        UsageError: an option cannot be read.
        FilterError: no passage fits. It is an error, because a slip in a name would
            otherwise read as "not in the documents".
    """
    filters = filters_of(files, pages, where)
    if filters is None or _fits(source, filters):
        return filters
    for file in files or ():
        if not _fits(source, filters_of([file], None, None)):
            raise FilterError(f"no file of the index is called {file!r}", hint=_like(file, source))
    raise FilterError(
        "no passage fits all of --file, --page and --where together",
        hint="leave one of them away, or see rag info",
    )


def _fits(source: Source, filters: MetadataFilters | None) -> bool:
    for part in source.parts:
        with part.store.snapshot() as snapshot:
            if len(snapshot.select(filters)):
                return True
    return False


def _like(file: str, source: Source) -> str:
    names = {Path(name).name for part in source.parts for name in _names(part)}
    close = get_close_matches(Path(file).name, sorted(names), n=1)
    return f"did you mean {close[0]!r}?" if close else "rag info lists them"


def _names(index: Index) -> set[str]:
    with index.store.snapshot() as snapshot:
        return {name for held in snapshot.sources() for name in held.names}


def _joined(parts: tuple[Index, ...]) -> Index | JoinedIndex:
    from rag_app.joined import JoinedIndex

    return parts[0] if len(parts) == 1 else JoinedIndex(parts)


@contextmanager
def _cache(current: Session) -> Iterator[IndexCache]:
    """Give the user's cache, or one for this run alone where that cannot be written."""
    settings = current.settings
    cache = IndexCache(settings.cache_dir / "indexes", limit_mb=settings.cache_limit_mb)
    try:
        cache.prepare()
    except OSError as error:
        current.out.note(f"the cache {cache.root} cannot be written ({error.strerror}): not kept")
        with tempfile.TemporaryDirectory() as folder:
            yield IndexCache(Path(folder), limit_mb=settings.cache_limit_mb)
    else:
        yield cache


class _Keeper:
    """Opens kept indexes, each locked until the stack is closed."""

    def __init__(self, cache: IndexCache, current: Session, stack: ExitStack) -> None:
        from rag_app.retrieval.strategy import get_strategy

        self._cache, self._current, self._stack = cache, current, stack
        settings = current.settings
        self._pipelines = pipelines_of(get_strategy(settings.strategy, settings.presets))
        self.parts: list[Index] = []

    def open(self, path: Path) -> None:
        """Open the kept index of a PDF; one that is stale is made anew.

        Raises:
            ReadError: the PDF could not be read.
        """
        from pipelines.documents import content_hash

        key = key_of(content_hash(path), self._current.settings, self._pipelines)
        try:
            self.parts.append(self._open(key, path))
        except _STALE:
            if not self._cache.discard(key):
                raise
            self.parts.append(self._open(key, path))

    def _open(self, key: str, path: Path) -> Index:
        from rag_app.ingest.inputs import absolute

        with ExitStack() as attempt:
            folder = attempt.enter_context(self._cache.hold(key, Path(absolute(path))))
            index = attempt.enter_context(
                open_or_create(folder, self._pipelines, self._current, self._model())
            )
            self._fill(index, path)
            self._stack.push(attempt.pop_all())
            return index

    def _model(self) -> Any:
        # Loaded once for all files.
        return self.parts[0].embed_model if self.parts else None

    def _fill(self, index: Index, path: Path) -> None:
        """Read the PDF unless it was; let the index know it by this name alone."""
        from rag_app.ingest.inputs import absolute

        names = _names(index)
        here = absolute(path)
        # Pieces of which a model wrote only some are written on.
        if names == {here} and "multi_vector" not in self._pipelines:
            return
        self._current.out.note(f"reading {path}")
        report = index.ingest(path)
        for file in report.files:
            if file.status == "failed":
                raise ReadError(file.error, hint=file.hint)
        if others := names - {here}:
            index.remove(*others)


def pipelines_of(strategy: Any) -> tuple[str, ...]:
    """Return the ``--pipeline`` names that build what a strategy searches."""
    from rag_app.retrieval.strategy import pipeline_of

    if not strategy.needs_vectors:
        return ("bm25",)
    names = (pipeline_of(arm) for arm in strategy.arms if arm.weight)
    return tuple(sorted({name for name in names if name is not None}))
