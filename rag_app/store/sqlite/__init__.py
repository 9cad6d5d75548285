"""The engine on SQLite: a folder with one database, which is the truth, and derived files."""

from __future__ import annotations

from rag_app.store.sqlite.drafts import drafted_store
from rag_app.store.sqlite.store import (
    OWN_FOLDERS,
    check_new,
    create_store,
    is_index,
    open_store,
    remove_if_empty,
)

__all__ = [
    "OWN_FOLDERS",
    "check_new",
    "create_store",
    "drafted_store",
    "is_index",
    "open_store",
    "remove_if_empty",
]
