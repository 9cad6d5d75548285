"""The folder of an index: which names in it are ours, and what may lie beside them.

Nothing is removed here unless its name has our own form *and* it is recorded as
ours: in the database (derived files) or in the lock file (drafts). The folder and
the files of an index are never links, so that nothing outside is written or
emptied through them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from pipelines.errors import (
    FolderNotEmptyError,
    IndexReadOnlyError,
    IndexUnsafeError,
    StoreError,
)
from rag_app.store.engine.array_files import sync_folder
from rag_app.store.sqlite.schema import APPLICATION_ID, DATABASE, DERIVED, LOCK

DERIVED_NAME = re.compile(
    re.escape(DERIVED) + r"/(vectors|words)-\d+-[A-Za-z0-9_-]+-\d{10}-\d{6}-[0-9a-f]{8}\.arrays"
)
NEW = ".new"  # ends the name of a derived file that is being written
_DATABASE_DRAFT = re.compile(re.escape(DATABASE) + r"\.[0-9a-f]{16}\.new")
_MERGE_DRAFT = re.compile(r"rag-merging-[0-9a-f]{16}")
_LOGS = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database
# Files that operating systems and tools put into folders, and that nobody misses.
_SYSTEM_FILES = frozenset(
    {".DS_Store", "Thumbs.db", "desktop.ini", "lost+found", ".gitkeep", ".gitignore"}
)
_MAX_DEPTH_FOLDERS = 8  # in which indexes are looked for
_MAX_NAMED_FILES = 3  # in an error about files that are in the way
_MAGIC = b"SQLite format 3\0"
_HEADER = slice(68, 72)  # bytes of a database's header that hold the program's number


def new_database_draft() -> str:
    """Return a temporary name for a new database."""
    return f"{DATABASE}.{secrets.token_hex(8)}.new"


def new_merge_draft() -> str:
    """Return a name for the folder in which a merge is built."""
    return f"rag-merging-{secrets.token_hex(8)}"


def is_draft(name: str) -> bool:
    """Tell whether a name has the form of a draft, or of a log of one."""
    for log in _LOGS:
        name = name.removesuffix(log)
    return bool(_DATABASE_DRAFT.fullmatch(name) or _MERGE_DRAFT.fullmatch(name))


def refuse_links(folder: Path, *, writing: bool = False) -> None:
    """Accept a folder whose files of the index are plain files, and its own.

    Args:
        folder: of an index, or of one that is to be made.
        writing: the database is going to be written, which a second (hard) link
            to it would see as well.

    Raises:
        IndexUnsafeError: names the link, pipe or foreign log.
    """
    for name in (DATABASE, *(f"{DATABASE}{log}" for log in _LOGS), LOCK):
        state = _state(folder / name)
        if state is None:
            continue
        if not stat.S_ISREG(state.st_mode):
            raise _unsafe(folder / name, state)
        if name.endswith("-journal"):
            # Our databases have none; SQLite would follow it, also to files elsewhere.
            raise IndexUnsafeError(
                f"{folder / name} is not of this program", hint="check what it is, and remove it"
            )
        # A log is written by readers, too.
        shared = writing or name not in (DATABASE, LOCK)
        if shared and state.st_nlink > 1:
            raise IndexUnsafeError(
                f"{folder / name} has a second name elsewhere (a hard link), and writing "
                "would change that as well",
                hint="copy the folder without links (cp -r) and use the copy",
            )
    derived = _state(folder / DERIVED)
    if derived is None:
        return
    if not stat.S_ISDIR(derived.st_mode):
        raise _unsafe(folder / DERIVED, derived)
    with (
        contextlib.suppress(PermissionError, FileNotFoundError),
        os.scandir(folder / DERIVED) as entries,
    ):
        for entry in entries:
            if entry.is_symlink() and DERIVED_NAME.fullmatch(
                f"{DERIVED}/{entry.name.removesuffix(NEW)}"
            ):
                raise _unsafe(Path(entry.path), entry.stat(follow_symlinks=False))


def is_our_database(database: Path) -> bool:
    """Tell from its first bytes, without SQLite, whether a file is a database of this program.

    SQLite changes what it opens, so another program's database is not opened.
    """
    handle = os.open(database, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        head = os.pread(handle, _HEADER.stop, 0)
    finally:
        os.close(handle)
    return head.startswith(_MAGIC) and head[_HEADER] == APPLICATION_ID.to_bytes(4, "big")


def make_folders(path: Path, *, private: bool = False) -> list[Path]:
    """Make a folder with its parents, for good; return those that were made, inmost first.

    Raises:
        IndexReadOnlyError: it cannot be made.
    """
    missing = []
    for folder in (path, *path.parents):
        if folder.exists():
            break
        missing.append(folder)
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
        if private:
            path.chmod(0o700)
        for folder in missing:
            sync_folder(folder.parent)
    except OSError as error:
        raise IndexReadOnlyError(
            f"{path} cannot be made: {error.strerror}", hint="give a folder that can be written"
        ) from error
    return missing


def check_free(folder: Path, recorded: Collection[str] = ()) -> None:
    """Accept a folder in which an index may be made: empty, or with nothing but ours in it.

    Indexes in folders below it are ours, so that ``.rag/reports`` and ``.rag`` go together.

    Args:
        folder: it need not exist.
        recorded: names of drafts that the lock file names.

    Raises:
        FolderNotEmptyError: names what is there.
        IndexUnsafeError: a link stands where a file of the index would be.
    """
    refuse_links(folder, writing=True)
    others = sorted(_others(folder, recorded))
    if not others:
        return
    said = ", ".join(map(repr, others[:_MAX_NAMED_FILES]))
    more = f" and {len(others) - _MAX_NAMED_FILES} more" if len(others) > _MAX_NAMED_FILES else ""
    raise FolderNotEmptyError(
        f"{folder} holds other files ({said}{more}), so no index is made in it",
        hint=f"give a folder of its own, such as {folder / 'index'}",
    )


def _others(folder: Path, recorded: Collection[str]) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    except NotADirectoryError as error:
        raise IndexReadOnlyError(
            f"{folder} is a file, and an index is a folder", hint="give another folder"
        ) from error
    except OSError as error:
        raise IndexReadOnlyError(
            f"{folder} cannot be read: {error.strerror}", hint="give another folder"
        ) from error
    for entry in entries:
        ours = entry.name == LOCK or entry.name in recorded or is_draft(entry.name)
        if not (ours or entry.name in _SYSTEM_FILES or _holds_indexes(entry)):
            yield entry.name


def _holds_indexes(entry: os.DirEntry[str], depth: int = _MAX_DEPTH_FOLDERS) -> bool:
    """Tell whether an entry is the folder of an index, or holds nothing but such folders."""
    if not depth or not entry.is_dir(follow_symlinks=False):
        return False
    with contextlib.suppress(OSError):
        return is_our_database(Path(entry.path) / DATABASE)
    with contextlib.suppress(OSError):
        with os.scandir(entry.path) as below:
            inner = [one for one in below if one.name not in _SYSTEM_FILES]
        return bool(inner) and all(_holds_indexes(one, depth - 1) for one in inner)
    return False


def clear_drafts(folder: Path, recorded: Collection[str]) -> None:
    """Remove the drafts that a killed run recorded in the lock file; the caller holds the lock."""
    for name in recorded:
        if _DATABASE_DRAFT.fullmatch(name):
            for end in ("", *_LOGS):
                remove_file(folder / f"{name}{end}")
        elif _MERGE_DRAFT.fullmatch(name):
            remove_tree(folder / name)
        elif name == DERIVED and _state(folder / DATABASE) is None:
            # Moved here by a merge that was killed before it moved the database.
            remove_derived(folder)


def remove_file(path: Path) -> None:
    """Remove a plain file; nothing happens where there is none."""
    state = _state(path)
    if state is not None and stat.S_ISREG(state.st_mode):
        path.unlink(missing_ok=True)


def remove_tree(path: Path) -> None:
    """Remove a folder that we made, with all that is in it; a link is left alone."""
    state = _state(path)
    if state is not None and stat.S_ISDIR(state.st_mode):
        shutil.rmtree(path, ignore_errors=True)


def remove_derived(folder: Path, names: Collection[str] | None = None) -> None:
    """Remove derived files by name (``None``: all whose name has our form), with their drafts.

    Their folder goes when it is empty then. It is held open meanwhile: what is put in
    its place is not touched.
    """
    with contextlib.suppress(FileNotFoundError), _held(folder / DERIVED) as handle:
        chosen = names
        if chosen is None:
            chosen = {f"{DERIVED}/{name.removesuffix(NEW)}" for name in os.listdir(handle)}  # noqa: PTH208
        for name in chosen:
            if DERIVED_NAME.fullmatch(name):
                for end in ("", NEW):
                    with contextlib.suppress(FileNotFoundError, IsADirectoryError):
                        os.unlink(f"{name.removeprefix(f'{DERIVED}/')}{end}", dir_fd=handle)
    if names is None:
        with contextlib.suppress(OSError):
            (folder / DERIVED).rmdir()


@contextlib.contextmanager
def _held(path: Path) -> Iterator[int]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise _unsafe(path, path.lstat()) from error
        raise
    try:
        yield handle
    finally:
        os.close(handle)


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:
        raise StoreError(
            f"the index {path.parent} may not be read",
            hint="ask for permission to read its folder and its files",
        ) from None
    except OSError as error:  # such as links in a circle
        raise StoreError(
            f"the index {path.parent} cannot be opened: {error.strerror}", hint="check the path"
        ) from None


def _unsafe(path: Path, state: os.stat_result) -> IndexUnsafeError:
    what = "a symbolic link" if stat.S_ISLNK(state.st_mode) else "not a plain file"
    if path.name == DERIVED and not stat.S_ISLNK(state.st_mode):
        what = "not a folder"
    return IndexUnsafeError(
        f"{path} is {what}; an index is used only where all of it lies in its own folder",
        hint="put the real file or folder there, or give the folder where the index lies",
    )
