"""Index: a thin façade that puts store, models, retrieval and answers together."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms.llm import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, Document
from llama_index.core.vector_stores.types import MetadataFilters

from pipelines.analysers import fingerprints
from pipelines.errors import ConfigError, IndexExistsError, ModelNotFoundError
from pipelines.file_names import printable
from rag_app.answer.engine import CitedQueryEngine
from rag_app.answer.limits import TokenLimits
from rag_app.answer.prompts import PromptsSource, load_prompts, prompts_of
from rag_app.arguments import check, check_each, check_keywords
from rag_app.compatibility import (
    check_compatible,
    explicit_child_sizes,
    explicit_setting,
    new_config,
    reading_options,
    recorded_settings,
)
from rag_app.models.embedding.engine_loading import LoadedEngine
from rag_app.models.embedding.known import find_by_name
from rag_app.models.embedding.load import EmbeddingIdentity, describe_embedding, load_embedding
from rag_app.retrieval.explain import Explanation
from rag_app.retrieval.queries import QueryGenerator
from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.retrieval.strategy import Strategy, get_strategy
from rag_app.session import QuerySession
from rag_app.settings import Settings, load_settings
from rag_app.store import (
    check_new,
    create_store,
    folder_bytes,
    is_index,
    open_store,
)
from rag_app.store.protocol import Finding, IndexConfig, SourceInfo, Store

if TYPE_CHECKING:  # a question to an index that is there needs nothing of what makes one
    from rag_app.ingest import (
        IngestReport,
        OnFile,
        PieceWriter,
        Progress,
        RemoveReport,
        RepairReport,
    )

Input = str | Path | Document | BaseNode
# What as_query_engine and explain hand on, beside strategy, llm and callback_manager.
RETRIEVER_ARGUMENTS = (
    *("similarity_top_k", "depth", "filters", "prefer_documents", "queries", "strict", "origin"),
    *("prefer_tables", "glossary", "node_postprocessors"),
)

BYTES_PER_MB = 1_000_000


@dataclass(frozen=True, repr=False)
class IndexInfo:
    """What an index holds.

    >>> with Index.create("reports.idx", exist_ok=True) as index:
    ...     report = index.ingest("report.pdf")
    ...     info = index.info(verify=True)
    >>> [(source.pages, dict(source.nodes)) for source in info.sources], info.findings
    ([(2, {'child-128': 1, 'child-256': 1, 'parent': 1})], ())

    Attributes:
        path: its folder.
        generation: number of its last commit.
        config: what decides its content.
        sources: its contents, by first name.
        scripts: passages by script.
        silent_scripts: scripts of passages that the embedding model does not know:
            they are searched by words alone.
        bytes: size of the folder with all that is in it.
        findings: what ``verify`` found wrong; None: not asked for.
    """

    path: Path
    generation: int
    config: IndexConfig
    sources: tuple[SourceInfo, ...]
    scripts: dict[str, int]
    silent_scripts: tuple[str, ...]
    bytes: int
    findings: tuple[Finding, ...] | None = None

    def __str__(self) -> str:
        model = self.config.embed_model or "none (words only)"
        files = (
            f"  {', '.join(source.names)}: {source.pages} pages, {sum(source.nodes.values())} nodes"
            for source in self.sources
        )
        found = (f"  {finding.check}: {finding.message}" for finding in self.findings or ())
        head = f"{self.path}: {self._size()}, embedding model {model}"
        return "\n".join([head, *files, *(["damaged:"] if self.findings else []), *found])

    def __repr__(self) -> str:
        return f"<IndexInfo {str(self.path)!r}: {self._size()}>"

    def _size(self) -> str:
        pages = sum(source.pages for source in self.sources)
        size = self.bytes / BYTES_PER_MB
        return f"{len(self.sources)} files, {pages} pages, {size:.1f} MB"


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

    def __init__(
        self,
        store: Store,
        settings: Settings,
        embed_model: BaseEmbedding | None = None,
        loading: Future[LoadedEngine] | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._model = embed_model
        self._begun = loading
        self._loading = threading.Lock()

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
        from rag_app.ingest import kinds_of

        if not exist_ok or not is_index(Path(path)):
            check_new(Path(path))  # before a model is loaded in vain
        settings = settings or load_settings()
        vectors, words = kinds_of(pipelines, child_sizes=explicit_child_sizes(settings))
        model = embed_model if embed_model is not None or not vectors else load_embedding(settings)
        config = new_config(settings, describe_embedding(model) if vectors and model else None)
        kinds = tuple(dict.fromkeys((*words, *vectors)))
        config = replace(config, analysers=fingerprints(words))
        try:
            store = create_store(
                Path(path), replace(config, kinds=kinds, vector_kinds=vectors, word_kinds=words)
            )
        except IndexExistsError:
            if not exist_ok:
                raise
            return cls.open(path, embed_model=embed_model, settings=settings)
        return cls(store, settings, model)

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
        settings = settings or load_settings()
        store = open_store(path)
        try:
            model = _checked_model(store, settings, embed_model, loading)
        except BaseException:
            store.close()
            raise
        return cls(store, settings, model, loading)

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
        from rag_app.store.sqlite.merge import merge

        stores: dict[Path, Store | Path] = {}
        for source in sources:
            if isinstance(source, Index):
                stores[source.path.resolve()] = source.store
            else:
                stores.setdefault(Path(source).resolve(), Path(source))
        unique = len({path.name for path in stores}) == len(stores)
        called = {printable(path.name if unique else path): store for path, store in stores.items()}
        merge(called, Path(into), names=names)
        return cls.open(into, embed_model=embed_model, settings=settings)

    @property
    def path(self) -> Path:
        """The folder."""
        return self._store.path

    @property
    def name(self) -> str:
        """The folder's name: what hits call ``origin`` when several indexes are asked."""
        return printable(self._store.path.resolve().name)

    @property
    def settings(self) -> Settings:
        """The settings that it was opened with."""
        return self._settings

    @property
    def store(self) -> Store:
        """The store, for whoever composes a retriever of their own."""
        return self._store

    @property
    def embed_model(self) -> BaseEmbedding | None:
        """The embedding model, loaded when first needed; None for an index without vectors.

        Raises:
            IndexMismatchError: the weights on this machine are not those of the index.
        """
        config = self._store.config
        if not config.embed_model:
            return None
        with self._loading:
            if self._model is None:
                model = self._load()
                check_compatible(self._store, self._settings, model)
                self._model = model
        return self._model

    def _load(self) -> BaseEmbedding:
        config = self._store.config
        try:
            return load_embedding(recorded_settings(config, self._settings), self._begun)
        except ModelNotFoundError as error:
            name = config.embed_model
            if "embed_model" in self._settings.model_fields_set or find_by_name(name) is not None:
                raise
            raise ModelNotFoundError(
                f"the index was made with the embedding model {name!r}, which no folder of models "
                "here holds",
                hint=f"if it is a model of your own, pass it: Index.open({str(self.path)!r}, "
                "embed_model=…)" + (f"; else {error.hint}" if "/" in name else ""),
            ) from error

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
        from rag_app.ingest import ingest

        flat = [
            item for one in inputs for item in (one if isinstance(one, (list, tuple)) else [one])
        ]
        return ingest(
            self._store,
            flat,
            embed_model=self.embed_model,
            pipelines=pipelines,
            prune=prune,
            piece_writer=self._piece_writer(pipelines, llm),
            progress=progress,
            on_file=on_file,
            workers=workers,
            reader=explicit_setting(self._settings, "reader"),
            child_sizes=explicit_child_sizes(self._settings),
            reading=reading_options(self._settings, password),
            timeout=timeout,
        )

    def remove(self, *names: str | Path) -> RemoveReport:
        """Take names of files away; content that has none left goes, with all made of it."""
        check_each("Index.remove", "names", names, (str, os.PathLike), "a path, a name or an id")
        from rag_app.ingest import remove

        return remove(self._store, names)

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

        return repair(self._store, embed_model=lambda: self.embed_model, progress=progress)

    def session(self) -> QuerySession:
        """Open the newest generation, for whatever reads it more than once: close it."""
        return QuerySession({"": self._store})

    def as_retriever(
        self,
        strategy: str | Strategy | None = None,
        *,
        similarity_top_k: int | None = None,
        depth: int | None = None,
        filters: MetadataFilters | None = None,
        prefer_documents: bool | None = None,
        prefer_tables: bool | None = None,
        glossary: Sequence[str] | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] | None = None,
        queries: int = 1,
        llm: LLM | None = None,
        strict: bool = False,
        origin: str = "",
        session: QuerySession | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> StrategyRetriever:
        """Return a LlamaIndex retriever over this index.

        Args:
            strategy: a name, a preset of the config file, or a ``Strategy``; None: the setting.
            similarity_top_k: how many distinct passages; None: the setting.
            depth: how many passages each arm ranks; None: as the strategy says.
            filters: which passages are searched.
            prefer_documents: prefer documents that the question names; None: the setting.
            prefer_tables: prefer passages with tables where the question asks for a quantity;
                None: the setting.
            glossary: names of glossaries, or files (``"./mine.json"``), with what documents
                print for words of the question; ``["none"]``: none; None: the setting.
            node_postprocessors: LlamaIndex postprocessors (rerankers, filters) that choose the k
                best of the first passages (30; ``Strategy.rerank_depth``); None: the one that
                the settings or the strategy name; empty: none.
            queries: how many queries in all are searched; above 1 the LLM writes the others.
            llm: writes them; None: the one of the settings.
            strict: raise when an arm fails, instead of answering by the rest.
            origin: what the results call this index, where several are asked.
            session: of this index: the filters are checked in it.
            callback_manager: LlamaIndex's.

        Raises:
            ConfigError: an unknown strategy, or queries without a language model.
            MissingNodesError: the strategy searches what was not built.
        """
        return self.retriever_for(
            "Index.as_retriever",
            strategy=strategy,
            similarity_top_k=similarity_top_k,
            depth=depth,
            filters=filters,
            prefer_documents=prefer_documents,
            prefer_tables=prefer_tables,
            glossary=glossary,
            node_postprocessors=node_postprocessors,
            queries=queries,
            llm=llm,
            strict=strict,
            origin=origin,
            session=session,
            callback_manager=callback_manager,
        )

    def retriever_for(
        self,
        caller: str,
        *,
        strategy: str | Strategy | None = None,
        similarity_top_k: int | None = None,
        depth: int | None = None,
        filters: MetadataFilters | None = None,
        prefer_documents: bool | None = None,
        prefer_tables: bool | None = None,
        glossary: Sequence[str] | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] | None = None,
        queries: int = 1,
        llm: LLM | None = None,
        strict: bool = False,
        origin: str = "",
        session: QuerySession | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> StrategyRetriever:
        """Do the same as :meth:`as_retriever`; errors name ``caller``, the function called."""
        check(
            caller,
            strategy=strategy,
            similarity_top_k=similarity_top_k,
            depth=depth,
            filters=filters,
            prefer_documents=prefer_documents,
            prefer_tables=prefer_tables,
            glossary=glossary,
            node_postprocessors=node_postprocessors,
            queries=queries,
            llm=llm,
            strict=strict,
            origin=origin,
            session=session,
            callback_manager=callback_manager,
        )
        chosen = self._strategy(strategy)
        prefer = self._settings.prefer_documents if prefer_documents is None else prefer_documents
        tables = self._settings.prefer_tables if prefer_tables is None else prefer_tables
        return StrategyRetriever(
            self._store,
            chosen,
            embed_model=self.embed_model if chosen.needs_vectors else None,
            similarity_top_k=(
                self._settings.similarity_top_k if similarity_top_k is None else similarity_top_k
            ),
            depth=depth,
            filters=filters,
            query_generator=self._query_generator(queries, llm),
            # What the strategy itself leaves out stays out.
            prefer_documents=None if prefer else False,
            prefer_tables=None if tables else False,
            glossary=self._settings.glossary if glossary is None else glossary,
            node_postprocessors=node_postprocessors,
            strict=strict,
            origin=origin,
            session=session,
            callback_manager=callback_manager,
        )

    def _strategy(self, strategy: str | Strategy | None) -> Strategy:
        chosen = get_strategy(strategy or self._settings.strategy, self._settings.presets)
        named = self._settings.rerank
        return chosen if named is None else replace(chosen, rerank=named)

    def as_query_engine(
        self,
        strategy: str | Strategy | None = None,
        *,
        llm: LLM | None = None,
        streaming: bool = False,
        prompts: PromptsSource | None = None,
        callback_manager: CallbackManager | None = None,
        **retriever: Any,
    ) -> CitedQueryEngine:
        """Return a LlamaIndex query engine whose answers cite file, page and words.

        Args:
            strategy: as in :meth:`as_retriever`.
            llm: writes the answer; None: the one of the settings; none there: extractive.
            streaming: return responses that stream.
            prompts: in place of those of the settings: ``Prompts``, a file, or a mapping of
                the same form, which may leave parts out
                (``{"answer": {"system": "…"}}``).
            callback_manager: LlamaIndex's.
            **retriever: the other arguments of :meth:`as_retriever`.
        """
        called = "Index.as_query_engine"
        check(called, llm=llm, streaming=streaming, prompts=prompts)
        check_keywords(called, retriever, RETRIEVER_ARGUMENTS)
        llm = llm or configured_llm(self._settings, callback_manager)
        found = self.retriever_for(
            called, strategy=strategy, llm=llm, callback_manager=callback_manager, **retriever
        )
        return make_engine(found, self, llm, streaming, callback_manager, prompts)

    def explain(self, question: str, *, top: int = 10, **retriever: Any) -> Explanation:
        """Return why a question finds what it finds (arguments of :meth:`as_retriever`)."""
        check("Index.explain", question=question, top=top)
        further = ("strategy", "llm", "callback_manager")
        check_keywords("Index.explain", retriever, (*RETRIEVER_ARGUMENTS, *further))
        with self.session() as session:
            found = self.retriever_for("Index.explain", session=session, **retriever)
            return found.explain_in(session, question, top=top)

    def info(self, *, verify: bool = False) -> IndexInfo:
        """Return what the index holds; ``verify`` checks every link of it as well."""
        check("Index.info", verify=verify)
        with self._store.snapshot() as snapshot:
            config, scripts = snapshot.config, dict(snapshot.scripts())
            sources, generation = tuple(snapshot.sources()), snapshot.generation
        known = EmbeddingIdentity("", "", 0, scripts=config.scripts)
        silent = sorted(s for s in scripts if config.vector_kinds and not known.knows(s))
        return IndexInfo(
            path=self._store.path,
            generation=generation,
            config=config,
            sources=sources,
            scripts=scripts,
            silent_scripts=tuple(silent),
            bytes=folder_bytes(self._store.path),
            findings=tuple(self._store.verify()) if verify else None,
        )

    def close(self) -> None:
        """Close the connections to the index."""
        self._store.close()

    def __repr__(self) -> str:
        return f"<Index {str(self.path)!r}, embedding model {self._store.config.embed_model!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _piece_writer(self, pipelines: Sequence[str], llm: LLM | None) -> PieceWriter | None:
        if "multi_vector" not in pipelines and "piece" not in self._store.config.kinds:
            return None
        model = llm or configured_llm(self._settings)
        if model is None:
            return None
        from rag_app.answer.written.pieces import PieceWriter as ByModel

        return ByModel(model, prompts=load_prompts(self._settings.prompts))

    def _query_generator(self, queries: int, llm: LLM | None) -> QueryGenerator | None:
        if queries == 1:
            return None
        model = llm or configured_llm(self._settings)
        if model is None:
            raise ConfigError(
                "further queries are written by a language model, and none is named",
                hint="name one with --llm or the setting llm",
            )
        from rag_app.answer.written.queries import generate_queries

        prompts = load_prompts(self._settings.prompts)
        return lambda question: generate_queries(model, question, queries - 1, prompts=prompts)


def configured_llm(
    settings: Settings, callback_manager: CallbackManager | None = None
) -> LLM | None:
    """Return the language model that the settings name, which reports its calls; or None."""
    if settings.llm is None:
        return None
    # Its client alone is a third of what a question without a model imports.
    from rag_app.models.llm.client import load_llm

    llm = load_llm(settings)
    if llm is not None and callback_manager is not None:
        llm.callback_manager = callback_manager
    return llm


def make_engine(
    retriever: StrategyRetriever,
    index: Index,
    llm: LLM | None,
    streaming: bool,
    callback_manager: CallbackManager | None,
    prompts: PromptsSource | None = None,
) -> CitedQueryEngine:
    """Return the query engine of an index's settings over a retriever."""
    settings = index.settings
    return CitedQueryEngine(
        retriever,
        llm=llm,
        embed_model=index.embed_model if retriever.strategy.needs_vectors else None,
        streaming=streaming,
        prompts=prompts_of(prompts, below=load_prompts(settings.prompts)),
        limits=TokenLimits(answer_tokens=settings.llm_max_tokens),
        callback_manager=callback_manager,
    )


def _checked_model(
    store: Store,
    settings: Settings,
    embed_model: BaseEmbedding | None,
    loading: Future[LoadedEngine] | None,
) -> BaseEmbedding | None:
    """Return the model that is named (loaded), or None where the index decides."""
    model = embed_model
    if model is None and store.config.embed_model and "embed_model" in settings.model_fields_set:
        model = load_embedding(settings, loading)
    check_compatible(store, settings, model)
    return model
