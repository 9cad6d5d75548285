"""The store: a small protocol, and the engines that implement it."""

from __future__ import annotations

from rag_app.store.config import check_config, with_kinds
from rag_app.store.engine.bm25 import damping, idf
from rag_app.store.local_folders import folder_bytes, remove_folders
from rag_app.store.network_drives import refuse_network_drive
from rag_app.store.opening import (
    check_new,
    create_store,
    is_index,
    local_folder,
    open_store,
    own_folders,
    remove_if_empty,
)
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

__all__ = [
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
    "local_folder",
    "open_store",
    "own_folders",
    "refuse_network_drive",
    "remove_folders",
    "remove_if_empty",
    "with_kinds",
]
