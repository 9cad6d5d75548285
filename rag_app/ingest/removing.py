"""Names → the contents that go with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from pipelines.errors import ConfigError
from rag_app.ingest.inputs import absolute
from rag_app.ingest.report import RemoveReport
from rag_app.store.codec import base_name
from rag_app.store.protocol import Store, Writer


def remove(
    store: Store,
    names: Iterable[str | Path],
    *,
    timeout: float = 30.0,
    on_wait: Callable[[str], None] | None = None,
) -> RemoveReport:
    """Take names away; what has no name left goes with all its nodes, vectors and words.

    Args:
        store: the index.
        names: a path as it was ingested, a relative one, a folder (all below it),
            a file name that only one path in the index has, or a Document's id.
        timeout: seconds to wait for another writer.
        on_wait: told once, in words, that another process writes.

    Raises:
        ConfigError: a file name that several paths have.
    """
    with store.writer(timeout=timeout, on_wait=on_wait) as writer:
        with store.snapshot() as snapshot:
            known = snapshot.names()
        found: dict[str, None] = {}
        unknown = []
        for name in names:
            matches = find_names(str(name), known)
            found |= dict.fromkeys(matches)
            if not matches:
                unknown.append(str(name))
        count = writer.remove(found) if found else 0
    return RemoveReport(tuple(found), tuple(unknown), count)


def find_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the names in the index that are meant by ``name``.

    Raises:
        ConfigError: it is a file name, and several paths end with it.
    """
    known = list(known)
    path = absolute(name)
    for exact in (name, path):
        if exact in known:
            return [exact]
    below = [one for one in known if Path(one).is_relative_to(path)]
    if below:
        return below
    same = [one for one in known if base_name(one) == name]
    if len(same) > 1:
        raise ConfigError(
            f"{len(same)} files in the index are called {name!r}",
            hint=f"give one of the paths: {', '.join(same)}",
        )
    return same


def prune_names(store: Store, writer: Writer, folders: Sequence[Path]) -> tuple[str, ...]:
    """Take away the names below the folders whose files are gone."""
    with store.snapshot() as snapshot:
        names = snapshot.names()
    gone = tuple(
        name
        for name in names
        if any(Path(name).is_relative_to(folder) for folder in folders)
        and not os.path.lexists(name)
    )
    if gone:
        writer.remove(gone)
    return gone
