"""``rag remove`` and ``rag merge``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pipelines.file_names import printable, short_path
from rag_app.cli import options
from rag_app.cli.groups import OutputOptions, with_groups
from rag_app.cli.help import examples
from rag_app.cli.session import ERROR, Leftover, UsageError, session

REMOVE_EXAMPLES = examples("rag remove report.pdf", "rag remove old/*.pdf --index reports")
MERGE_EXAMPLES = examples("rag merge A B --into C")


@with_groups
def remove(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="Names or paths, as rag info shows them.", show_default=False
        ),
    ],
    index: options.OneIndex = options.DEFAULT_INDEX,
    *,
    output: OutputOptions,
) -> None:
    """Take files out of an index.

    Everything that was made of them goes as well. A content that has another name
    there stays under that name.
    """
    with session(**asdict(output)) as current:
        from rag_app.index import Index

        with Index.open(index, settings=current.settings) as opened:
            report = opened.remove(*files)
        if current.out.json:
            current.out.document(report.to_dict())
        else:
            for name in report.removed:
                current.out.text(f"removed {short_path(name)}")
        if report.unknown:
            unknown = ", ".join(report.unknown)
            current.out.complain(
                f"error: not in {printable(index)}: {unknown} (rag info shows what is)"
            )
            raise typer.Exit(ERROR)


@with_groups
def merge(
    indexes: Annotated[
        list[Path],
        typer.Argument(
            metavar="INDEX",
            parser=options.a_path,
            help="Indexes; they stay as they are.",
            show_default=False,
        ),
    ],
    into: Annotated[
        Path,
        typer.Option(
            "--into",
            metavar="DIR",
            parser=options.a_path,
            help="The new index; none may be there yet.",
            rich_help_panel="Index",
            show_default=False,
        ),
    ],
    *,
    output: OutputOptions,
) -> None:
    """Write several indexes into one.

    Nothing is embedded again, the sources stay as they are, the same content is held
    once, and what is found says which index it came from.
    """
    if into.resolve() in [one.resolve() for one in indexes]:
        raise UsageError("--into is one of the sources: they stay as they are")
    left = Leftover(lambda: f"{into} was not made; the sources are as they were")
    with session(**asdict(output), interrupted=left) as current:
        from rag_app.cli.info import document
        from rag_app.index import Index

        with Index.merge(indexes, into=into, settings=current.settings) as merged:
            left.words = lambda: f"{into} was made"
            about = merged.info()
        if current.out.json:
            current.out.document(document(about))
        else:
            pages = sum(source.pages for source in about.sources)
            current.out.text(
                f"{printable(into)}: {len(about.sources)} files, {pages} pages, "
                f"from {len(indexes)} indexes; nothing was embedded again"
            )
