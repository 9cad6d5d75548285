"""The source of an answer: an index, or several."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import (
    FilterError,
    IndexLockedError,
    IndexNotFoundError,
    IndexReadOnlyError,
)
from pipelines.file_names import base_name, original, printable
from rag_app.cli.filters import filters_of
from rag_app.cli.loading import begin
from rag_app.cli.options import DEFAULT_INDEX
from rag_app.cli.session import Session

if TYPE_CHECKING:
    from llama_index.core.vector_stores.types import MetadataFilters

    from rag_app.index import Index
    from rag_app.joined import JoinedIndex
    from rag_app.session import QuerySession


@dataclass(frozen=True)
class Source:
    """One index or several, open.

    Attributes:
        index: what is asked.
        parts: the indexes it is made of.
        failed: PDFs that could not be read, as errors: ``file``, ``message``, ``hint``.
    """

    index: Index | JoinedIndex
    parts: tuple[Index, ...]
    failed: tuple[dict[str, str], ...] = ()


@contextmanager
def indexes(paths: Sequence[Path], current: Session) -> Iterator[Source]:
    """Open the indexes, as one where they are several; ``./.rag`` where none is named."""
    settings = current.settings
    unique = {path.resolve(): path for path in paths or [DEFAULT_INDEX]}
    loading = {path: begin(path, settings) for path in unique.values()}
    index = _index_class()
    with ExitStack() as stack:
        parts = tuple(
            stack.enter_context(index.open(path, settings=settings, loading=begun))
            for path, begun in loading.items()
        )
        source = Source(_joined(parts), parts)
        with source.index.session() as session:
            session.check_not_empty()
        yield source


@contextmanager
def pdfs_or_indexes(
    pdfs: Sequence[Path], paths: Sequence[Path], current: Session
) -> Iterator[Source]:
    """Open PDFs where some are named, otherwise the indexes (:func:`indexes`)."""
    if not pdfs:
        with indexes(paths, current) as source:
            yield source
        return
    # What reads PDFs is not imported for a question to an index.
    from rag_app.cli.pdfs import cached_pdfs

    with cached_pdfs(pdfs, current) as source:
        yield source


def _index_class() -> type[Index]:
    """Import LlamaIndex without garbage collection, and exclude its objects from later ones.

    Collecting takes 9 % of the processor time of a first question, 10 % by the clock
    (24 interleaved pairs on the sample PDFs, ``python -m benchmarks.exit``).
    """
    gc.disable()
    try:
        from rag_app.index import Index
    finally:
        gc.enable()
    gc.freeze()
    return Index


@contextmanager
def open_or_create(path: Path, pipelines: Sequence[str], current: Session) -> Iterator[Index]:
    """Open the index at a path, or make one, which is removed again if it stays empty.

    An empty index would answer "not in the documents" for ever.
    """
    from rag_app.index import Index

    settings = current.settings
    try:
        # First, because making one loads the embedding model.
        index = Index.open(path, settings=settings)
    except IndexNotFoundError:
        with _made(path):
            create = partial(Index.create, path, pipelines=pipelines, settings=settings)
            with create(exist_ok=True) as index:
                yield index
    else:
        with index:
            yield index


@contextmanager
def _made(path: Path) -> Iterator[None]:
    from rag_app.store import is_index, remove_folders, remove_if_empty

    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        yield
    finally:
        # Another process that writes to it keeps it from being empty.
        with suppress(IndexLockedError, IndexNotFoundError, IndexReadOnlyError):
            if is_index(path) and remove_if_empty(path):
                remove_folders(missing)


def chosen(
    session: QuerySession,
    files: Sequence[str] | None,
    pages: Sequence[str] | None,
    where: Sequence[str] | None,
) -> MetadataFilters | None:
    """Return the filters that the options ask for.

    Args:
        session: what is asked.
        files: values of ``--file``.
        pages: values of ``--page``.
        where: values of ``--where``.

    Raises:
        UsageError: an option cannot be read.
        FilterError: no passage fits. It is an error, because a slip in a name would
            otherwise read as "not in the documents".
    """
    filters = filters_of(files, pages, where)
    if filters is None or _fits(session, filters):
        return filters
    for file in files or ():
        if not _fits(session, filters_of([file], None, None)):
            called = printable(original(file))
            raise FilterError(
                f"no file of the index is called '{called}'", hint=_like(called, session)
            )
    raise FilterError(
        "no passage fits all of --file, --page and --where together",
        hint="leave one of them away, or see rag info",
    )


def _fits(session: QuerySession, filters: MetadataFilters | None) -> bool:
    return any(len(snapshot.select(filters)) for snapshot in session.snapshots.values())


def _like(file: str, session: QuerySession) -> str:
    names = {base_name(name) for one in session.snapshots.values() for name in one.names()}
    close = get_close_matches(base_name(file), sorted(names), n=1)
    return f"did you mean '{close[0]}'?" if close else "rag info lists them"


def _joined(parts: tuple[Index, ...]) -> Index | JoinedIndex:
    if len(parts) == 1:
        return parts[0]
    from rag_app.joined import JoinedIndex

    return JoinedIndex(parts)
