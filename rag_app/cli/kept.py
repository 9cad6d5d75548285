"""PDFs named beside the question, asked in an index that is kept in the user's cache."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pipelines.errors import IndexReadOnlyError
from rag_app.cli.cache import IndexCache
from rag_app.cli.keeper import Keeper
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
        cache = stack.enter_context(_cache(current))
        keeper = Keeper(cache, current, stack)
        index = keeper.open(paths)
        cache.trim()
        yield Source(index, (index,), tuple(keeper.failed))


@contextmanager
def _cache(current: Session) -> Iterator[IndexCache]:
    """Give the user's cache, or one for this run alone where no index can be kept there."""
    from rag_app.store.lock import refuse_network_drive

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
