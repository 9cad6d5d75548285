"""Which engine serves a URL or a path: the one place that knows."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urlsplit

from pipelines.errors import ConfigError
from rag_app.store.protocol import IndexConfig, Store

# Each module has open_store(place), create_store(place, config), is_index(place), check_new(place).
_ENGINES = {"file": "rag_app.store.sqlite.store"}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def open_store(url: str | Path) -> Store:
    """Open the index at a path, at a ``file://`` URL or at a URL of another engine.

    Raises:
        ConfigError: no engine serves the scheme of the URL; names those that are known.
        IndexNotFoundError, IndexDamagedError, IndexNewerError, IndexReadOnlyError: as they say.
    """
    engine, place = _served(url)
    return cast("Store", import_module(engine).open_store(place))


def create_store(url: str | Path, config: IndexConfig) -> Store:
    """Make an empty index at a path or a URL.

    Raises:
        ConfigError: no engine serves the scheme of the URL; names those that are known.
        IndexExistsError, IndexReadOnlyError, FolderNotEmptyError, IndexUnsafeError: as they say.
    """
    engine, place = _served(url)
    return cast("Store", import_module(engine).create_store(place, config))


def is_index(url: str | Path) -> bool:
    """Tell whether there is an index at a path or a URL, or what looks like one.

    Raises:
        ConfigError: no engine serves the scheme of the URL; names those that are known.
    """
    engine, place = _served(url)
    return cast("bool", import_module(engine).is_index(place))


def check_new(url: str | Path) -> None:
    """Accept a place in which an index may be made; nothing is written.

    Raises:
        ConfigError: no engine serves the scheme of the URL; names those that are known.
        IndexExistsError, FolderNotEmptyError, IndexUnsafeError: as they say.
    """
    engine, place = _served(url)
    import_module(engine).check_new(place)


def local_folder(url: str | Path) -> Path:
    """Return the folder that a path or a ``file://`` URL names.

    Raises:
        ConfigError: the URL is that of another engine, whose indexes are no folders.
    """
    _, place = _served(url)
    if isinstance(place, Path):
        return place
    raise ConfigError(f"{place} is no folder", hint="give the path of a folder")


def _served(url: str | Path) -> tuple[str, str | Path]:
    """Return the module of the engine, and what that takes: a Path, or the URL as it is."""
    found = _SCHEME.match(url) if isinstance(url, str) else None
    if found is None:
        return _ENGINES["file"], Path(url)
    scheme = found[1].lower()
    if scheme not in _ENGINES:
        known = ", ".join(f"{name}://" for name in sorted(_ENGINES))
        raise ConfigError(
            f"no store serves {scheme}:// URLs",
            hint=f"give the path of a folder, or one of {known}",
        )
    if scheme != "file":
        return _ENGINES[scheme], str(url)
    parts = urlsplit(str(url))
    if parts.netloc not in {"", "localhost"}:
        raise ConfigError(
            "a file:// URL names another machine", hint="give the path of a folder on this machine"
        )
    return _ENGINES[scheme], Path(unquote(parts.path))
