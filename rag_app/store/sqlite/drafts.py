"""An index that is built beside its place and moved there whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipelines.errors import StoreError
from rag_app.store.engine.array_files import sync_folder
from rag_app.store.protocol import IndexConfig
from rag_app.store.sqlite.folders import clear_drafts, new_merge_draft, remove_tree
from rag_app.store.sqlite.schema import DATABASE, DERIVED
from rag_app.store.sqlite.store import SqliteStore, claimed, create_store


@contextlib.contextmanager
def drafted_store(into: Path, config: IndexConfig) -> Iterator[SqliteStore]:
    """Yield a new index that is in its folder when it is left, and whole or not at all.

    It is built in a folder of its own there; leaving moves it into place, the database last.

    Raises:
        IndexExistsError, IndexReadOnlyError, FolderNotEmptyError, IndexUnsafeError:
            see :func:`rag_app.store.sqlite.store.create_store`.
        StoreError: the database could not be finished.
    """
    with claimed(into) as lock:
        draft = into / new_merge_draft()
        lock.record(draft.name, DERIVED)
        try:
            # Nobody reads it before it is complete.
            with create_store(draft, config, durable=False) as store:
                yield store
            _refuse_log(draft)
            _move(draft, into, (DERIVED, DATABASE))
        except BaseException:
            clear_drafts(into, [draft.name, DERIVED])
            raise
        remove_tree(draft)
        lock.record()


def _refuse_log(draft: Path) -> None:
    """Accept a database that is complete without its log, which would not be moved."""
    log = draft / f"{DATABASE}-wal"
    if log.exists() and log.stat().st_size:
        raise StoreError(
            f"the database in {draft} could not be finished: its log is still beside it",
            hint="free space on the disk and run it again",
        )


def _move(draft: Path, into: Path, names: Sequence[str]) -> None:
    for name in names:
        if (draft / name).exists():
            (draft / name).rename(into / name)
            sync_folder(into)
