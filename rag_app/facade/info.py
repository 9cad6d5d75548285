"""Information about the contents of an index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rag_app.models.embedding.identity import EmbeddingIdentity
from rag_app.store import folder_bytes
from rag_app.store.protocol import Finding, IndexConfig, SourceInfo, Store

BYTES_PER_MB = 1_000_000


@dataclass(frozen=True, repr=False)
class IndexInfo:
    """What an index holds.

    >>> with Index.create("reports.idx", exist_ok=True) as index:
    ...     report = index.ingest("report.pdf")
    ...     info = index.info(verify=True)
    >>> [(source.pages, dict(source.nodes)) for source in info.sources], info.findings
    ([(2, {'child-256': 1, 'parent': 1})], ())

    Attributes:
        path: its folder.
        generation: number of its last commit.
        config: what decides its content.
        sources: its contents, by first name.
        scripts: passages by script.
        silent_scripts: scripts of passages that the embedding model does not know:
            they are searched by words alone.
        bytes: size of the folder with all that is in it.
        findings: what ``verify`` found wrong; None: not asked for.
    """

    path: Path
    generation: int
    config: IndexConfig
    sources: tuple[SourceInfo, ...]
    scripts: dict[str, int]
    silent_scripts: tuple[str, ...]
    bytes: int
    findings: tuple[Finding, ...] | None = None

    def __str__(self) -> str:
        model = self.config.embed_model or "none (words only)"
        files = (
            f"  {', '.join(source.names)}: {source.pages} pages, {sum(source.nodes.values())} nodes"
            for source in self.sources
        )
        found = (f"  {finding.check}: {finding.message}" for finding in self.findings or ())
        head = f"{self.path}: {self._size()}, embedding model {model}"
        return "\n".join([head, *files, *(["damaged:"] if self.findings else []), *found])

    def __repr__(self) -> str:
        return f"<IndexInfo {str(self.path)!r}: {self._size()}>"

    def _size(self) -> str:
        pages = sum(source.pages for source in self.sources)
        size = self.bytes / BYTES_PER_MB
        return f"{len(self.sources)} files, {pages} pages, {size:.1f} MB"


def info_of(store: Store, *, verify: bool) -> IndexInfo:
    """Return what an index holds; ``verify`` checks every link of it as well."""
    with store.snapshot() as snapshot:
        config, scripts = snapshot.config, dict(snapshot.scripts())
        sources, generation = tuple(snapshot.sources()), snapshot.generation
    known = EmbeddingIdentity("", "", 0, scripts=config.scripts)
    skipped = sorted(s for s in scripts if config.vector_kinds and not known.knows(s))
    return IndexInfo(
        path=store.path,
        generation=generation,
        config=config,
        sources=sources,
        scripts=scripts,
        silent_scripts=tuple(skipped),
        bytes=folder_bytes(store.path),
        findings=tuple(store.verify()) if verify else None,
    )
