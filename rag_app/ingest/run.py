"""Files, Documents and passages → index: one transaction each, resumable at any point."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.documents import reader_fingerprint
from pipelines.errors import (
    IndexDamagedError,
    RagError,
    ReadError,
    StoreError,
)
from pipelines.isolated import Reading
from pipelines.ocr import needs_reading
from rag_app.ingest.completing import complete
from rag_app.ingest.configuring import configure, embedder_of
from rag_app.ingest.embedding import Embedder
from rag_app.ingest.inputs import Input, Inputs, Item, expand
from rag_app.ingest.parsing import Chunking, Parsed, parse
from rag_app.ingest.removing import prune_names
from rag_app.ingest.report import FileReport, IngestReport
from rag_app.ingest.waiting import Embedded, EmbeddingQueue, Vectors
from rag_app.ingest.workers import parse_all
from rag_app.ingest.writing import PiecesReport, PieceWriter, write_pieces
from rag_app.kinds import Kinds, kinds_of, wanted
from rag_app.store.protocol import IndexConfig, Prepared, SourceInfo, Store, Writer

_log = logging.getLogger(__name__)

Stage = Literal["check", "read", "ocr", "embed", "write", "complete", "pieces"]
# Told (file, stage, done, total): files for all stages but "embed", which counts texts,
# "pieces", which counts passages of the file, and "ocr", which counts pages of it.
Progress = Callable[[str, Stage, int, int], None]
OnFile = Callable[[FileReport], None]


def ingest(
    store: Store,
    inputs: Iterable[Input | Sequence[Input]],
    *,
    embed_model: BaseEmbedding | None,
    pipelines: Sequence[str] = (),
    child_sizes: Sequence[int] | None = None,
    reader: str | None = None,
    prune: bool = False,
    piece_writer: PieceWriter | None = None,
    progress: Progress | None = None,
    on_file: OnFile | None = None,
    workers: int | None = None,
    reading: Reading | None = None,
    timeout: float = 30.0,
    on_wait: Callable[[str], None] | None = None,
) -> IngestReport:
    """Add and update files in an index; an unchanged file costs only its hash.

    Each file is one transaction, made as soon as the last of its texts is embedded.
    After an interrupt (``KeyboardInterrupt``) the index holds the files that were
    written, and nothing of the others; the same call again continues with them.

    ``progress`` and ``on_file`` are called in this thread, between transactions. An
    exception in them ends the ingest like an interrupt and is raised unchanged.

    Args:
        store: the index.
        inputs: PDF files, folders of them, LlamaIndex Documents, ready passages
            (``TextNode``) with pieces (``IndexNode``).
        embed_model: any embedding model of LlamaIndex; ``None`` only for an index
            without vectors.
        pipelines: what to build from now on, besides what the index has; files of the
            index get it from their stored text.
        child_sizes: sizes of the children that these pipelines build.
        reader: name of the PDF reader; with another one than before the given files
            are read again. ``None``: the index's.
        prune: remove names below the given folders whose files no longer exist.
        piece_writer: writes pieces for passages that have none, where the index
            searches pieces (``multi_vector``).
        progress: called with (file, stage, done, total); the stage is ``check`` (all
            inputs), ``read`` (files that have to be read), ``ocr`` (of
            the pages of this file that are pictures, the one that begins), ``embed`` (texts;
            while files are still to be read, the total is estimated from their bytes), ``write``
            (inputs that are finished, of all inputs), ``complete`` (contents that get
            further nodes) or ``pieces`` (passages of this file).
        on_file: called with the report of each input once it is final; a file that is
            reported as added or replaced is in the index.
        workers: processes that read files; ``None``: as many as there are spare cores.
        reading: limits of reading a file, and passwords for encrypted ones.
        timeout: seconds to wait for another writer.
        on_wait: called once, with a message, when another process writes.

    Raises:
        ConfigError: an unknown pipeline or reader, an input of a wrong type, or an
            index with vectors and no model.
        IndexLockedError, IndexReadOnlyError: see :meth:`Store.writer`.
    """
    began = time.monotonic()
    given = expand(inputs)
    kinds = kinds_of(pipelines, child_sizes) if pipelines else Kinds((), ())
    with store.writer(timeout=timeout, on_wait=on_wait) as writer:
        config = configure(store, writer, given, kinds, reader)
        told = _Told(progress, on_file)
        run = _Run(
            store,
            writer,
            config,
            embedder_of(config, embed_model),
            told,
            workers,
            reading or Reading(),
        )
        run.add(given.items)
        completed, failed = complete(store, writer, config, run.embedder, progress)
        removed = prune_names(store, writer, given.folders) if prune else ()
        pieces = PiecesReport()
        if piece_writer is not None and "piece" in config.kinds:
            pieces = write_pieces(store, writer, config, run.embedder, piece_writer, progress)
    report = run.report(given, time.monotonic() - began)
    # An unchanged file that did not get its further nodes has failed.
    faults = {file.file: file for file in failed}
    files = [faults.pop(file.file, file) for file in report.files]
    return replace(
        report,
        files=(*files, *faults.values()),
        completed=tuple(completed),
        removed=removed,
        pieces=replace(pieces, dropped=run.dropped_pieces),
    )


@dataclass
class _Work:
    """An item that is to be parsed, embedded and written, and items with the same content."""

    item: Item
    content_hash: str
    equal: list[Item] = field(default_factory=list)

    @property
    def all(self) -> tuple[Item, ...]:
        """The item and those with the same content."""
        return (self.item, *self.equal)


@dataclass(frozen=True)
class _Told:
    """The callbacks of a run."""

    progress: Progress | None
    on_file: OnFile | None


@dataclass
class _Ahead:
    """An estimate of how many texts are to be embedded, before all files are read.

    Attributes:
        unread: bytes of the files that are not read yet.
        read: bytes of the files that were read.
    """

    unread: int
    read: int = 0

    def pass_by(self, size: int) -> None:
        """Count bytes as read."""
        self.unread, self.read = max(0, self.unread - size), self.read + size

    def texts(self, known: int) -> int:
        """Return an estimate of all texts, given how many the files read so far have."""
        return known + (known * self.unread // self.read if self.read else 0)


class _Run:
    """One ingest: checks, reads, embeds and writes files, and keeps the report of each."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        config: IndexConfig,
        embedder: Embedder | None,
        told: _Told,
        workers: int | None,
        reading: Reading,
    ) -> None:
        self.embedder = embedder
        self._store, self._writer, self._config = store, writer, config
        self._told, self._workers, self._reading = told, workers, reading
        self._fingerprint = reader_fingerprint(config.reader)
        self._reports: dict[str, FileReport] = {}
        self._total = 0
        self.dropped_pieces: dict[str, int] = {}

    def tell(self, file: str, stage: Stage, done: int, total: int) -> None:
        """Report progress to the callback."""
        if self._told.progress is not None:
            self._told.progress(file, stage, done, total)

    def add(self, items: Sequence[Item]) -> None:
        """Add every item to the index, or report its error."""
        self._total = len(items)
        work = self._check(items)
        ahead = _Ahead(sum(task.item.size for task in work))

        def embedding(task: _Work) -> None:
            self.tell(task.item.name, "embed", queue.done, ahead.texts(queue.texts))

        queue = EmbeddingQueue(self.embedder, self._config.vector_kinds, embedding)
        for done, (task, outcome) in enumerate(self._parse(work), 1):
            ahead.pass_by(task.item.size)
            self.tell(task.item.name, "read", done, len(work))
            if isinstance(outcome, RagError):
                self._fail(task, outcome)
            else:
                self._write(queue.add(task, outcome))
        self._write(queue.rest())

    def report(self, given: Inputs, seconds: float) -> IngestReport:
        """Return the report, in the order of the inputs."""
        tally = self.embedder.tally if self.embedder else None
        return IngestReport(
            files=tuple(self._reports[item.name] for item in given.items),
            embedded=tally.embedded if tally else 0,
            seconds=seconds,
            too_long=dict(tally.too_long) if tally else {},
            not_embedded=dict(tally.not_embedded) if tally else {},
            skipped=dict(given.skipped),
        )

    def _check(self, items: Sequence[Item]) -> list[_Work]:
        """Return the items to parse; unchanged ones are recognised by their hash."""
        work: dict[str, _Work] = {}
        for done, item in enumerate(items, 1):
            self.tell(item.name, "check", done, len(items))
            if item.error:
                self._fail(_Work(item, ""), ReadError(f"{item.name}: {item.error}", hint=item.hint))
                continue
            try:
                content_hash = item.hash()
            except ReadError as error:
                self._fail(_Work(item, ""), error)
                continue
            except OSError as error:
                self._fail(_Work(item, ""), _unreadable(item, error))
                continue
            if content_hash in work:
                work[content_hash].equal.append(item)
            elif not self._settled(item, content_hash):
                work[content_hash] = _Work(item, content_hash)
        return list(work.values())

    def _settled(self, item: Item, content_hash: str) -> bool:
        """Tell whether the index holds this content, read in the same way; add a new name."""
        with self._store.snapshot() as snapshot:
            source = snapshot.source(content_hash)
            before = snapshot.find(item.name)
        fingerprint = self._fingerprint if item.path is not None else ""
        if source is None or source.fingerprint != fingerprint or self._waits_for_ocr(source):
            return False
        if item.name in source.names:
            self._settle([_report(item.name, "unchanged", source)])
        else:
            self._writer.add_name(content_hash, item.name)
            self._settle([_report(item.name, "replaced" if before else "added", source)])
        return True

    def _waits_for_ocr(self, source: SourceInfo) -> bool:
        """Tell whether the file of a source is to be read again, now that OCR is at hand."""
        ocr = self._reading.ocr
        return ocr is not None and needs_reading(
            source.page_states, source.ocr_pages, source.ocr_engine, ocr.fingerprint()
        )

    def _parse(self, work: Sequence[_Work]) -> Iterator[tuple[_Work, Parsed | RagError]]:
        chunking = Chunking.of(self._config)
        for task in work:
            if task.item.document is not None:
                yield task, _parse_document(task.item, chunking)
        files = [task for task in work if task.item.path is not None]
        paths = [task.item.path for task in files if task.item.path is not None]
        names = {task.item.path: task.item.name for task in files}

        def on_ocr_page(path: Path, number: int, total: int) -> None:
            self.tell(names[path], "ocr", number, total)

        outcomes = parse_all(paths, chunking, self._processes(files), self._reading, on_ocr_page)
        for task, (_, outcome) in zip(files, outcomes, strict=True):
            yield task, outcome

    def _processes(self, files: Sequence[_Work]) -> int:
        if self._workers is not None:
            return min(self._workers, len(files))
        return max(1, min(len(files), (os.cpu_count() or 1) - 1))

    def _write(self, embedded: Iterable[Embedded[_Work]]) -> None:
        """Write each file as it comes; an error concerns its own file only."""
        for file in embedded:
            if file.error is not None:
                self._fail(file.task, file.error)
                continue
            try:
                reports = self._put(file.task, file.parsed, file.vectors)
            except IndexDamagedError:
                raise
            except StoreError as error:
                self._fail(file.task, error)
            else:
                self._settle(reports)

    def _put(self, task: _Work, parsed: Parsed, vectors: Vectors) -> list[FileReport]:
        names = tuple(item.name for item in task.all)
        with self._store.snapshot() as snapshot:
            before = {name: found for name in names if (found := snapshot.find(name)) is not None}
        self._writer.put(
            Prepared(
                names=names,
                document=parsed.document,
                nodes=parsed.nodes,
                vectors=vectors,
                terms=parsed.terms,
                lists=parsed.lists,
                sentences=parsed.sentences,
                fingerprint=self._fingerprint if task.item.path is not None else "",
                built=wanted(self._config),
                bytes=task.item.size,
            )
        )
        with self._store.snapshot() as snapshot:
            source = snapshot.source(str(parsed.document.metadata["content_hash"]))
        self.dropped_pieces |= {
            name: gone for name, old in before.items() if (gone := old.nodes.get("piece", 0))
        }
        return [_report(name, "replaced" if name in before else "added", source) for name in names]

    def _fail(self, task: _Work, error: RagError) -> None:
        reports = []
        for item in task.all:
            _log.warning("%s: %s", item.name, error)
            reports.append(
                FileReport(
                    item.name,
                    "failed",
                    error=error.message,
                    hint=error.hint,
                    kind=type(error).__name__,
                )
            )
        self._settle(reports)

    def _settle(self, reports: Sequence[FileReport]) -> None:
        """Keep the reports of inputs, and call the callback."""
        self._reports |= {report.file: report for report in reports}
        for report in reports:
            if self._told.on_file is not None:
                self._told.on_file(report)
        self.tell(reports[0].file, "write", len(self._reports), self._total)


def _parse_document(item: Item, chunking: Chunking) -> Parsed | RagError:
    if item.document is None:
        raise ValueError(f"{item.name} is not a Document")
    try:
        return parse(item.document, chunking, item.ready)
    except RagError as error:
        return error


def _report(
    name: str, status: Literal["added", "replaced", "unchanged"], source: SourceInfo | None
) -> FileReport:
    if source is None:
        raise StoreError(f"{name} was written and is not there", hint="run it again")
    return FileReport(
        name,
        status,
        pages=source.pages,
        pages_without_text=source.pages_without_text,
        page_states=source.page_states,
        ocr_pages=source.ocr_pages,
        page_readers=source.page_readers,
        nodes=sum(source.nodes.values()),
    )


def _unreadable(item: Item, error: OSError) -> ReadError:
    return ReadError(
        f"{item.name}: {error.strerror or error}", hint="check the path and its permissions"
    )
