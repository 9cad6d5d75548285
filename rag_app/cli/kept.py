"""PDFs named beside the question, asked in an index that is kept in the user's cache."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr

from pipelines.errors import IndexReadOnlyError, ReadError
from pipelines.file_names import printable
from pipelines.reading import content_hash
from rag_app.cli.cache import IndexCache
from rag_app.cli.keeper import Keeper
from rag_app.cli.passwords import MAX_PROMPTS, ask_password, may_be_encrypted, needs_password
from rag_app.cli.session import Session, describe
from rag_app.cli.sources import Source


@contextmanager
def pdfs(paths: Sequence[Path], current: Session) -> Iterator[Source]:
    """Open the kept index of these PDFs, made now where there is none.

    A file that cannot be read is named on stderr, and the others are asked.

    Raises:
        ReadError: none of the files could be read.
    """
    with ExitStack() as stack:
        current, locked = _unlocked(paths, current)
        cache = stack.enter_context(_private(current) if locked else _cache(current))
        keeper = Keeper(cache, current, stack)
        index = keeper.open(paths)
        cache.trim()
        yield Source(index, (index,), tuple(keeper.failed))


def _unlocked(paths: Sequence[Path], current: Session) -> tuple[Session, bool]:
    """Return a session with the password of encrypted files, and whether one was needed.

    Without a password they fail as others do.
    """
    root = IndexCache.of(current.settings).root
    marked = [path for path in paths if may_be_encrypted(path) and not _is_kept(path, root)]
    locked = [path for path in marked if needs_password(path)]
    own = current.settings.pdf_password
    given = own.get_secret_value() if own else None
    for tried in range(MAX_PROMPTS if locked else 0):
        if given is not None and not all(needs_password(path, [given]) for path in locked):
            break
        typed = ask_password(current.out, list(map(printable, locked)), again=tried > 0)
        if typed is None:
            break
        given = typed
        settings = current.settings.model_copy(update={"pdf_password": SecretStr(typed)})
        current = replace(current, settings=settings)
    return current, bool(locked) and given is not None


def _is_kept(path: Path, root: Path) -> bool:
    """Tell whether a file was read before, and so without a password."""
    try:
        content = content_hash(path)
    except (OSError, ReadError):
        return False
    return any(root.glob(f"{content[:40]}-*/"))


@contextmanager
def _private(current: Session) -> Iterator[IndexCache]:
    """Give a cache for this run alone: what a password protects is not kept without it."""
    current.out.note("what is read is not kept: a password protects it (rag ingest keeps it)")
    with tempfile.TemporaryDirectory() as folder:
        yield IndexCache(Path(folder), limit_mb=current.settings.cache_limit_mb)


@contextmanager
def _cache(current: Session) -> Iterator[IndexCache]:
    """Give the user's cache, or one for this run alone where no index can be kept there."""
    from rag_app.store import refuse_network_drive

    cache = IndexCache.of(current.settings)
    try:
        cache.prepare()
        refuse_network_drive(cache.root)
    except (OSError, IndexReadOnlyError) as error:
        current.out.note(f"what is read is not kept: {describe(error)['message']}")
        with tempfile.TemporaryDirectory() as folder:
            yield IndexCache(Path(folder), limit_mb=current.settings.cache_limit_mb)
    else:
        yield cache
