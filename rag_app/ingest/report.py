"""The report of an ingest, file by file, and its JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from pipelines.ocr import RECOGNISED_STATES
from pipelines.page_states import described
from rag_app.ingest.writing import PiecesReport

Status = Literal["added", "replaced", "unchanged", "failed"]


@dataclass(frozen=True, slots=True)
class FileReport:
    """The outcome of one input.

    Attributes:
        file: its path, or the id of a Document.
        status: where it is ``failed``, the index keeps the earlier content of this name.
        pages: how many pages it has.
        pages_without_text: their physical numbers.
        page_states: the same numbers by the reason: ``undecodable``, ``image``, ``empty``,
            ``form``, ``damaged``, ``hidden``; ``unknown`` in an index of an earlier version.
        page_readers: numbers of the pages that another reader than the first one read, by its
            name.
        nodes: how many nodes the index holds of it.
        error: the message of its error (``""``: none).
        hint: how to correct that.
        kind: name of the error's class.
        ocr_pages: physical numbers of the pages that OCR read, each with its confidence, 0 to 1.
    """

    file: str
    status: Status
    pages: int = 0
    pages_without_text: tuple[int, ...] = ()
    nodes: int = 0
    error: str = ""
    hint: str = ""
    kind: str = ""
    page_states: Mapping[str, Sequence[int]] = field(default_factory=dict)
    ocr_pages: Mapping[int, float] = field(default_factory=dict)
    page_readers: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this file."""
        return {
            "file": self.file,
            "status": self.status,
            "pages": self.pages,
            "pages_without_text": list(self.pages_without_text),
            "page_states": {state: list(pages) for state, pages in self.page_states.items()},
            "ocr_pages": {str(page): sure for page, sure in self.ocr_pages.items()},
            "page_readers": {name: list(pages) for name, pages in self.page_readers.items()},
            "nodes": self.nodes,
            "error": self.error or None,
            "hint": self.hint or None,
        }


@dataclass(frozen=True, repr=False)
class IngestReport:
    """The report of an ingest.

    >>> with Index.create("reports.idx", exist_ok=True) as index:
    ...     report = index.ingest("report.pdf", "missing.pdf")
    >>> report.ok, [file.status for file in report.files], report.failed[0].hint
    (True, ['added', 'failed'], 'check the path')

    Attributes:
        files: one report per input, in the order given.
        embedded: how many texts were embedded.
        seconds: how long it took.
        too_long: nodes that are too long for the model, which reads only their beginning, by
            kind.
        not_embedded: nodes without vectors because the model does not know their
            script, by script; they are found by lexical search only.
        completed: files of the index that got further kinds of nodes.
        removed: names that ``prune`` removed.
        pieces: pieces that a language model wrote for passages.
        skipped: how many files below the given folders are not PDFs, by their ending in
            lower case (``".docx"``; ``""``: none). Hidden ones are not counted.
    """

    files: tuple[FileReport, ...]
    embedded: int
    seconds: float
    too_long: Mapping[str, int] = field(default_factory=dict)
    not_embedded: Mapping[str, int] = field(default_factory=dict)
    completed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    pieces: PiecesReport = field(default_factory=PiecesReport)
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Tell whether at least one input is in the index now, or there were none."""
        return not self.files or any(report.status != "failed" for report in self.files)

    @property
    def failed(self) -> tuple[FileReport, ...]:
        """The inputs that failed."""
        return tuple(report for report in self.files if report.status == "failed")

    @property
    def page_states(self) -> Mapping[str, int]:
        """How many pages have no text, by the reason (see :class:`FileReport`)."""
        counts: Counter[str] = Counter()
        for report in self.files:
            counts.update({state: len(pages) for state, pages in report.page_states.items()})
        return dict(counts)

    @property
    def may_be_recognised(self) -> int:
        """How many pages text recognition (OCR) may read, as far as their state says."""
        return sum(self.page_states.get(state, 0) for state in RECOGNISED_STATES)

    def __str__(self) -> str:
        lines = [f"{self._counts()}; {self.embedded} texts embedded in {self.seconds:.1f} s"]
        for file in self.files:
            if file.page_states:
                lines.append(f"no text: {file.file}: {described(file.page_states)}")
        for file in self.failed:
            lines.append(f"failed: {file.file}: {file.error}{f' ({file.hint})' * bool(file.hint)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<IngestReport: {self._counts()}>"

    def _counts(self) -> str:
        counts = Counter(report.status for report in self.files)
        said = [f"{counts[status]} {status}" for status in get_args(Status) if counts[status]]
        return ", ".join(said) or "no files"

    def followed_by(self, later: IngestReport) -> IngestReport:
        """Return the report of this run and of a later one over some of its files."""
        again = {file.file: file for file in later.files}
        return replace(
            self,
            files=tuple(again.get(file.file, file) for file in self.files),
            embedded=self.embedded + later.embedded,
            seconds=self.seconds + later.seconds,
            too_long=dict(Counter(self.too_long) + Counter(later.too_long)),
            not_embedded=dict(Counter(self.not_embedded) + Counter(later.not_embedded)),
            pieces=later.pieces if later.pieces.written else self.pieces,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``rag ingest --json``."""
        return {
            "files": [report.to_dict() for report in self.files],
            "embedded": self.embedded,
            "seconds": round(self.seconds, 3),
            "too_long": dict(self.too_long),
            "not_embedded": dict(self.not_embedded),
            "completed": list(self.completed),
            "removed": list(self.removed),
            "pieces": self.pieces.to_dict(),
            "skipped": dict(self.skipped),
            "page_states": dict(self.page_states),
        }


@dataclass(frozen=True)
class RemoveReport:
    """The result of a removal.

    Attributes:
        removed: names that were removed.
        unknown: given names that are not in the index.
        contents: how many contents were removed; one with another name stays.
    """

    removed: tuple[str, ...]
    unknown: tuple[str, ...]
    contents: int

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``rag remove --json``."""
        return {
            "removed": list(self.removed),
            "unknown": list(self.unknown),
            "contents": self.contents,
        }
