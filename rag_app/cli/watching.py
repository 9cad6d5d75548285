"""The display of ``rag ingest``: a line for each file as it is written, and the progress."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.file_names import base_name, printable, short_path
from pipelines.page_states import described
from rag_app.cli.progress import Watch

if TYPE_CHECKING:
    from rag_app.cli.output import Output
    from rag_app.ingest import FileReport

_STAGES = {
    "check": "checking",
    "read": "reading",
    "ocr": "recognising text in",
    "embed": "embedding",
    "write": "writing",
    "complete": "completing",
    "pieces": "writing pieces for",
}
_MAX_KINDS = 6  # of files that are not PDFs, named in a line
# Which stage's counts say how much of the whole is done.
_MEASURED = ("embed", "complete", "pieces")


class IngestView:
    """The callbacks of an ingest, which show its progress and keep its reports."""

    def __init__(self, out: Output, index: Path) -> None:
        self._out, self._index = out, index
        self.watch = Watch(out, None)
        self._given = 0
        self._embeds = False
        self.reports: dict[str, FileReport] = {}

    def progress(self, file: str, stage: str, done: int, total: int) -> None:
        """Show a step (see ``rag_app.ingest.ingest``)."""
        if stage == "check":
            self._given = max(self._given, total)
        self._embeds = self._embeds or stage == "embed"
        # Without vectors, reading is what takes the time.
        if stage in _MEASURED or (stage == "read" and not self._embeds):
            self.watch.estimate.reach(done, total)
        if stage == "ocr":
            self.watch.show(f"{_STAGES[stage]} {base_name(file)}", f"scanned page {done}/{total}")
            return
        count = f"{len(self.reports)}/{self._given} files" if self._given else ""
        self.watch.show(f"{_STAGES.get(stage, stage)} {base_name(file)}", count)

    def settled(self, report: FileReport) -> None:
        """Write the report of a file: on stdout, or on stderr where stdout has JSON."""
        self.reports[report.file] = report
        if not self._out.json:
            with self.watch.hidden():
                self._out.text(line(report), style="red" if report.status == "failed" else "")
                self._out.flush()
        elif not self.watch.has_bar:
            self._out.note(line(report))

    def interrupted(self) -> str:
        """Return the state after an interrupt, in words."""
        inside = sum(report.status != "failed" for report in self.reports.values())
        of = f"{inside} of {self._given} files are" if self._given else "what was finished is"
        return f"{of} in {printable(self._index)}; run the same command again to go on"


def line(file: FileReport) -> str:
    """Return one line about a file: its status, and the reason."""
    if file.status == "failed":
        return f"{file.status:<10} {reason(file)}"
    without = f", no text on {described(file.page_states)}" if file.page_states else ""
    by_ocr = f", {len(file.ocr_pages)} of them read by OCR" if file.ocr_pages else ""
    read = f"{file.pages} pages{by_ocr}, {file.nodes} nodes{without}"
    return f"{file.status:<10} {short_path(file.file)}: {read}"


def reason(file: FileReport) -> str:
    """Return which file failed, the reason and the hint."""
    why = file.error
    for name in (file.file, base_name(file.file)):
        why = why.removeprefix(f"{name}: ")
    return f"{short_path(file.file)}: {why}" + (f" ({file.hint})" if file.hint else "")


def passed_over(skipped: Mapping[str, int]) -> str:
    """Return how many files are not PDFs, in one line: ``.docx 7, .txt 5``."""
    total = sum(skipped.values())
    kinds = sorted(skipped.items(), key=lambda kind: (-kind[1], kind[0]))
    shown = ", ".join(f"{suffix or 'no ending'} {count}" for suffix, count in kinds[:_MAX_KINDS])
    more = f", {len(kinds) - _MAX_KINDS} other kinds" if len(kinds) > _MAX_KINDS else ""
    said = "1 file that is not a PDF was" if total == 1 else f"{total} files that are not PDFs were"
    return f"{said} passed over ({shown}{more})"
