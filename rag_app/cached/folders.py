"""The folders of cached indexes of PDFs that are asked directly, in the user's cache.

A folder for each index and a lock file beside it. An index is used under the
shared lock and made, renamed or removed under the exclusive one: it never
changes under somebody who uses it. The modification time of the lock file says
when it was last used.

The root carries a mark, and only what lies in a marked root under a name of our own
form is ever counted, locked or removed: a folder of the user's that is named as the
cache by mistake is refused as it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pipelines.errors import IndexLockedError, StoreError
from rag_app.file_lock import LockFile

if TYPE_CHECKING:
    from rag_app.settings import Settings

_INDEX, _ABOUT, _LOCK = "index", "about.json", ".lock"
_KEY = re.compile(r"[0-9a-f]{40}-[0-9a-f]{12}")
_GONE = re.compile(_KEY.pattern + r"\.[0-9a-f]{8}\.gone")  # taken out of use, to be removed
_MARK = "CACHEDIR.TAG"  # the name by which backup programs know a cache
_DRAFT = re.compile(re.escape(_MARK) + r"\.[0-9a-f]{8}\.new")
_MARKED = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Indexes that rag_app keeps for `rag ask`; `rag cache clear` removes them.\n"
)
MAX_NAMED = 3  # things that are in the way and named in an error
_PRIVATE = 0o700
MIN_TOLD_WAIT_SECONDS = 0.3  # a shorter wait for a lock is not told
# What decides the content of an index: another value needs another index.
_DECISIVE = (
    "embed_model",
    "embed_scripts",
    "query_instruction",
    "text_instruction",
    "embed_max_tokens",
    "reader",
    "ocr",
    "parent_size",
    "child_sizes",
    "window",
)


@dataclass(frozen=True)
class CachedIndex:
    """One cached index.

    Attributes:
        key: its name in the cache.
        files: the PDFs that it is of, as they were last called.
        bytes: size on disk.
        used: when it was last used, in seconds since the epoch.
    """

    key: str
    files: tuple[str, ...]
    bytes: int
    used: float


def key_of(
    contents: Collection[str], settings: Settings, pipelines: Sequence[str], model: str = ""
) -> str:
    """Return the key of the index of a set of contents (sha256, hex) under these settings.

    Args:
        contents: hashes of files.
        settings: of the index.
        pipelines: what is built of every file.
        model: what tells an embedding model that the settings do not name from others.
    """
    decisive = settings.model_dump(mode="json", include=set(_DECISIVE))
    built = sorted(pipelines)
    from pipelines.analysers import fingerprints
    from pipelines.rows import ROW_SHARE
    from rag_app.compatibility import explicit_child_sizes
    from rag_app.kinds import kinds_of
    from rag_app.settings import served_name

    if served_name(settings.embed_model) is not None:
        decisive["embed_base_url"] = settings.embed_base_url
    kinds = kinds_of(pipelines, explicit_child_sizes(settings))
    # After an upgrade that changes an analyser, what is noted of passages, or what a pipeline
    # builds, the file is read again.
    built += [*(fingerprint for _, fingerprint in fingerprints(built)), ROW_SHARE]
    built += [*kinds.vectors, *kinds.words]
    about = json.dumps([decisive, built, *([model] if model else [])], sort_keys=True)
    what = min(contents) if len(contents) == 1 else _digest("\n".join(sorted(contents)))
    return f"{what[:40]}-{_digest(about)[:12]}"


class IndexCache:
    """Folders under one root, each there until the limit asks for its space."""

    def __init__(self, root: Path, *, limit_mb: int) -> None:
        self.root = root
        self.limit = limit_mb * 1_000_000

    @classmethod
    def of(cls, settings: Settings, folder: Path | None = None) -> Self:
        """Return the user's cache, or one of another folder than the settings say."""
        root = (folder or settings.cache_dir) / "indexes"
        return cls(root, limit_mb=settings.cache_limit_mb)

    def prepare(self) -> None:
        """Make the root, for its owner alone.

        Raises:
            OSError: it cannot be made.
            StoreError: it belongs to somebody else, is a link, or holds other things.
        """
        self.root.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        state = self.root.lstat()
        if stat.S_ISLNK(state.st_mode):
            raise _refused(f"the cache {self.root} is a symbolic link")
        if state.st_uid != os.getuid():
            raise _refused(f"the cache {self.root} belongs to another user")
        if not self._is_marked():
            self._refuse_others()
            # In one step: others who begin at the same moment see it whole or not at all.
            draft = self.root / f"{_MARK}.{secrets.token_hex(4)}.new"
            _write_new(draft, _MARKED)
            draft.replace(self.root / _MARK)
        self.root.chmod(_PRIVATE)

    def _is_marked(self) -> bool:
        return self._mark() == _MARKED

    def _mark(self) -> str | None:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return (self.root / _MARK).read_text(encoding="utf-8")
        return None

    def _refuse_others(self) -> None:
        """Accept a root that is empty, or holds what an earlier version cached."""
        names = {path.name for path in self.root.iterdir()}
        # After that: what another process has made of it meanwhile is whole.
        mark = self._mark()
        if mark is not None and _MARKED.startswith(mark):
            names.discard(_MARK)  # whole, or torn by a kill
        names = {name for name in names if not _DRAFT.fullmatch(name)}
        others = sorted(name for name in names if not _is_ours(name.removesuffix(_LOCK)))
        if others:
            said = ", ".join(map(repr, others[:MAX_NAMED]))
            raise _refused(f"the cache {self.root} holds other things ({said})")

    @contextmanager
    def use(self, key: str, on_wait: Callable[[], None] | None = None) -> Iterator[Path | None]:
        """Yield the index of this key under a shared lock; None where none is cached.

        Args:
            key: see :func:`key_of`.
            on_wait: called once while another process makes it and this one waits.
        """
        # Who makes it holds the lock before there is a folder.
        if not (_is_folder(self.root / key) or os.path.lexists(self._lock_path(key))):
            yield None
            return

        def tell(_: int) -> None:
            if on_wait is not None:
                on_wait()

        with self._lock(key).hold(shared=True, on_wait=tell, tell_after=MIN_TOLD_WAIT_SECONDS):
            if not _is_folder(self.root / key):
                yield None
                return
            self.touch([key])
            yield self.root / key / _INDEX

    @contextmanager
    def change(self, key: str, *, wait: float) -> Iterator[Path]:
        """Yield the folder of this key under an exclusive lock, to make or change its index.

        Raises:
            IndexLockedError: another process still uses it after ``wait`` seconds.
        """
        with self._lock(key).hold(timeout=wait):
            (self.root / key).mkdir(mode=_PRIVATE, exist_ok=True)
            yield self.root / key / _INDEX

    def note(self, key: str, files: Sequence[str], *, complete: bool) -> None:
        """Record the files of the index, and whether it is complete; within :meth:`change` only."""
        about = self.root / key / _ABOUT
        draft = about.with_suffix(f".{secrets.token_hex(4)}.new")
        _write_new(draft, json.dumps({"files": list(files), "complete": complete}))
        draft.replace(about)

    def is_noted(self, key: str) -> bool:
        """Tell whether the run that made the index has finished."""
        return bool(_about(self.root / key))

    def is_complete(self, key: str) -> bool:
        """Tell whether the index was complete when it was made."""
        return _about(self.root / key).get("complete") is True

    def touch(self, keys: Collection[str]) -> None:
        """Record that these are used now; those that are not cached are ignored."""
        for key in keys:
            with contextlib.suppress(FileNotFoundError):
                os.utime(self._lock_path(key), follow_symlinks=False)

    def empty(self, key: str) -> None:
        """Remove what the index holds, to build it again; within :meth:`change` only."""
        self._take_away(key)
        (self.root / key).mkdir(mode=_PRIVATE)

    def discard(self, key: str) -> bool:
        """Remove one cached index; return False when another process uses it."""
        try:
            with self._lock(key).hold(timeout=0):
                self._take_away(key)
                self._lock_path(key).unlink(missing_ok=True)
        except IndexLockedError:
            return False
        return True

    def trim(self) -> list[CachedIndex]:
        """Remove the least recently used until the limit holds; return what was removed."""
        entries = sorted(self.entries(), key=lambda entry: entry.used)
        for entry in entries:
            if _GONE.fullmatch(entry.key):
                self.discard(entry.key)  # of a removal that was killed
        cached = [entry for entry in entries if not _GONE.fullmatch(entry.key)]
        total = sum(entry.bytes for entry in cached)
        removed = []
        for entry in cached:
            if total <= self.limit:
                break
            if self.discard(entry.key):
                removed.append(entry)
                total -= entry.bytes
        return removed

    def clear(self) -> tuple[list[CachedIndex], list[CachedIndex]]:
        """Remove every cached index; return those removed and those that are in use."""
        removed: list[CachedIndex] = []
        in_use: list[CachedIndex] = []
        for entry in self.entries():
            (removed if self.discard(entry.key) else in_use).append(entry)
        # Of a run that was killed before it had made anything.
        for lock in self.root.glob(f"*{_LOCK}") if self._is_marked() else ():
            if _is_ours(lock.stem):
                self.discard(lock.stem)
        return removed, in_use

    def entries(self) -> list[CachedIndex]:
        """Return what is cached, last used first."""
        if not self._is_marked():
            return []
        folders = [path for path in self.root.iterdir() if _is_ours(path.name) and _is_folder(path)]
        return sorted((self._entry(path) for path in folders), key=lambda entry: -entry.used)

    def _entry(self, folder: Path) -> CachedIndex:
        from rag_app.store import folder_bytes

        files = _about(folder).get("files")
        names = tuple(map(str, files)) if isinstance(files, list) else ()
        used = 0.0
        # Another process may remove it at this moment.
        with contextlib.suppress(FileNotFoundError):
            used = self._lock_path(folder.name).lstat().st_mtime
        return CachedIndex(folder.name, names, folder_bytes(folder), used)

    def _take_away(self, key: str) -> None:
        """Remove a folder; it is renamed first, so that a kill leaves no half of it in use."""
        gone = self.root / f"{key}.{secrets.token_hex(4)}.gone"
        with contextlib.suppress(FileNotFoundError):
            (self.root / key).rename(gone)
            shutil.rmtree(gone, ignore_errors=True)

    def _lock(self, key: str) -> LockFile:
        return LockFile(self._lock_path(key), lambda _: _in_use())

    def _lock_path(self, key: str) -> Path:
        return self.root / f"{key}{_LOCK}"


def _in_use() -> IndexLockedError:
    return IndexLockedError(
        "another process uses the cached index of these files",
        hint="ask again when it has finished",
    )


def _is_ours(name: str) -> bool:
    return bool(_KEY.fullmatch(name) or _GONE.fullmatch(name))


def _is_folder(path: Path) -> bool:
    """Tell whether there is a folder, and no link to one."""
    return path.is_dir() and not path.is_symlink()


def _refused(message: str) -> StoreError:
    return StoreError(message, hint="set RAG_CACHE_DIR to a folder of your own, or to a new one")


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet; never through a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def _about(folder: Path) -> dict[str, Any]:
    try:
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
