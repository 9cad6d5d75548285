"""``rag ingest``: PDFs and folders into an index."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.errors import EncryptedError, IndexNotFoundError, ReadError
from pipelines.file_names import printable, short_path
from pipelines.ocr import INSTALL, OFF, find_ocr
from pipelines.page_states import state_words
from rag_app import bounds
from rag_app.cli import options
from rag_app.cli.groups import EmbeddingOptions, OutputOptions, with_groups
from rag_app.cli.help import examples
from rag_app.cli.passwords import MAX_PROMPTS, ask_password
from rag_app.cli.progress import watch
from rag_app.cli.session import ERROR, Leftover, Session, UsageError, session
from rag_app.cli.watching import IngestView, passed_over, reason

if TYPE_CHECKING:
    from rag_app.cli.output import Output
    from rag_app.index import Index
    from rag_app.ingest import IngestReport

EXAMPLES = examples(
    "rag ingest report.pdf",
    "rag ingest reports/ --index reports --prune",
    "rag ingest reports/ --pipeline naive --pipeline sentence_window",
    "rag ingest reports/ --pipeline multi_vector --llm openai:gpt-4o-mini",
)
_DEFAULT = ("hybrid",)


@with_groups
def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="PDF files, and folders of them.", show_default=False),
    ],
    index: options.OneIndex = options.DEFAULT_INDEX,
    pipeline: Annotated[
        list[str] | None,
        typer.Option(
            "--pipeline",
            metavar="NAME",
            help="Build what this strategy searches: hybrid (the default), naive, child_parent, "
            "sentence_window, bm25, multi_vector, or a further analyser of terms. What the index "
            "holds already gets it too. "
            "Repeat it for several.",
            rich_help_panel="Index",
            show_default=False,
        ),
    ] = None,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Forget files below the given folders that are no longer there.",
            rich_help_panel="Index",
        ),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            parser=options.number_in(bounds.WORKERS),
            help=f"Processes that read files, at most {bounds.WORKERS.maximum}; without this, "
            "by the number of cores.",
            rich_help_panel="Index",
            show_default=False,
        ),
    ] = None,
    password: options.Password = None,
    ocr: options.Ocr = None,
    *,
    embedding: EmbeddingOptions,
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm",
            metavar="MODEL",
            help="Language model that writes what multi_vector searches, a summary and "
            "questions for each passage: openai:NAME, or like:NAME for a compatible server.",
            rich_help_panel="Model",
            show_default=False,
        ),
    ] = None,
    base_url: options.BaseUrl = None,
    output: OutputOptions,
) -> None:
    """Read PDFs into an index.

    What is unchanged costs nothing. Each file is in whole or not at all; what fails is
    named with its reason, and the others go in. Exit code 0 when at least one of the
    given files is in the index now.
    """
    left = Leftover(lambda: "nothing was begun; run the same command again")
    with session(
        **asdict(output),
        **embedding.settings,
        interrupted=left,
        pdf_password=password,
        ocr=options.ocr_setting(ocr),
        llm=llm,
        llm_base_url=base_url,
    ) as current:
        _check_paths(paths, index)
        _check_llm(pipeline or (), index, current, named=llm is not None or base_url is not None)
        view = IngestView(current.out, index)

        def read(files: Sequence[str], password: str | None = None) -> IngestReport:
            with _opened(index, pipeline, current, view) as opened:
                left.words = view.interrupted
                return opened.ingest(
                    *files,
                    pipelines=tuple(pipeline or ()),
                    prune=prune,
                    progress=view.progress,
                    on_file=view.settled,
                    workers=workers,
                    password=password,
                )

        try:
            report = read(paths)
        except IndexNotFoundError:
            # The index was removed while this waited: another first ingest added nothing.
            report = read(paths)
        report = _unlocked(read, report, current)
        if current.out.json:
            current.out.document(report.to_dict())
        else:
            _show(current.out, report, view, index, current.settings.ocr)
        if not report.ok:
            current.out.complain(f"error: nothing was indexed: {_failures(report)}")
            raise typer.Exit(ERROR)


def _unlocked(
    read: Callable[[Sequence[str], str | None], IngestReport],
    report: IngestReport,
    current: Session,
) -> IngestReport:
    """Read encrypted files with passwords that the user types in, on a terminal."""
    for tried in range(MAX_PROMPTS):
        locked = [file.file for file in report.failed if file.kind == EncryptedError.__name__]
        password = ask_password(current.out, locked, again=tried > 0) if locked else None
        if password is None:
            break
        report = report.followed_by(read(locked, password))
    return report


def _check_paths(paths: Sequence[str], index: Path) -> None:
    if "" in paths:
        raise UsageError("an empty name is not a path (give . for the working folder)")
    # After a typing error an empty index would answer "not in the documents" for ever.
    if not index.exists() and not any(map(os.path.exists, paths)):
        raise ReadError(f"{printable(paths[0])}: there is no such file", hint="check the path")


def _check_llm(pipelines: Sequence[str], index: Path, current: Session, *, named: bool) -> None:
    if named and current.settings.llm is None:
        raise UsageError("--base-url is the address of a language model: name it with --llm")
    if "multi_vector" in pipelines:
        if current.settings.llm is None:
            current.out.note(
                "note: multi_vector searches what a language model writes; none is named (--llm)"
            )
        return
    if named and not _searches_pieces(index, current):
        raise UsageError("--llm writes what multi_vector searches: add --pipeline multi_vector")


def _searches_pieces(index: Path, current: Session) -> bool:
    from rag_app.index import Index

    try:
        with Index.open(index, settings=current.settings) as opened:
            return "piece" in opened.store.config.kinds
    except IndexNotFoundError:
        return False


@contextmanager
def _opened(
    index: Path, pipeline: Sequence[str] | None, current: Session, view: IngestView
) -> Iterator[Index]:
    from rag_app.cli.sources import open_or_create

    with (
        open_or_create(index, pipeline or _DEFAULT, current) as opened,
        watch(current.out) as shown,
    ):
        view.watch = shown
        yield opened


def _show(out: Output, report: IngestReport, view: IngestView, index: Path, ocr: str) -> None:
    """Write the parts of the report that were not shown during the ingest."""
    for file in report.files:
        if view.reports.get(file.file) != file:
            view.settled(file)
    if report.skipped:
        out.text(passed_over(report.skipped))
    for name in report.removed:
        out.text(f"{'removed':<10} {short_path(name)}: it is no longer there")
    for kind, count in report.too_long.items():
        out.note(f"warning: the model does not read the end of {count} nodes of {kind}")
    for script, count in report.not_embedded.items():
        out.note(
            f"warning: {count} nodes in {script} script are found by words alone: "
            "the embedding model does not know it"
        )
    _show_pieces(out, report)
    counts: dict[str, int] = {}
    for file in report.files:
        counts[file.status] = counts.get(file.status, 0) + 1
    said = ", ".join(f"{count} {status}" for status, count in counts.items())
    if report.page_states:
        out.text(f"{sum(report.page_states.values())} pages have no text: {_states(report)}")
        _advise_ocr(out, report, ocr)
    out.text(
        f"{printable(index)}: {said}; {report.embedded} texts embedded in {report.seconds:.1f} s"
    )


def _advise_ocr(out: Output, report: IngestReport, ocr: str) -> None:
    """Say how pages that are pictures would be read, where text recognition is missing."""
    count = report.may_be_recognised
    if count and find_ocr(ocr) is None:
        how = INSTALL if ocr != OFF else 'give --ocr, or leave out --no-ocr and ocr = "off"'
        out.text(f"text recognition (OCR) may read {count} of them: {how}")


def _states(report: IngestReport) -> str:
    return ", ".join(f"{count} {state_words(state)}" for state, count in report.page_states.items())


def _show_pieces(out: Output, report: IngestReport) -> None:
    pieces = report.pieces
    if pieces.written:
        out.text(f"{'written':<10} {pieces.written} summaries and questions to search by")
    for name, count in pieces.failed.items():
        reason = pieces.errors.get(name, "")
        out.note(
            f"warning: {short_path(name)}: {count} passages have none yet, run it again: {reason}"
        )
    for name, count in pieces.dropped.items():
        out.note(f"warning: {short_path(name)}: {count} pieces went with passages that changed")


def _failures(report: IngestReport) -> str:
    more = len(report.failed) - 1
    return reason(report.failed[0]) + (f"; and {more} more" if more else "")
