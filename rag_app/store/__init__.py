"""What is kept on disk: a small protocol, and SQLite in a folder behind it."""

from __future__ import annotations

from rag_app.store.config import check_config, with_kinds
from rag_app.store.protocol import (
    Finding,
    Hit,
    IndexConfig,
    Prepared,
    Selection,
    Snapshot,
    SourceInfo,
    Store,
    Writer,
)
from rag_app.store.sqlite.store import SqliteStore, create_store, open_store

__all__ = [
    "Finding",
    "Hit",
    "IndexConfig",
    "Prepared",
    "Selection",
    "Snapshot",
    "SourceInfo",
    "SqliteStore",
    "Store",
    "Writer",
    "check_config",
    "create_store",
    "open_store",
    "with_kinds",
]
