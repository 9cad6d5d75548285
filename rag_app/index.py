"""Index: a thin façade over store, models, retrieval and answers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms.llm import LLM

from pipelines.errors import IndexExistsError
from pipelines.file_names import printable
from rag_app.answer.engine import CitedQueryEngine
from rag_app.answer.prompts import PromptsSource
from rag_app.facade.arguments import check, check_each
from rag_app.facade.opening import OpenedIndex, create_index, merge_stores, open_index
from rag_app.facade.querying import RetrieverOptions, configured_llm, make_engine, make_retriever
from rag_app.models.embedding.engine_loading import LoadedEngine
from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.retrieval.strategy import Strategy
from rag_app.session import QuerySession
from rag_app.settings import Settings, load_settings
from rag_app.store import check_new, is_index, local_folder
from rag_app.store.protocol import Store

if TYPE_CHECKING:  # a question to an index that is there needs nothing of what makes one
    from rag_app.facade.info import IndexInfo
    from rag_app.facade.ingesting import Input
    from rag_app.ingest import IngestReport, OnFile, Progress, RemoveReport, RepairReport
    from rag_app.retrieval.explain import Explanation


class Index:
    """An index in a folder: ingest, remove, merge, retrieve, answer.

    Safe for several threads, and for other processes that read or write the same
    folder. Close it, or use it in a ``with`` statement.

    >>> with Index.create("reports.idx", exist_ok=True) as index:
    ...     report = index.ingest("report.pdf")
    ...     found = index.as_retriever("bm25", similarity_top_k=1).retrieve("lead time")
    >>> [(hit.node.metadata["file_name"], hit.node.metadata["page"]) for hit in found]
    [('report.pdf', 2)]
    """

    def __init__(self, opened: OpenedIndex) -> None:
        self._opened = opened

    @property
    def opened(self) -> OpenedIndex:
        """Its store, settings and embedding model together."""
        return self._opened

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        embed_model: BaseEmbedding | None = None,
        pipelines: Sequence[str] = ("hybrid",),
        settings: Settings | None = None,
        exist_ok: bool = False,
    ) -> Self:
        """Make an empty index in a folder.

        Args:
            path: the folder; made with its parents.
            embed_model: any LlamaIndex embedding model; None: the one of the settings.
            pipelines: what is built of every file (names of ``rag ingest --pipeline``).
            settings: None: those of the environment and the config file.
            exist_ok: open the index that is there instead of raising.

        Raises:
            IndexExistsError: there is one, and ``exist_ok`` is not set.
            FolderNotEmptyError: the folder holds other things; names them.
            IndexUnsafeError: a link stands where a file of the index would be.
            IndexReadOnlyError: the folder cannot be written.
            ConfigError: a pipeline is unknown, or needs an extra that is not installed.
            ModelNotFoundError: the embedding model is not on this machine.
        """
        check(
            "Index.create",
            path=path,
            embed_model=embed_model,
            settings=settings,
            pipelines=pipelines,
            exist_ok=exist_ok,
        )
        if not exist_ok or not is_index(path):
            check_new(path)  # before a model is loaded in vain
        settings = settings or load_settings()
        try:
            return cls(create_index(path, settings, pipelines, embed_model))
        except IndexExistsError:
            if not exist_ok:
                raise
            return cls.open(path, embed_model=embed_model, settings=settings)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        embed_model: BaseEmbedding | None = None,
        settings: Settings | None = None,
        loading: Future[LoadedEngine] | None = None,
    ) -> Self:
        """Open an index; a model or chunk size that is named must be the one it was made with.

        Where nothing is named, what the index records is used. ``loading`` is what
        :func:`rag_app.models.embedding.engine_loading.begin_loading` returned for that.

        Raises:
            IndexNotFoundError, IndexDamagedError, IndexNewerError: as they say.
            IndexMismatchError: it was made with another model or other settings;
                the error names both sides.
        """
        check("Index.open", path=path, embed_model=embed_model, settings=settings)
        return cls(open_index(path, settings or load_settings(), embed_model, loading))

    @classmethod
    def merge(
        cls,
        sources: Sequence[str | Path | Index],
        *,
        into: str | Path,
        names: Mapping[str, Sequence[str]] | None = None,
        embed_model: BaseEmbedding | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Write the contents of several indexes into one; nothing is embedded again.

        The sources stay as they are. The same content is held once, with all its names;
        hits say in ``origin`` which index they came from: its folder's name, or its path
        where two folders have the same name.

        Args:
            sources: indexes, open or by path.
            into: folder of the new index.
            names: what contents (by hash) are called in the new index; others are left
                out, and hits have no origin. None: all, as the sources call them.
            embed_model: as in :meth:`open`, for the new index.
            settings: None: those of the environment and the config file.

        Raises:
            IndexMismatchError: the indexes were made with different models or chunking.
            IndexExistsError: there is an index in ``into`` already.
            FolderNotEmptyError: ``into`` holds other things; names them.
        """
        check("Index.merge", into=into, names=names, embed_model=embed_model, settings=settings)
        kinds = (str, os.PathLike, Index)
        check_each("Index.merge", "sources", sources, kinds, "an Index or the path of one")
        given = [one.store if isinstance(one, Index) else local_folder(one) for one in sources]
        merge_stores(given, local_folder(into), names)
        return cls.open(into, embed_model=embed_model, settings=settings)

    @property
    def path(self) -> Path:
        """The folder."""
        return self.store.path

    @property
    def name(self) -> str:
        """The folder's name: what hits call ``origin`` when several indexes are asked."""
        return printable(self.path.resolve().name)

    @property
    def settings(self) -> Settings:
        """The settings that it was opened with."""
        return self._opened.settings

    @property
    def store(self) -> Store:
        """The store, to build your own retriever on."""
        return self._opened.store

    @property
    def embed_model(self) -> BaseEmbedding | None:
        """The embedding model, loaded when first needed; None for an index without vectors.

        Raises:
            IndexMismatchError: the weights on this machine are not those of the index.
        """
        return self._opened.embed_model

    def ingest(
        self,
        *inputs: Input | Sequence[Input],
        pipelines: Sequence[str] = (),
        llm: LLM | None = None,
        prune: bool = False,
        progress: Progress | None = None,
        on_file: OnFile | None = None,
        workers: int | None = None,
        password: str | None = None,
        timeout: float = 30.0,
    ) -> IngestReport:
        """Bring files, folders, Documents or ready passages into the index.

        What is unchanged costs a hash. One file is one transaction: what fails is
        named in the report and its old version stays. An interrupt leaves in what was
        finished, and the same call again goes on. See :func:`rag_app.ingest.ingest`.

        Args:
            *inputs: PDF paths, folders, LlamaIndex Documents, passages (``TextNode``)
                with pieces (``IndexNode``).
            pipelines: further pipelines to build, for what is here already as well.
            llm: where the index searches pieces (``multi_vector``), writes a summary and
                questions for every passage that has none; None: the one of the settings.
            prune: forget files below a given folder that are no longer there.
            progress: told (file, stage, done, total) of every step.
            on_file: told the report of each input once it is settled. What either of them
                raises ends the ingest like an interrupt, and comes out as it is.
            workers: processes that read files; None: by the number of files and cores.
            password: tried on encrypted PDFs, before the one of the settings; kept nowhere.
            timeout: seconds to wait for another process that writes.
        """
        check(
            "Index.ingest",
            pipelines=pipelines,
            llm=llm,
            prune=prune,
            progress=progress,
            on_file=on_file,
            workers=workers,
            password=password,
            timeout=timeout,
        )
        from rag_app.facade.ingesting import ingest_into

        return ingest_into(
            self._opened,
            inputs,
            pipelines=pipelines,
            llm=llm,
            prune=prune,
            progress=progress,
            on_file=on_file,
            workers=workers,
            password=password,
            timeout=timeout,
        )

    def remove(self, *names: str | Path) -> RemoveReport:
        """Take names of files away; content that has none left goes, with all made of it."""
        check_each("Index.remove", "names", names, (str, os.PathLike), "a path, a name or an id")
        from rag_app.ingest import remove

        return remove(self.store, names)

    def repair(self, *, progress: Progress | None = None) -> RepairReport:
        """Make a damaged index whole again, as far as it can be, and say what could not.

        Derived files are built anew; what is searched is made from the text that is whole;
        a file whose text is damaged is read again from the path it was ingested from, if
        its bytes are still there; what is left is taken out. Readers go on meanwhile.

        Args:
            progress: told what is read again.

        Raises:
            IndexDamagedError: nothing of it can be saved.
            IndexLockedError, IndexReadOnlyError: it cannot be written now, or not at all.
        """
        from rag_app.ingest import repair

        return repair(self.store, embed_model=lambda: self.embed_model, progress=progress)

    def session(self) -> QuerySession:
        """Open the newest generation for several reads; close it after use."""
        return QuerySession({"": self.store})

    def as_retriever(
        self,
        strategy: str | Strategy | None = None,
        *,
        llm: LLM | None = None,
        origin: str = "",
        session: QuerySession | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Unpack[RetrieverOptions],
    ) -> StrategyRetriever:
        """Return a LlamaIndex retriever over this index.

        Args:
            strategy: a name, a preset of the config file, or a ``Strategy``; None: the setting.
            llm: writes further queries; None: the one of the settings.
            origin: what the results call this index, where several are asked.
            session: of this index: the filters are checked in it.
            callback_manager: LlamaIndex's.
            **options: how passages are searched, see :class:`rag_app.RetrieverOptions`.

        Raises:
            ConfigError: an unknown strategy, or queries without a language model.
            MissingNodesError: the strategy searches what was not built.
        """
        return make_retriever(
            "Index.as_retriever",
            self._opened,
            strategy=strategy,
            llm=llm,
            origin=origin,
            session=session,
            callback_manager=callback_manager,
            **options,
        )

    def as_query_engine(
        self,
        strategy: str | Strategy | None = None,
        *,
        llm: LLM | None = None,
        streaming: bool = False,
        prompts: PromptsSource | None = None,
        origin: str = "",
        callback_manager: CallbackManager | None = None,
        **options: Unpack[RetrieverOptions],
    ) -> CitedQueryEngine:
        """Return a LlamaIndex query engine whose answers cite file, page and words.

        Args:
            strategy: as in :meth:`as_retriever`.
            llm: writes the answer; None: the one of the settings; none there: extractive.
            streaming: return responses that stream.
            prompts: in place of those of the settings: ``Prompts``, a file, or a mapping of
                the same form, which may leave parts out
                (``{"answer": {"system": "…"}}``).
            origin: as in :meth:`as_retriever`.
            callback_manager: LlamaIndex's.
            **options: how passages are searched, see :class:`rag_app.RetrieverOptions`.
        """
        called = "Index.as_query_engine"
        check(called, llm=llm, streaming=streaming, prompts=prompts)
        llm = llm or configured_llm(self.settings, callback_manager)
        retriever = make_retriever(
            called,
            self._opened,
            strategy=strategy,
            llm=llm,
            origin=origin,
            session=None,
            callback_manager=callback_manager,
            **options,
        )
        return make_engine(retriever, self._opened, llm, streaming, callback_manager, prompts)

    def explain(
        self,
        question: str,
        *,
        top: int = 10,
        strategy: str | Strategy | None = None,
        llm: LLM | None = None,
        origin: str = "",
        callback_manager: CallbackManager | None = None,
        **options: Unpack[RetrieverOptions],
    ) -> Explanation:
        """Return why a question finds what it finds; ``top`` rows of each list.

        The other arguments are those of :meth:`as_retriever`.
        """
        check("Index.explain", question=question, top=top)
        with self.session() as session:
            retriever = make_retriever(
                "Index.explain",
                self._opened,
                strategy=strategy,
                llm=llm,
                origin=origin,
                session=session,
                callback_manager=callback_manager,
                **options,
            )
            return retriever.explain_in(session, question, top=top)

    def info(self, *, verify: bool = False) -> IndexInfo:
        """Return what the index holds; ``verify`` checks every link of it as well."""
        check("Index.info", verify=verify)
        from rag_app.facade.info import info_of

        return info_of(self.store, verify=verify)

    def close(self) -> None:
        """Close the connections to the index."""
        self.store.close()

    def __repr__(self) -> str:
        return f"<Index {str(self.path)!r}, embedding model {self.store.config.embed_model!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
