"""``rag info``: the contents of an index, and whether it is damaged."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.file_names import printable, short_path
from pipelines.page_states import described
from rag_app.cli import options
from rag_app.cli.groups import OutputOptions, with_groups
from rag_app.cli.help import examples
from rag_app.cli.output import Output
from rag_app.cli.session import ERROR, session

if TYPE_CHECKING:
    from rag_app.facade.info import IndexInfo

EXAMPLES = examples("rag info", "rag info --index reports --verify", "rag info --json")
_MB = 1_000_000


@with_groups
def info(
    index: options.OneIndex = options.DEFAULT_INDEX,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Check every link: child to parent, node to document, vector to node, "
            "span to text, derived files to the database. Exit code 1 when one is broken.",
            rich_help_panel="Index",
        ),
    ] = False,
    *,
    output: OutputOptions,
) -> None:
    """Show the files, models and settings of an index."""
    with session(**asdict(output)) as current:
        from rag_app.index import Index

        with Index.open(index, settings=current.settings) as opened:
            about = opened.info(verify=verify)
        if current.out.json:
            current.out.document(document(about))
        else:
            _show(current.out, about)
        if about.findings:
            raise typer.Exit(ERROR)


def document(about: IndexInfo) -> dict[str, Any]:
    """Return the JSON document of ``rag info``."""
    config = asdict(about.config) | {"analysers": dict(about.config.analysers)}
    return {
        "index": printable(about.path),
        "generation": about.generation,
        "bytes": about.bytes,
        "config": config,
        "sources": [_source(source) for source in about.sources],
        "scripts": about.scripts,
        "silent_scripts": list(about.silent_scripts),
        "findings": None if about.findings is None else [asdict(one) for one in about.findings],
    }


def _source(source: Any) -> dict[str, Any]:
    return {
        "names": list(source.names),
        "content_hash": source.content_hash,
        "title": source.title,
        "pages": source.pages,
        "pages_without_text": list(source.pages_without_text),
        "page_states": {state: list(pages) for state, pages in source.page_states.items()},
        "ocr_pages": {str(page): sure for page, sure in source.ocr_pages.items()},
        "page_readers": {name: list(pages) for name, pages in source.page_readers.items()},
        "nodes": dict(source.nodes),
        "bytes": source.bytes,
        "reader": source.reader,
        "origin": source.origin,
        "metadata": dict(source.metadata),
    }


def _show(out: Output, about: IndexInfo) -> None:
    config = about.config
    pages = sum(source.pages for source in about.sources)
    out.text(
        f"{printable(about.path)}: {len(about.sources)} files, {pages} pages, "
        f"{about.bytes / _MB:.1f} MB, generation {about.generation}"
    )
    model = config.embed_model or "none (words only)"
    knows = "all" if "*" in config.scripts else ", ".join(config.scripts)
    out.text(f"embedding model: {model}" + (f", knows {knows}" if config.embed_model else ""))
    out.text(
        f"built: {', '.join(config.kinds)}; parents of {config.parent_size} tokens "
        f"({config.tokenizer}); reader {config.reader}"
    )
    for name, fingerprint in config.analysers:
        out.text(f"terms by {name}: {fingerprint}")
    for script in about.silent_scripts:
        out.text(
            f"{about.scripts[script]} passages in {script} script are searched by words alone: "
            f"{model} does not know it. A multilingual --embed-model would search their meaning."
        )
    if about.sources:
        out.text()
        out.table(["file", "pages", "without text", "nodes"], map(_row, about.sources))
    if about.findings is not None:
        out.text()
        _show_findings(out, about)


def _row(source: Any) -> tuple[object, ...]:
    empty = described(source.page_states)
    return ", ".join(map(short_path, source.names)), source.pages, empty, sum(source.nodes.values())


def _show_findings(out: Output, about: IndexInfo) -> None:
    for finding in about.findings or ():
        out.text(f"{finding.check}: {finding.message}", style="red")
    if about.findings:
        out.text(about.findings[0].hint)
    else:
        out.text("verified: every link holds")
