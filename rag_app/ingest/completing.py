"""Further kinds of nodes for contents that are in the index, from their stored text."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from pipelines.errors import IndexDamagedError, RagError
from rag_app.ingest.embedding import Embedder
from rag_app.ingest.parsing import Chunking, Parsed, parse
from rag_app.ingest.report import FileReport
from rag_app.kinds import wanted
from rag_app.store.protocol import IndexConfig, Prepared, SourceInfo, Store, Writer

_log = logging.getLogger(__name__)
Told = Callable[[str, Literal["complete"], int, int], None]


def complete(
    store: Store,
    writer: Writer,
    config: IndexConfig,
    embedder: Embedder | None,
    told: Told | None = None,
) -> tuple[list[str], list[FileReport]]:
    """Build what is missing of every content, one transaction each.

    Returns the first names of the completed contents, and a report for each content
    that failed; the next run continues from there.
    """
    missing = wanted(config)
    with store.snapshot() as snapshot:
        sources = [source for source in snapshot.sources() if missing - source.built]
    done, failed = [], []
    for number, source in enumerate(sources, 1):
        name = source.names[0] if source.names else source.document_id
        try:
            _extend(writer, config, embedder, source, _parsed(store, config, source))
        except IndexDamagedError:
            raise
        except RagError as error:
            _log.warning("%s: %s", name, error)
            failed.append(FileReport(name, "failed", error=error.message, hint=error.hint))
        else:
            done.append(name)
        if told is not None:
            told(name, "complete", number, len(sources))
    return done, failed


def _parsed(store: Store, config: IndexConfig, source: SourceInfo) -> Parsed:
    """Parse the stored text, but only for the kinds that are missing."""
    with store.snapshot() as snapshot:
        document = snapshot.document(source.content_hash)
        ready = snapshot.export(source.content_hash).nodes if "passage" in source.nodes else None
    if ready is not None:
        ready = [node for node in ready if node.metadata["kind"] in ("passage", "piece")]
    chunking = Chunking.of(config)
    kinds = {kind for kind in config.vector_kinds if f"{kind}:vectors" not in source.built}
    chunking = replace(
        chunking,
        child_sizes=tuple(size for size in chunking.child_sizes if f"child-{size}" in kinds),
        window=chunking.window if "sentence" in kinds else None,
        words=tuple(kind for kind in config.word_kinds if f"{kind}:words" not in source.built),
    )
    return parse(document, chunking, ready)


def _extend(
    writer: Writer,
    config: IndexConfig,
    embedder: Embedder | None,
    source: SourceInfo,
    parsed: Parsed,
) -> None:
    kinds = [kind for kind in config.vector_kinds if f"{kind}:vectors" not in source.built]
    vectors = embedder.vectors(parsed.nodes, kinds) if embedder and kinds else {}
    writer.extend(
        Prepared(
            names=(),
            document=parsed.document,
            nodes=parsed.nodes,
            vectors=vectors,
            terms=parsed.terms,
            lists=parsed.lists,
            sentences=parsed.sentences,
            built=wanted(config),
        )
    )
