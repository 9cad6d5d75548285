"""Which engine serves a URL or a path: the one place that knows."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import unquote, urlsplit

from pipelines.errors import ConfigError
from rag_app.store.protocol import IndexConfig, Store

# Each package has the functions of ``_StoreEngine``.
_ENGINES = {"file": "rag_app.store.sqlite"}
_LOCAL = "file"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


class _StoreEngine(Protocol):
    """What an engine's package offers; a place is a folder, or the URL as it was given."""

    OWN_FOLDERS: frozenset[str]

    def open_store(self, place: Any) -> Store: ...
    def create_store(self, place: Any, config: IndexConfig) -> Store: ...
    def drafted_store(self, place: Any, config: IndexConfig) -> AbstractContextManager[Store]: ...
    def is_index(self, place: Any) -> bool: ...
    def check_new(self, place: Any) -> None: ...
    def remove_if_empty(self, place: Any) -> bool: ...


def open_store(url: str | Path) -> Store:
    """Open the index at a path, at a ``file://`` URL or at a URL of another engine.

    Raises:
        ConfigError: no engine serves the scheme of the URL; names those that are known.
        IndexNotFoundError, IndexDamagedError, IndexNewerError, IndexReadOnlyError: as they say.
    """
    engine, place = _served(url)
    return engine.open_store(place)


def create_store(url: str | Path, config: IndexConfig) -> Store:
    """Make an empty index at a path or a URL.

    Raises:
        ConfigError: no engine serves the scheme of the URL; names those that are known.
        IndexExistsError, IndexReadOnlyError, FolderNotEmptyError, IndexUnsafeError: as they say.
    """
    engine, place = _served(url)
    return engine.create_store(place, config)


def drafted_store(url: str | Path, config: IndexConfig) -> AbstractContextManager[Store]:
    """Return a new index to be filled: leaving the context puts it in its place, whole.

    Raises:
        ConfigError: no engine serves the scheme of the URL; names those that are known.
        IndexExistsError, IndexReadOnlyError, FolderNotEmptyError, IndexUnsafeError: as they say.
    """
    engine, place = _served(url)
    return engine.drafted_store(place, config)


def remove_if_empty(url: str | Path) -> bool:
    """Remove an index into which nothing was ingested; tell whether it was removed.

    Raises:
        ConfigError: no engine serves the scheme of the URL; names those that are known.
        IndexLockedError: somebody writes to it.
    """
    engine, place = _served(url)
    return engine.remove_if_empty(place)


def own_folders() -> frozenset[str]:
    """Return the names of folders in an index's folder that hold no files of its user."""
    return _engine(_LOCAL).OWN_FOLDERS


def is_index(url: str | Path) -> bool:
    """Tell whether there is an index at a path or a URL, or what looks like one.

    Raises:
        ConfigError: no engine serves the scheme of the URL; names those that are known.
    """
    engine, place = _served(url)
    return engine.is_index(place)


def check_new(url: str | Path) -> None:
    """Accept a place in which an index may be made; nothing is written.

    Raises:
        ConfigError: no engine serves the scheme of the URL; names those that are known.
        IndexExistsError, FolderNotEmptyError, IndexUnsafeError: as they say.
    """
    engine, place = _served(url)
    engine.check_new(place)


def local_folder(url: str | Path) -> Path:
    """Return the folder that a path or a ``file://`` URL names.

    Raises:
        ConfigError: the URL is that of another engine, whose indexes are no folders.
    """
    _, place = _served(url)
    if isinstance(place, Path):
        return place
    raise ConfigError(f"{place} is no folder", hint="give the path of a folder")


def _engine(scheme: str) -> _StoreEngine:
    return cast("_StoreEngine", import_module(_ENGINES[scheme]))


def _served(url: str | Path) -> tuple[_StoreEngine, str | Path]:
    """Return the engine, and what that takes: a Path, or the URL as it is."""
    found = _SCHEME.match(url) if isinstance(url, str) else None
    if found is None:
        return _engine(_LOCAL), Path(url)
    scheme = found[1].lower()
    if scheme not in _ENGINES:
        known = ", ".join(f"{name}://" for name in sorted(_ENGINES))
        raise ConfigError(
            f"no store serves {scheme}:// URLs",
            hint=f"give the path of a folder, or one of {known}",
        )
    if scheme != _LOCAL:
        return _engine(scheme), str(url)
    parts = urlsplit(str(url))
    if parts.netloc not in {"", "localhost"}:
        raise ConfigError(
            "a file:// URL names another machine", hint="give the path of a folder on this machine"
        )
    return _engine(_LOCAL), Path(unquote(parts.path))
