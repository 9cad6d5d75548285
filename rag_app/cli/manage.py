"""``rag remove``, ``rag merge`` and ``rag cache``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.file_names import printable, short_path
from rag_app.cached.folders import IndexCache
from rag_app.cli import options
from rag_app.cli.help import Command, examples, help_when_alone
from rag_app.cli.session import ERROR, Leftover, UsageError, session

if TYPE_CHECKING:
    from rag_app.cached.folders import CachedIndex

REMOVE_EXAMPLES = examples("rag remove report.pdf", "rag remove old/*.pdf --index reports")
MERGE_EXAMPLES = examples("rag merge A B --into C")
CACHE_EXAMPLES = examples("rag cache info", "rag cache clear")
_MB = 1_000_000
_MAX_SHOWN = 3  # files of one index in a table

cache = typer.Typer(rich_markup_mode=None)


def remove(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="Names or paths, as rag info shows them.", show_default=False
        ),
    ],
    index: options.OneIndex = options.DEFAULT_INDEX,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    config: options.Config = None,
) -> None:
    """Take files out of an index.

    Everything that was made of them goes as well. A content that has another name
    there stays under that name.
    """
    with session(json=json, quiet=quiet, verbose=verbose, config=config) as current:
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
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    config: options.Config = None,
) -> None:
    """Write several indexes into one.

    Nothing is embedded again, the sources stay as they are, the same content is held
    once, and what is found says which index it came from.
    """
    if into.resolve() in [one.resolve() for one in indexes]:
        raise UsageError("--into is one of the sources: they stay as they are")
    left = Leftover(lambda: f"{into} was not made; the sources are as they were")
    with session(
        json=json, quiet=quiet, verbose=verbose, config=config, interrupted=left
    ) as current:
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


@cache.callback(invoke_without_command=True)
def _cache_root(context: typer.Context) -> None:
    help_when_alone(context)


@cache.command("info", cls=Command)
def cache_info(
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    config: options.Config = None,
) -> None:
    """Show the indexes that rag ask "…" FILE.pdf has cached."""
    with session(json=json, quiet=quiet, verbose=verbose, config=config) as current:
        cached = IndexCache.of(current.settings)
        entries = cached.entries()
        if current.out.json:
            current.out.document(_cache_document(cached, entries))
            return
        total = sum(entry.bytes for entry in entries)
        current.out.text(
            f"{printable(cached.root)}: {len(entries)} cached indexes, {total / _MB:.1f} MB "
            f"of at most {cached.limit / _MB:.0f} MB"
        )
        if entries:
            current.out.text()
            current.out.table(["files", "MB", "last used"], map(_row, entries))


@cache.command("clear", cls=Command)
def cache_clear(
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    config: options.Config = None,
) -> None:
    """Remove the cached indexes; those that are in use now stay."""
    with session(json=json, quiet=quiet, verbose=verbose, config=config) as current:
        removed, in_use = IndexCache.of(current.settings).clear()
        freed = sum(entry.bytes for entry in removed)
        if current.out.json:
            document = {"removed": len(removed), "bytes": freed, "in_use": len(in_use)}
            current.out.document(document)
            return
        current.out.text(f"removed {len(removed)} cached indexes, {freed / _MB:.1f} MB")
        if in_use:
            current.out.text(f"{len(in_use)} are in use and stay")


def _cache_document(cached: IndexCache, entries: list[CachedIndex]) -> dict[str, Any]:
    return {
        "folder": printable(cached.root),
        "limit_bytes": cached.limit,
        "bytes": sum(entry.bytes for entry in entries),
        "indexes": [
            {"files": list(entry.files), "bytes": entry.bytes, "used": _time(entry.used)}
            for entry in entries
        ],
    }


def _row(entry: CachedIndex) -> tuple[object, ...]:
    return _files(entry.files), round(entry.bytes / _MB, 1), _time(entry.used)


def _files(names: tuple[str, ...]) -> str:
    if not names:
        return "(not finished)"
    more = len(names) - _MAX_SHOWN
    return ", ".join(map(short_path, names[:_MAX_SHOWN])) + (
        f" and {more} more" if more > 0 else ""
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
