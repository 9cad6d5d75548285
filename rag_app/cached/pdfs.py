"""PDFs that are asked directly, in an index that is cached for the next question."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from pipelines.errors import ConfigError, IndexReadOnlyError, ReadError
from pipelines.file_names import printable
from pipelines.reading import content_hash
from rag_app.cached.encrypted import may_be_encrypted, needs_password
from rag_app.cached.folders import IndexCache
from rag_app.cached.indexes import Notices, PdfIndexes, UnreadPdf
from rag_app.settings import Settings, load_settings

if TYPE_CHECKING:
    from llama_index.core.llms.llm import LLM

    from rag_app.answer.response import Answer
    from rag_app.index import Index
    from rag_app.retrieval.strategy import Strategy

# Told the encrypted files and how many passwords were given before; None: there is no other.
AskPassword = Callable[[Sequence[Path], int], str | None]


@dataclass(frozen=True)
class OpenPdfs:
    """PDFs that can be asked.

    Attributes:
        index: what is asked.
        unread: files that could not be read, and are left out.
    """

    index: Index
    unread: tuple[UnreadPdf, ...]


def ask(
    question: str,
    *pdfs: str | Path,
    strategy: str | Strategy | None = None,
    llm: LLM | None = None,
    settings: Settings | None = None,
    password: str | None = None,
) -> Answer:
    """Answer a question by PDFs; what is read of them is cached for the next question.

    Files are known by their content: they may be renamed and moved. What only a
    password opens is read for this question alone. For several questions, or answers
    that stream, see :func:`rag_app.cached.pdfs.open_pdfs`.

    >>> answer = ask("What is the lead time of the valve?", "report.pdf")
    >>> answer.citations[0].file, answer.citations[0].page
    ('report.pdf', 2)

    Args:
        question: what you want to know.
        *pdfs: the files; those that cannot be read are left out, with a warning in the log.
        strategy: a name, a preset of the config file, or a ``Strategy``; None: the setting.
        llm: writes the answer; None: the one of the settings; none there: extractive.
        settings: None: those of the environment and the config file.
        password: tried on encrypted files, in place of the one of the settings.

    Raises:
        ConfigError: an argument is wrong, or no file is given.
        ReadError, OSError: the only file cannot be read, or none of several.
    """
    from rag_app.facade.arguments import check, check_each

    check("ask", question=question, llm=llm, settings=settings, password=password)
    check("ask", strategy=strategy)
    check_each("ask", "pdfs", pdfs, (str, os.PathLike), "the path of a PDF")
    settings = settings or load_settings()
    if password is not None:
        settings = settings.model_copy(update={"pdf_password": SecretStr(password)})
    with open_pdfs(pdfs, settings, strategy=strategy, llm=llm) as opened:
        answer: Answer = opened.index.as_query_engine(strategy, llm=llm).query(question)  # type: ignore[assignment]
    return answer


@contextmanager
def open_pdfs(
    pdfs: Sequence[str | Path],
    settings: Settings | None = None,
    *,
    strategy: str | Strategy | None = None,
    llm: LLM | None = None,
    notices: Notices = Notices(),  # noqa: B008 (frozen)
    ask_password: AskPassword | None = None,
) -> Iterator[OpenPdfs]:
    """Open the cached index of these PDFs, made now where there is none.

    Args:
        pdfs: the files.
        settings: None: those of the environment and the config file.
        strategy: what the index must be able to search by; None: the setting.
        llm: writes what ``multi_vector`` searches; None: the one of the settings.
        notices: who is told of progress and of files that are left out.
        ask_password: asked for the password of encrypted files, until it opens them.

    Raises:
        ConfigError: no file is given.
        ReadError, OSError: the only file cannot be read, or none of several.
    """
    paths = [Path(path) for path in pdfs]
    if not paths:
        raise ConfigError("no PDF is given", hint='write ask("…", "report.pdf")')
    settings = settings or load_settings()
    with ExitStack() as stack:
        settings, locked = _unlocked(paths, settings, ask_password)
        make = _uncached if locked else _cache
        cache = stack.enter_context(make(settings, notices))
        indexes = PdfIndexes(cache, settings, stack, strategy=strategy, llm=llm, notices=notices)
        index = indexes.open(paths)
        cache.trim()
        yield OpenPdfs(index, tuple(indexes.unread))


def _unlocked(
    paths: Sequence[Path], settings: Settings, ask_password: AskPassword | None
) -> tuple[Settings, bool]:
    """Return settings with the password of encrypted files, and whether one was needed.

    Without a password they fail as others do.
    """
    root = IndexCache.of(settings).root
    marked = [path for path in paths if may_be_encrypted(path) and not _is_cached(path, root)]
    locked = [path for path in marked if needs_password(path)]
    own = settings.pdf_password
    given = own.get_secret_value() if own else None
    tried = 0
    while locked and ask_password is not None:
        if given is not None and not all(needs_password(path, [given]) for path in locked):
            break
        typed = ask_password(locked, tried)
        if typed is None:
            break
        given, tried = typed, tried + 1
        settings = settings.model_copy(update={"pdf_password": SecretStr(typed)})
    return settings, bool(locked) and given is not None


def _is_cached(path: Path, root: Path) -> bool:
    """Tell whether a file was read before, and so without a password."""
    try:
        content = content_hash(path)
    except (OSError, ReadError):
        return False
    return any(root.glob(f"{content[:40]}-*/"))


@contextmanager
def _uncached(settings: Settings, notices: Notices) -> Iterator[IndexCache]:
    """Give a cache for this run alone: what a password protects is not kept without it."""
    notices.on_note("what is read is not kept: a password protects it (rag ingest keeps it)")
    with _temporary(settings) as cache:
        yield cache


@contextmanager
def _cache(settings: Settings, notices: Notices) -> Iterator[IndexCache]:
    """Give the user's cache, or one for this run alone where no index can be kept there."""
    from rag_app.store import refuse_network_drive

    cache = IndexCache.of(settings)
    try:
        cache.prepare()
        refuse_network_drive(cache.root)
    except (OSError, IndexReadOnlyError) as error:
        notices.on_note(f"what is read is not kept: {_reason(error)}")
        with _temporary(settings) as cache:
            yield cache
    else:
        yield cache


@contextmanager
def _temporary(settings: Settings) -> Iterator[IndexCache]:
    with tempfile.TemporaryDirectory() as folder:
        yield IndexCache(Path(folder), limit_mb=settings.cache_limit_mb)


def _reason(error: OSError | IndexReadOnlyError) -> str:
    if isinstance(error, IndexReadOnlyError):
        return error.message
    where = f"{printable(str(error.filename))}: " if error.filename else ""
    return f"{where}{error.strerror}" if error.strerror else f"{type(error).__name__}: {error}"
