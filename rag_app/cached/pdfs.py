"""PDFs that are asked directly, in an index that is cached for the next question."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from pipelines.errors import ConfigError, IndexReadOnlyError, ReadError
from pipelines.file_names import printable
from pipelines.reading import content_hash
from rag_app.cached.encrypted import may_be_encrypted, needs_password
from rag_app.cached.folders import IndexCache
from rag_app.cached.indexes import Notices, PdfIndexes, UnreadPdf
from rag_app.facade.arguments import check, check_each, check_keywords
from rag_app.facade.querying import OPTION_NAMES
from rag_app.settings import Settings, load_settings

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.callbacks.base import CallbackManager
    from llama_index.core.llms.llm import LLM
    from llama_index.core.schema import QueryBundle

    from rag_app.answer.prompts import PromptsSource
    from rag_app.answer.response import Answer
    from rag_app.facade.querying import RetrieverOptions
    from rag_app.index import Index
    from rag_app.ingest import Progress
    from rag_app.retrieval.strategy import Strategy

MAX_FOLDER_PDFS = 100
"""More are an index of their own: they take minutes to read, and are asked again."""

Pdf = str | Path
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
    question: str | QueryBundle,
    *pdfs: Pdf | Sequence[Pdf],
    strategy: str | Strategy | None = None,
    llm: LLM | None = None,
    embed_model: BaseEmbedding | None = None,
    settings: Settings | None = None,
    password: str | None = None,
    cache: bool | str | Path = True,
    progress: Progress | None = None,
    prompts: PromptsSource | None = None,
    callback_manager: CallbackManager | None = None,
    **options: Unpack[RetrieverOptions],
) -> Answer:
    """Answer a question by PDFs; what is read of them is cached for the next question.

    Files are known by their content: they may be renamed and moved. What only a
    password opens is read for this question alone. For several questions at once, or
    answers that stream, see :func:`rag_app.cached.pdfs.open_pdfs`.

    >>> answer = ask("What is the lead time of the valve?", "report.pdf", similarity_top_k=3)
    >>> answer.citations[0].file, answer.citations[0].page
    ('report.pdf', 2)

    Args:
        question: what you want to know.
        *pdfs: files, and folders, which stand for the PDFs below them. Of several, those
            that cannot be read are left out, with a warning in the log.
        strategy: a name, a preset of the config file, or a ``Strategy``; None: the setting.
        llm: writes the answer; None: the one of the settings; none there: extractive.
        embed_model: any LlamaIndex embedding model; None: the one of the settings.
        settings: None: those of the environment and the config file.
        password: tried on encrypted files, before the one of the settings; kept nowhere.
        cache: True: the folder of the settings (``cache_dir``); a path: that folder in its
            place; False: what is read is gone with the answer.
        progress: told (file, stage, done, total) of every step of reading.
        prompts: in place of those of the settings, as in ``Index.as_query_engine``.
        callback_manager: LlamaIndex's.
        **options: how passages are searched, see :class:`rag_app.RetrieverOptions`.

    Raises:
        ConfigError: an argument is wrong, or no file is given.
        ReadError, OSError: the only file cannot be read, or none of several.
    """
    return _ask(
        "ask",
        question,
        pdfs,
        strategy=strategy,
        llm=llm,
        embed_model=embed_model,
        settings=settings,
        password=password,
        cache=cache,
        progress=progress,
        prompts=prompts,
        callback_manager=callback_manager,
        **options,
    )


async def aask(question: str | QueryBundle, *pdfs: Pdf | Sequence[Pdf], **arguments: Any) -> Answer:
    """Do the same as :func:`ask` in a thread, while the event loop goes on.

    Who cancels it no longer waits; what is being read is read to its end, and cached.

    >>> import asyncio
    >>> answer = asyncio.run(aask("What is the lead time of the valve?", "report.pdf"))
    >>> answer.citations[0].file, answer.citations[0].page
    ('report.pdf', 2)

    Args:
        question: what you want to know.
        *pdfs: files and folders.
        **arguments: those of :func:`ask`.

    Raises:
        ConfigError: an argument is wrong, or no file is given.
        ReadError, OSError: the only file cannot be read, or none of several.
    """
    return await asyncio.to_thread(_ask, "aask", question, pdfs, **arguments)


def _ask(
    called: str,
    question: str | QueryBundle,
    pdfs: Sequence[Pdf | Sequence[Pdf]],
    *,
    strategy: str | Strategy | None = None,
    llm: LLM | None = None,
    prompts: PromptsSource | None = None,
    callback_manager: CallbackManager | None = None,
    embed_model: BaseEmbedding | None = None,
    settings: Settings | None = None,
    password: str | None = None,
    cache: bool | str | Path = True,
    progress: Progress | None = None,
    **options: Unpack[RetrieverOptions],
) -> Answer:
    """Answer a question; errors name the function that was called."""
    check_keywords(called, options, OPTION_NAMES)
    check(
        called,
        question=question,
        strategy=strategy,
        llm=llm,
        prompts=prompts,
        callback_manager=callback_manager,
        embed_model=embed_model,
        settings=settings,
        password=password,
        cache=cache,
        progress=progress,
    )
    files = _files(called, pdfs)
    opened = open_pdfs(
        files,
        settings,
        strategy=strategy,
        llm=llm,
        embed_model=embed_model,
        password=password,
        cache=cache,
        progress=progress,
    )
    with opened as found:
        engine = found.index.as_query_engine(
            strategy, llm=llm, prompts=prompts, callback_manager=callback_manager, **options
        )
        return cast("Answer", engine.query(question))


def _files(called: str, pdfs: Sequence[Pdf | Sequence[Pdf]]) -> list[Path]:
    """Return the files that are given, one by one, in lists or as folders.

    Raises:
        ConfigError: none, no path, or a folder with no PDF or too many.
    """
    flat: list[Any] = []
    for one in pdfs:
        flat.extend(one if isinstance(one, (list, tuple)) else [one])
    check_each(called, "pdfs", flat, (str, os.PathLike), "the path of a PDF")
    names = list(map(os.fsdecode, flat))
    for name in names:
        if not name or "\0" in name:
            raise ConfigError(f"{called}(): {name!r} is no path", hint="give the path of a PDF")
    if not names:
        raise ConfigError(f"{called}(): no PDF is given", hint=f'write {called}("…", "report.pdf")')
    return [file for name in names for file in _in(Path(name))]


def _in(path: Path) -> list[Path]:
    """Return a file, or the PDFs below a folder.

    Raises:
        ConfigError: there is none in it, or more than :data:`MAX_FOLDER_PDFS`.
    """
    try:
        is_folder = path.is_dir()
    except OSError:  # such as a name that is too long: said when it is read
        is_folder = False
    if not is_folder:
        return [path]
    from rag_app.ingest.inputs import pdfs_below

    found, _ = pdfs_below(path)
    if not found:
        raise ConfigError(f"there is no PDF in the folder {printable(path)}", hint="give files")
    if len(found) > MAX_FOLDER_PDFS:
        raise ConfigError(
            f"there are {len(found)} PDFs in {printable(path)}, more than {MAX_FOLDER_PDFS}",
            hint="make an index of them, which is asked more quickly: Index.create(…).ingest(…)",
        )
    return found


@contextmanager
def open_pdfs(
    pdfs: Sequence[Path],
    settings: Settings | None = None,
    *,
    strategy: str | Strategy | None = None,
    llm: LLM | None = None,
    embed_model: BaseEmbedding | None = None,
    password: str | None = None,
    cache: bool | str | Path = True,
    progress: Progress | None = None,
    notices: Notices = Notices(),  # noqa: B008 (frozen)
    ask_password: AskPassword | None = None,
) -> Iterator[OpenPdfs]:
    """Open the cached index of these PDFs, made now where there is none.

    Args:
        pdfs: the files, one or more.
        settings: None: those of the environment and the config file.
        strategy: what the index must be able to search by; None: the setting.
        llm: writes what ``multi_vector`` searches; None: the one of the settings.
        embed_model: any LlamaIndex embedding model; None: the one of the settings.
        password: tried on encrypted files, before the one of the settings.
        cache: as in :func:`ask`.
        progress: told (file, stage, done, total) of every step of reading.
        notices: who is told what takes time, what is not cached, and which files are left out.
        ask_password: asked for the password of encrypted files, until it opens them.

    Raises:
        ReadError, OSError: the only file cannot be read, or none of several.
        IndexReadOnlyError: ``cache`` is a path, and no index can be cached there.
    """
    settings = settings or load_settings()
    with ExitStack() as stack:
        place = _place(settings, cache)
        password, locked = _unlocked(pdfs, settings, password, place, ask_password)
        folders = stack.enter_context(_folders(settings, place, notices, cache, locked=locked))
        indexes = PdfIndexes(
            folders,
            settings,
            stack,
            strategy=strategy,
            llm=llm,
            embed_model=embed_model,
            password=password,
            progress=progress,
            notices=notices,
        )
        index = indexes.open(pdfs)
        folders.trim()
        yield OpenPdfs(index, tuple(indexes.unread))


def _unlocked(
    paths: Sequence[Path],
    settings: Settings,
    password: str | None,
    cache: IndexCache,
    ask_password: AskPassword | None,
) -> tuple[str | None, bool]:
    """Return the password to try first, and whether one was needed.

    Without a password they fail as others do.
    """
    marked = [path for path in paths if may_be_encrypted(path) and not _is_cached(path, cache)]
    locked = [path for path in marked if needs_password(path)]
    own = settings.pdf_password
    known = [own.get_secret_value()] if own is not None else []
    given = [*([password] if password is not None else []), *known]
    tried = 0
    while locked and ask_password is not None:
        if given and not all(needs_password(path, given) for path in locked):
            break
        typed = ask_password(locked, tried)
        if typed is None:
            break
        password, given, tried = typed, [typed, *known], tried + 1
    return password, bool(locked and given)


def _is_cached(path: Path, cache: IndexCache) -> bool:
    """Tell whether a file was read before, and so without a password."""
    try:
        content = content_hash(path)
    except (OSError, ReadError):
        return False
    return any(cache.root.glob(f"{content[:40]}-*/"))


def _place(settings: Settings, cache: bool | str | Path) -> IndexCache:
    """Return the cache that was named, whether it is used or not."""
    own = None if isinstance(cache, bool) else Path(cache)
    return IndexCache.of(settings, own)


@contextmanager
def _folders(
    settings: Settings,
    place: IndexCache,
    notices: Notices,
    cache: bool | str | Path,
    *,
    locked: bool,
) -> Iterator[IndexCache]:
    """Yield the cache, or a temporary one where nothing may or can be cached."""
    if locked:
        notices.on_note("what is read is not cached: a password protects it (rag ingest stores it)")
    elif cache is not False and _prepared(place, notices, required=not isinstance(cache, bool)):
        yield place
        return
    with tempfile.TemporaryDirectory() as folder:
        yield IndexCache(Path(folder), limit_mb=settings.cache_limit_mb)


def _prepared(cache: IndexCache, notices: Notices, *, required: bool) -> bool:
    """Make the cache ready; tell whether indexes can be cached there.

    Raises:
        IndexReadOnlyError: they cannot, and it is ``required``.
    """
    from rag_app.store import refuse_network_drive

    try:
        cache.prepare()
        refuse_network_drive(cache.root)
    except (OSError, IndexReadOnlyError) as error:
        if required:
            raise IndexReadOnlyError(
                f"nothing can be cached in {printable(cache.root.parent)}: {_reason(error)}",
                hint="give another folder, or cache=False",
            ) from error
        notices.on_uncached(f"what is read is not cached: {_reason(error)}")
        return False
    return True


def _reason(error: OSError | IndexReadOnlyError) -> str:
    if isinstance(error, IndexReadOnlyError):
        return error.message
    where = f"{printable(str(error.filename))}: " if error.filename else ""
    return f"{where}{error.strerror}" if error.strerror else f"{type(error).__name__}: {error}"
