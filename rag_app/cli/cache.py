"""The kept indexes of ``rag ask "…" FILE.pdf``: one for each content, in the user's cache.

A folder for each index and a lock file beside it. Whoever uses an index holds
its lock shared; it is removed only under the exclusive lock, so never while in
use. The modification time of the lock file says when it was last used.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import StoreError

if TYPE_CHECKING:
    from rag_app.settings import Settings

_ABOUT = "about.json"
_PRIVATE = 0o700
# What decides the content of an index: another value needs another index.
_DECISIVE = (
    "embed_model",
    "embed_scripts",
    "query_instruction",
    "text_instruction",
    "embed_max_tokens",
    "reader",
    "parent_size",
    "child_sizes",
    "window",
)


@dataclass(frozen=True)
class Kept:
    """One kept index.

    Attributes:
        key: its name in the cache.
        file: the PDF that it was made of, as it was last called.
        bytes: size on disk.
        used: when it was last used, in seconds since the epoch.
    """

    key: str
    file: str
    bytes: int
    used: float


def key_of(content: str, settings: Settings, pipelines: Sequence[str]) -> str:
    """Return the key of the index of a content (its sha256, hex) under these settings."""
    decisive = settings.model_dump(mode="json", include=set(_DECISIVE))
    about = json.dumps([decisive, sorted(pipelines)], sort_keys=True)
    return f"{content[:40]}-{hashlib.sha256(about.encode()).hexdigest()[:12]}"


class IndexCache:
    """Folders under one root, each kept until the limit asks for its space."""

    def __init__(self, root: Path, *, limit_mb: int) -> None:
        self.root = root
        self.limit = limit_mb * 1_000_000

    def prepare(self) -> None:
        """Make the folder, for its owner alone.

        Raises:
            OSError: it cannot be made.
            StoreError: it belongs to somebody else.
        """
        self.root.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        if self.root.stat().st_uid != os.getuid():
            raise StoreError(
                f"the cache {self.root} belongs to another user",
                hint="set RAG_CACHE_DIR to a folder of your own",
            )
        self.root.chmod(_PRIVATE)

    @contextmanager
    def hold(self, key: str, file: Path) -> Iterator[Path]:
        """Give the folder for the index of this key; it stays while the body runs.

        Raises: as :meth:`prepare`.
        """
        self.prepare()
        with _locked(self._lock(key), fcntl.LOCK_SH):
            folder = self.root / key
            folder.mkdir(mode=_PRIVATE, exist_ok=True)
            (folder / _ABOUT).write_text(json.dumps({"file": str(file)}), encoding="utf-8")
            os.utime(self._lock(key))
            yield folder / "index"

    def discard(self, key: str) -> bool:
        """Remove one kept index; return False when somebody uses it."""
        lock = self._lock(key)
        try:
            with _locked(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
                shutil.rmtree(self.root / key, ignore_errors=True)
                lock.unlink(missing_ok=True)
        except BlockingIOError:
            return False
        return True

    def trim(self) -> list[Kept]:
        """Remove what was not used for longest until the limit holds; return what was removed."""
        kept = sorted(self.entries(), key=lambda entry: entry.used)
        total = sum(entry.bytes for entry in kept)
        removed = []
        for entry in kept:
            if total <= self.limit:
                break
            if self.discard(entry.key):
                removed.append(entry)
                total -= entry.bytes
        return removed

    def clear(self) -> tuple[list[Kept], list[Kept]]:
        """Remove every kept index; return those removed and those that are in use."""
        removed: list[Kept] = []
        in_use: list[Kept] = []
        for entry in self.entries():
            (removed if self.discard(entry.key) else in_use).append(entry)
        return removed, in_use

    def entries(self) -> list[Kept]:
        """Return what is kept, last used first."""
        if not self.root.is_dir():
            return []
        folders = [path for path in self.root.iterdir() if path.is_dir()]
        return sorted((self._entry(path) for path in folders), key=lambda kept: -kept.used)

    def _entry(self, folder: Path) -> Kept:
        lock = self._lock(folder.name)
        used = lock.stat().st_mtime if lock.exists() else 0.0
        return Kept(folder.name, _file_of(folder), _size(folder), used)

    def _lock(self, key: str) -> Path:
        return self.root / f"{key}.lock"


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    """Hold the lock file; make it anew when whoever held it before has removed it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, how)
            if _is_at(path, handle):
                yield
                return
        finally:
            os.close(handle)


def _is_at(path: Path, handle: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(handle))
    return False


def _file_of(folder: Path) -> str:
    try:
        return str(json.loads((folder / _ABOUT).read_text(encoding="utf-8"))["file"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        # Another process may remove it at this moment.
        with contextlib.suppress(FileNotFoundError):
            total += path.lstat().st_size
    return total
