"""Writing pieces for passages without any, by a language model: resumable, in batches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, Protocol

from llama_index.core.schema import BaseNode, Document, IndexNode

from pipelines.errors import RagError
from rag_app.ingest.embedding import Embedder
from rag_app.ingest.parsing import count_terms
from rag_app.store.protocol import IndexConfig, Prepared, SourceInfo, Store, Writer

_log = logging.getLogger(__name__)
_MAX_BATCH_PASSAGES = 16  # passages between two transactions: so much is lost at most
Told = Callable[[str, Literal["pieces"], int, int], None]


class Written(Protocol):
    """The pieces that were written for one passage, or the error."""

    @property
    def passage_id(self) -> str:
        """Id of the passage."""
        ...

    @property
    def pieces(self) -> Sequence[IndexNode]:
        """Nodes to search."""
        ...

    @property
    def error(self) -> RagError | None:
        """The error; None where the pieces were written."""
        ...


PieceWriter = Callable[[Sequence[BaseNode]], Iterable[Written]]


@dataclass
class PiecesReport:
    """The result of writing pieces.

    Attributes:
        written: how many pieces were written.
        failed: how many passages still have none, by file; the next run retries.
        errors: the first error of each file.
        dropped: how many pieces were removed because their passages changed, by file.
    """

    written: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON object."""
        return asdict(self)


def write_pieces(
    store: Store,
    writer: Writer,
    config: IndexConfig,
    embedder: Embedder | None,
    piece_writer: PieceWriter,
    told: Told | None = None,
) -> PiecesReport:
    """Write pieces with ``piece_writer`` for every passage that has none.

    A failure leaves the rest of the file usable; the next run writes the missing pieces.
    """
    report = PiecesReport()
    with store.snapshot() as snapshot:
        sources = snapshot.sources()
    for source in sources:
        document, bare = _without_pieces(store, source)
        name = source.names[0] if source.names else source.document_id
        for start in range(0, len(bare), _MAX_BATCH_PASSAGES):
            batch = bare[start : start + _MAX_BATCH_PASSAGES]
            pieces = _pieces(piece_writer(batch), name, report)
            _extend(writer, config, embedder, source, document, pieces)
            report.written += len(pieces)
            if told is not None:
                told(name, "pieces", start + len(batch), len(bare))
    return report


def _without_pieces(store: Store, source: SourceInfo) -> tuple[Document, list[BaseNode]]:
    with store.snapshot() as snapshot:
        document = snapshot.document(source.content_hash)
        nodes = snapshot.export(source.content_hash).nodes
    have = {n.index_id for n in nodes if isinstance(n, IndexNode) and n.metadata["kind"] == "piece"}
    passages = (n for n in nodes if n.metadata["kind"] in ("parent", "passage"))
    return document, [node for node in passages if node.node_id not in have]


def _pieces(written: Iterable[Written], name: str, report: PiecesReport) -> list[IndexNode]:
    pieces: list[IndexNode] = []
    for one in written:
        pieces.extend(one.pieces)
        if one.error is not None:
            _log.warning("%s: no pieces for one passage: %s", name, one.error)
            report.failed[name] = report.failed.get(name, 0) + 1
            report.errors.setdefault(name, str(one.error))
    return pieces


def _extend(
    writer: Writer,
    config: IndexConfig,
    embedder: Embedder | None,
    source: SourceInfo,
    document: Document,
    pieces: Sequence[IndexNode],
) -> None:
    if not pieces:
        return
    kinds = [kind for kind in config.vector_kinds if kind == "piece"]
    writer.extend(
        Prepared(
            names=(),
            document=document,
            nodes=pieces,
            vectors=embedder.vectors(pieces, kinds) if embedder and kinds else {},
            terms=count_terms(pieces, config.word_kinds),
            built=source.built,
        )
    )
