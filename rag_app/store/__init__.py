"""The store: a small protocol, and SQLite in a folder that implements it."""

from __future__ import annotations

from rag_app.store.config import check_config, with_kinds
from rag_app.store.engine.bm25 import damping, idf
from rag_app.store.opening import create_store, open_store
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
from rag_app.store.sqlite.folders import remove_folders
from rag_app.store.sqlite.network_drives import refuse_network_drive
from rag_app.store.sqlite.schema import DATABASE, DERIVED
from rag_app.store.sqlite.store import check_new, folder_bytes, is_index, remove_if_empty

__all__ = [
    "DATABASE",
    "DERIVED",
    "Finding",
    "Hit",
    "IndexConfig",
    "Prepared",
    "Selection",
    "Snapshot",
    "SourceInfo",
    "Store",
    "Writer",
    "check_config",
    "check_new",
    "create_store",
    "damping",
    "folder_bytes",
    "idf",
    "is_index",
    "open_store",
    "refuse_network_drive",
    "remove_folders",
    "remove_if_empty",
    "with_kinds",
]
