"""``rag repair``: repair a damaged index, and name the files that are lost."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pipelines.errors import IndexDamagedError
from pipelines.file_names import printable, short_path
from rag_app.cli import options
from rag_app.cli.groups import OutputOptions, with_groups
from rag_app.cli.help import examples
from rag_app.cli.output import Output
from rag_app.cli.session import ERROR, session

if TYPE_CHECKING:
    from rag_app.index import Index
    from rag_app.ingest import RepairedFile, RepairReport
    from rag_app.settings import Settings

EXAMPLES = examples("rag repair", "rag repair --index reports")
_OUTCOMES = {"completed": "completed", "read_again": "read again", "left_out": "left out"}


@with_groups
def repair(
    index: options.OneIndex = options.DEFAULT_INDEX,
    *,
    output: OutputOptions,
) -> None:
    """Make a damaged index whole again.

    Derived files are built anew. A file whose text is damaged is read again from where it
    was ingested, if its bytes are still there; what is left is taken out and named. Exit
    code 1 when something was taken out. A sound index is not touched.
    """
    with session(**asdict(output)) as current:
        with _opened(index, current.settings) as opened:
            report = opened.repair()
        if current.out.json:
            current.out.document(report.to_dict())
        else:
            _show(current.out, report)
        if not report.ok:
            left = [file for file in report.files if file.outcome == "left_out"]
            what = _line(left[0]) if left else report.remaining[0].message
            current.out.complain(
                f"error: {printable(index)} does not hold all that it held: {what}"
            )
            raise typer.Exit(ERROR)


def _opened(folder: Path, settings: Settings) -> Index:
    from rag_app.index import Index

    try:
        return Index.open(folder, settings=settings)
    except IndexDamagedError as error:
        raise IndexDamagedError(
            f"{error.message}; without that nothing of it can be saved",
            hint="restore the folder from a copy, or ingest its files into another one",
        ) from error


def _show(out: Output, report: RepairReport) -> None:
    if not report.findings:
        out.text("nothing is damaged")
        return
    for finding in report.findings:
        out.text(f"damaged: {finding.check}: {finding.message}")
    for file in report.files:
        out.text(_line(file), style="red" if file.outcome == "left_out" else "")
    for name in report.derived:
        out.text(f"built anew {name}")
    if not report.remaining:
        out.text("verified: every link holds")


def _line(file: RepairedFile) -> str:
    names = ", ".join(map(short_path, file.names)) or "a file without a readable name"
    return f"{_OUTCOMES[file.outcome]} {names}: {file.reason}"
