"""``rag cache``: the indexes that asking PDFs has cached."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import typer

from pipelines.file_names import printable, short_path
from rag_app.cached.folders import CachedIndex, IndexCache
from rag_app.cli.groups import OutputOptions, with_groups
from rag_app.cli.help import Command, examples, help_when_alone
from rag_app.cli.session import session

EXAMPLES = examples("rag cache info", "rag cache clear")
_MB = 1_000_000
_MAX_SHOWN = 3  # files of one index in a table

cache = typer.Typer(rich_markup_mode=None, help='The indexes that rag ask "…" FILE.pdf has cached.')


@cache.callback(invoke_without_command=True)
def _root(context: typer.Context) -> None:
    help_when_alone(context)


@cache.command("info", cls=Command)
@with_groups
def cache_info(
    *,
    output: OutputOptions,
) -> None:
    """Show the indexes that rag ask "…" FILE.pdf has cached."""
    with session(**asdict(output)) as current:
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
@with_groups
def cache_clear(
    *,
    output: OutputOptions,
) -> None:
    """Remove the cached indexes; those that are in use now stay."""
    with session(**asdict(output)) as current:
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
