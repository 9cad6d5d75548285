"""An index of each content is cached, and one of each set of contents that are asked together.

One file is asked in the index of its content. Several are asked in one index,
merged from theirs, so that the next question opens one thing, and a file that
changes is the only one that is embedded again. Indexes are found by content: files
may be moved and renamed, and the index then calls them by their new names.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import (
    IndexDamagedError,
    IndexLockedError,
    IndexMismatchError,
    IndexNewerError,
    IndexNotFoundError,
    ReadError,
)
from pipelines.file_names import short_path
from rag_app.cached.folders import IndexCache, key_of

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms.llm import LLM

    from rag_app.index import Index
    from rag_app.ingest import Progress
    from rag_app.retrieval.strategy import Strategy
    from rag_app.settings import Settings

_log = logging.getLogger(__name__)

# The names of each content, by its hash.
Contents = Mapping[str, tuple[str, ...]]

_UNUSABLE = (IndexNotFoundError, IndexMismatchError, IndexDamagedError, IndexNewerError)
MAX_WAIT_SECONDS = 0.25  # to wait for others who look at an index, or use it, before it is changed
MAX_TRIES = 2


@dataclass(frozen=True)
class UnreadPdf:
    """A content that could not be read.

    Attributes:
        paths: its files, as they were given.
        error: why.
    """

    paths: tuple[Path, ...]
    error: ReadError | OSError


def _log_unread(unread: UnreadPdf) -> None:
    _log.warning("%s: it was left out", unread.error)


@dataclass(frozen=True)
class Notices:
    """Callbacks for what happens while PDFs are opened; by default they write to the log.

    Attributes:
        on_note: gets a message on what takes time, and on what is not cached on purpose.
        on_uncached: gets the reason why nothing can be cached.
        on_unread: gets each content that is left out.
    """

    on_note: Callable[[str], None] = _log.info
    on_uncached: Callable[[str], None] = _log.warning
    on_unread: Callable[[UnreadPdf], None] = _log_unread


class PdfIndexes:
    """Opens the index of a set of files; it stays as it is until the stack is closed.

    Attributes:
        unread: files that could not be read.
    """

    def __init__(
        self,
        cache: IndexCache,
        settings: Settings,
        stack: ExitStack,
        *,
        strategy: str | Strategy | None = None,
        llm: LLM | None = None,
        embed_model: BaseEmbedding | None = None,
        password: str | None = None,
        progress: Progress | None = None,
        notices: Notices = Notices(),
    ) -> None:
        from rag_app.retrieval.strategy import get_strategy

        self._cache, self._settings, self._stack = cache, settings, stack
        self._llm, self._password = llm, password
        self._progress, self._notices = progress, notices
        self._pipelines = pipelines_of(
            get_strategy(strategy or settings.strategy, settings.presets)
        )
        # Only a language model writes pieces, and what it failed at is tried again.
        named = llm is not None or settings.llm is not None
        self._writes_pieces = "multi_vector" in self._pipelines and named
        self._model = embed_model  # where none is given, loaded once for all indexes
        self._given_model = _identity(embed_model)
        self._given: dict[str, Path] = {}
        self.unread: list[UnreadPdf] = []

    def open(self, paths: Sequence[Path]) -> Index:
        """Open the index of all files that can be read.

        Raises:
            ReadError, OSError: the only file cannot be read, or none of several.
        """
        contents = self._contents(paths)
        index = self._cached(contents) if contents else None
        if index is None:
            contents = self._made(contents)
            index = self._cached(contents, finished=len(contents) > 1)
        if index is None and len(contents) > 1:
            index = self._merged(contents)
        if index is None:
            index = self._copied(contents)
        # Used as well: a file that changes is read alone only where the others are cached.
        self._cache.touch([self._key([content]) for content in contents])
        return index

    def _contents(self, paths: Sequence[Path]) -> Contents:
        """Hash each file once; the same content is one, with several names."""
        from pipelines.documents import content_hash
        from pipelines.file_names import absolute

        self._given = {absolute(path): path for path in paths}
        contents: dict[str, tuple[str, ...]] = {}
        for name, path in self._given.items():
            try:
                content = content_hash(path)
            except (OSError, ReadError) as error:
                self._fail([name], error)
            else:
                contents[content] = (*contents.get(content, ()), name)
        return contents

    def _cached(self, contents: Contents, *, finished: bool = True) -> Index | None:
        """Open the cached index of these contents, under these names.

        ``None``: there is none, or it is stale, or still to be ``finished``, or others
        use it under other names.
        """
        key = self._key(contents)
        for _ in range(MAX_TRIES):
            with ExitStack() as attempt:
                index = self._opened(key, contents, attempt)
                if index is None or (finished and self._unfinished(key)):
                    return None
                if _are_called(index, contents):
                    self._stack.enter_context(attempt.pop_all())
                    return index
            with suppress(IndexLockedError):
                self._rename(key, contents)
        return None

    def _made(self, contents: Contents) -> Contents:
        """Make the index of each content that has none; return those that could be read."""
        read = {}
        for content, names in contents.items():
            try:
                with ExitStack() as held:
                    self._part(content, names, held)
            except ReadError as error:
                self._fail(names, error)
            else:
                read[content] = names
        if not read:
            raise ReadError(
                f"none of the {len(self._given)} files could be read",
                hint="each is named above with its reason",
            )
        return read

    def _merged(self, contents: Contents) -> Index | None:
        """Merge the indexes of these contents, and open what was made."""
        for _ in range(MAX_TRIES):
            # Who is kept waiting by another process that merges finds its work.
            with suppress(IndexLockedError):
                self._merge(contents)
            if (index := self._cached(contents, finished=False)) is not None:
                return index
        return None

    def _merge(self, contents: Contents) -> None:
        key, keys = self._key(contents), [self._key([content]) for content in contents]
        with ExitStack() as held:
            parts = [self._part(*one, held, finished=False) for one in contents.items()]
            folder = held.enter_context(self._cache.change(key, wait=MAX_WAIT_SECONDS))
            whole = self._holds(folder, contents) and self._cache.is_noted(key)
            if whole and not self._writes_pieces:
                return  # made by another process meanwhile
            self._cache.empty(key)
            self._merge_into(folder, parts, contents).close()
            complete = all(map(self._cache.is_complete, keys))
            self._cache.note(key, _all_names(contents), complete=complete)

    def _copied(self, contents: Contents) -> Index:
        """Copy the indexes of these contents, which others use now under other names."""
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        with ExitStack() as held:
            parts = [self._part(*one, held, finished=False) for one in contents.items()]
            return self._stack.enter_context(self._merge_into(folder, parts, contents))

    def _merge_into(self, folder: Path, parts: Sequence[Path], contents: Contents) -> Index:
        from rag_app.index import Index

        settings = self._settings
        return Index.merge(
            parts, into=folder, names=contents, embed_model=self._model, settings=settings
        )

    def _part(
        self, content: str, names: tuple[str, ...], stack: ExitStack, *, finished: bool = True
    ) -> Path:
        """Return the index of one content, whatever its name; make it where there is none.

        It stays as it is until the stack is closed. It is not open: of many files one
        after the other is.

        Raises:
            ReadError: the file could not be read.
            IndexLockedError: it is stale, and another process uses it.
        """
        key = self._key([content])
        for attempt in range(MAX_TRIES + 1):
            with ExitStack() as held:
                folder = held.enter_context(self._cache.use(key, self._tell_wait))
                # What a model failed to write once more is done without.
                asks = finished and attempt == 0 and self._unfinished(key)
                if folder is not None and self._holds(folder, [content]) and not asks:
                    stack.enter_context(held.pop_all())
                    return folder
            if attempt < MAX_TRIES:
                with suppress(IndexLockedError):
                    self._make(content, names)
        raise IndexLockedError(
            f"the cached index of {short_path(names[0])} is out of date, "
            "and another process uses it",
            hint="ask again when it has finished",
        )

    def _make(self, content: str, names: tuple[str, ...]) -> None:
        """Read a file into the index of its content."""
        from pipelines.isolated import begin

        begin()  # it starts while the model loads
        key = self._key([content])
        try:
            with self._cache.change(key, wait=MAX_WAIT_SECONDS) as folder, ExitStack() as opened:
                index = self._open(folder, [content], opened)
                if index is None:
                    opened.close()
                    self._cache.empty(key)
                    index = opened.enter_context(self._create(folder))
                complete = self._read(index, content, names)
                self._cache.note(key, names, complete=complete)
        except ReadError:
            self._cache.discard(key)
            raise

    def _create(self, folder: Path) -> Index:
        from rag_app.index import Index

        index = Index.create(
            folder,
            embed_model=self._model,
            pipelines=self._pipelines,
            settings=self._settings,
        )
        self._model = index.embed_model
        return index

    def _read(self, index: Index, content: str, names: tuple[str, ...]) -> bool:
        """Read the file unless it was read before; return whether its index is complete."""
        self._notices.on_note(f"reading {short_path(names[0])}")
        report = index.ingest(
            self._given[names[0]],
            llm=self._llm,
            progress=self._progress,
            password=self._password,
        )
        for file in report.files:
            if file.status == "failed":
                raise ReadError(file.error, hint=file.hint)
        if not _is_of(index, [content], self._settings):
            raise ReadError(f"{short_path(names[0])} changed while it was read", hint="ask again")
        with index.store.writer() as writer:
            writer.rename({content: names})
        return self._writes_pieces and not report.pieces.failed

    def _rename(self, key: str, contents: Contents) -> None:
        """Rename the contents of an index to these names."""
        with self._cache.change(key, wait=MAX_WAIT_SECONDS) as folder, ExitStack() as opened:
            index = self._open(folder, contents, opened)
            if index is None:
                return
            with index.store.writer() as writer:
                writer.rename(contents)
            self._cache.note(key, _all_names(contents), complete=self._cache.is_complete(key))

    def _opened(self, key: str, contents: Collection[str], stack: ExitStack) -> Index | None:
        """Open a cached index that holds just these contents; ``None`` where there is none."""
        with ExitStack() as attempt:
            folder = attempt.enter_context(self._cache.use(key, self._tell_wait))
            index = self._open(folder, contents, attempt) if folder is not None else None
            if index is not None:
                stack.enter_context(attempt.pop_all())
            return index

    def _holds(self, folder: Path, contents: Collection[str]) -> bool:
        with ExitStack() as opened:
            return self._open(folder, contents, opened) is not None

    def _open(self, folder: Path, contents: Collection[str], stack: ExitStack) -> Index | None:
        from rag_app.index import Index

        settings = self._settings
        try:
            index = stack.enter_context(
                Index.open(folder, embed_model=self._model, settings=settings)
            )
            # Compares the weights, too; the question needs the model anyway.
            self._model = index.embed_model
            return index if _is_of(index, contents, settings) else None
        except _UNUSABLE:
            return None

    def _key(self, contents: Collection[str]) -> str:
        return key_of(contents, self._settings, self._pipelines, self._given_model)

    def _unfinished(self, key: str) -> bool:
        if not self._cache.is_noted(key):
            return True  # killed before its end: what is derived may be missing
        return self._writes_pieces and not self._cache.is_complete(key)

    def _tell_wait(self) -> None:
        self._notices.on_note("waiting for another process that reads the same files")

    def _fail(self, names: Sequence[str], error: ReadError | OSError) -> None:
        if len(self._given) == 1:
            raise error
        unread = UnreadPdf(tuple(self._given[name] for name in names), error)
        self.unread.append(unread)
        self._notices.on_unread(unread)


def _identity(model: BaseEmbedding | None) -> str:
    """Return what tells a model that was given from others; ``""``: the settings name it."""
    from rag_app.models.embedding.load import describe_embedding

    return repr(describe_embedding(model)) if model is not None else ""


def pipelines_of(strategy: Any) -> tuple[str, ...]:
    """Return the ``--pipeline`` names that build what a strategy searches."""
    from rag_app.retrieval.strategy import pipeline_of

    arms = [arm for arm in strategy.arms if arm.weight]
    if all((arm.how, arm.kind) == ("words", "parent") for arm in arms):
        return ("bm25",)
    names = map(pipeline_of, arms)
    return tuple(sorted({name for name in names if name is not None}))


def _is_of(index: Index, contents: Collection[str], settings: Settings) -> bool:
    """Tell whether an index holds these contents, as they are read today, and no others."""
    from pipelines.documents import reader_fingerprint
    from pipelines.ocr import find_ocr, needs_reading

    with index.store.snapshot() as snapshot:
        sources, reader = snapshot.sources(), reader_fingerprint(snapshot.config.reader)
    if {source.content_hash for source in sources} != set(contents):
        return False
    pictured = [source for source in sources if source.page_states or source.ocr_pages]
    ocr = find_ocr(settings.ocr) if pictured else None
    engine = ocr.fingerprint() if ocr is not None else ""
    return all(source.fingerprint == reader for source in sources) and not any(
        needs_reading(one.page_states, one.ocr_pages, one.ocr_engine, engine) for one in pictured
    )


def _are_called(index: Index, contents: Contents) -> bool:
    with index.store.snapshot() as snapshot:
        called = {source.content_hash: source.names for source in snapshot.sources()}
    # In this order: what is found depends on the first name, which is in the title.
    return called == dict(contents)


def _all_names(contents: Contents) -> list[str]:
    return [name for names in contents.values() for name in names]
