"""Removing names, and contents that have no name left."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath

from pipelines.errors import ConfigError
from pipelines.file_names import (
    absolute_form,
    base_name,
    composed,
    forms,
    meant,
    original,
    printable,
)
from rag_app.ingest.report import RemoveReport
from rag_app.store.protocol import Store, Writer


def remove(
    store: Store,
    names: Iterable[str | Path],
    *,
    timeout: float = 30.0,
    on_wait: Callable[[str], None] | None = None,
) -> RemoveReport:
    """Remove names; a content without names is removed with its nodes, vectors and terms.

    Args:
        store: the index.
        names: a path as it was ingested, a relative one, a folder (all below it),
            a file name that only one path in the index has, or a Document's id.
        timeout: seconds to wait for another writer.
        on_wait: called once, with a message, when another process writes.

    Raises:
        ConfigError: a file name that several paths have.
    """
    with store.writer(timeout=timeout, on_wait=on_wait) as writer:
        with store.snapshot() as snapshot:
            known = snapshot.names()
        found: dict[str, None] = {}
        unknown = []
        for name in names:
            matches = find_names(os.fspath(name), known)
            found |= dict.fromkeys(matches)
            if not matches:
                unknown.append(printable(original(os.fspath(name))))
        count = writer.remove(found) if found else 0
    return RemoveReport(tuple(found), tuple(unknown), count)


def find_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the names in the index that ``name`` refers to.

    A path, a file name or an id is found in printed and in raw form, and under NFC
    where none is exactly equal.

    Raises:
        ConfigError: several files have this name.
    """
    known = list(known)
    if not name:
        return []
    paths = forms(absolute_form(name))
    exact = meant((*forms(name), *paths), known)
    if exact:
        return _one(name, exact)
    for path in paths:
        below = [one for one in known if _is_below(one, path)]
        if below:
            return below
    base = {one: base_name(one) for one in known}
    called = meant(forms(name), set(base.values()))
    return _one(name, [one for one in known if base[one] in called])


def _is_below(name: str, folder: str) -> bool:
    return PurePath(composed(original(name))).is_relative_to(composed(original(folder)))


def _one(name: str, found: list[str]) -> list[str]:
    if len(found) > 1:
        raise ConfigError(
            f"{len(found)} files in the index are called '{printable(original(name))}'",
            hint=f"give one of the paths: {', '.join(found)}",
        )
    return found


def prune_names(store: Store, writer: Writer, folders: Sequence[Path]) -> tuple[str, ...]:
    """Remove the names below the folders whose files no longer exist."""
    with store.snapshot() as snapshot:
        names = snapshot.names()
    gone = tuple(
        name
        for name in names
        if any(Path(original(name)).is_relative_to(folder) for folder in folders)
        and _is_gone(original(name))
    )
    if gone:
        writer.remove(gone)
    return gone


def _is_gone(path: str) -> bool:
    """Tell whether a file no longer exists; in a folder that cannot be read it may."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False
