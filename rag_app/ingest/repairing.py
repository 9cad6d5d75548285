"""Repairing an index: damaged contents are read again from their files, or left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from llama_index.core.base.embeddings.base import BaseEmbedding

from pipelines.documents import content_hash
from pipelines.errors import ReadError
from pipelines.file_names import original
from rag_app.ingest.completing import complete
from rag_app.ingest.configuring import embedder_of
from rag_app.ingest.run import Progress, ingest
from rag_app.store.protocol import Finding, Lost, Salvaged, Store

Outcome = Literal["completed", "read_again", "left_out"]
_OF_FILES = "derived file→generation"  # findings of this check leave the database whole


@dataclass(frozen=True, slots=True)
class RepairedFile:
    """The outcome of the repair of a damaged content.

    Attributes:
        names: its names (none: they cannot be read).
        outcome: its text was undamaged and the rest was made from it (``completed``), the
            file was read again from its path (``read_again``), or it was left out.
        reason: what was damaged, and why it was left out.
    """

    names: tuple[str, ...]
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True)
class RepairReport:
    """The result of a repair.

    Attributes:
        findings: the damage that was found.
        files: outcomes of the damaged contents.
        derived: derived files that were built again.
        remaining: damage that is left.
    """

    findings: tuple[Finding, ...] = ()
    files: tuple[RepairedFile, ...] = ()
    derived: tuple[str, ...] = ()
    remaining: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Tell whether the index is undamaged now and no content was left out."""
        return not self.remaining and all(file.outcome != "left_out" for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``rag repair --json``."""
        return {
            "findings": [asdict(one) for one in self.findings],
            "files": [{**asdict(file), "names": list(file.names)} for file in self.files],
            "derived": list(self.derived),
            "remaining": [asdict(one) for one in self.remaining],
        }


def repair(
    store: Store,
    *,
    embed_model: Callable[[], BaseEmbedding | None],
    progress: Progress | None = None,
) -> RepairReport:
    """Repair an index as far as possible; see :meth:`rag_app.index.Index.repair`.

    Args:
        store: the index.
        embed_model: returns the model of the index; called only when something is embedded.
        progress: called with each file that is read again.
    """
    findings = tuple(store.verify())
    if not findings:
        return RepairReport()
    files: list[RepairedFile] = []
    if any(finding.check != _OF_FILES for finding in findings):
        with store.salvaged() as found:
            files += _completed(found, embed_model, progress)
            files += _read_again(found, embed_model, progress)
    derived = store.repair_files()
    return RepairReport(findings, tuple(files), derived, tuple(store.verify()))


def _completed(
    found: Salvaged,
    embed_model: Callable[[], BaseEmbedding | None],
    progress: Progress | None,
) -> list[RepairedFile]:
    """Build nodes, vectors and terms again from undamaged texts."""
    if not found.stripped:
        return []
    config = found.store.config
    embedder = embedder_of(config, embed_model())
    with found.store.writer() as writer:
        _, failed = complete(found.store, writer, config, embedder, progress)
    faults = {report.file: report.error for report in failed}
    return [
        RepairedFile((name,), "completed", faults.get(name, "what is searched of it was damaged"))
        for name in found.stripped
    ]


def _read_again(
    found: Salvaged,
    embed_model: Callable[[], BaseEmbedding | None],
    progress: Progress | None,
) -> list[RepairedFile]:
    """Read the files again that are still at their paths; report the others."""
    paths = {lost: path for lost in found.lost if (path := _path_of(lost)) is not None}
    report = None
    if paths:
        report = ingest(
            found.store,
            list(map(original, paths.values())),
            embed_model=embed_model(),
            progress=progress,
        )
    failed = {file.file: file.error for file in report.failed} if report else {}
    files = []
    for lost in found.lost:
        path = paths.get(lost)
        if path is None:
            why = f"{lost.reason}; {_missing(lost.names)}"
            files.append(RepairedFile(lost.names, "left_out", why))
        elif path in failed:
            files.append(RepairedFile(lost.names, "left_out", f"{lost.reason}; {failed[path]}"))
        else:
            _name(found.store, path, lost.names)
            files.append(RepairedFile(lost.names, "read_again", lost.reason))
    return files


def _path_of(lost: Lost) -> str | None:
    """Return a path with the same bytes; without a readable hash, any file of the name."""
    for name in lost.names:
        try:
            found = content_hash(Path(original(name)))
        except (OSError, ReadError):
            continue
        if lost.content_hash in ("", found):
            return name
    return None


def _missing(names: Sequence[str]) -> str:
    if not names:
        return "its name cannot be read either"
    if Path(names[0]).is_absolute():
        return "the same bytes are no longer there: ingest it again"
    return "it was not read from a file: ingest it again"


def _name(store: Store, path: str, names: Sequence[str]) -> None:
    """Give a content that was read again its other names."""
    others = [name for name in names if name != path]
    if not others:
        return
    with store.snapshot() as snapshot:
        source = snapshot.find(path)
    if source is not None:
        with store.writer() as writer:
            for name in others:
                writer.add_name(source.content_hash, name)
