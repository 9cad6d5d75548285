"""Question answering over PDFs: passages, their pages, and answers one can check.

>>> from rag_app import Index
>>> with Index.create("reports.idx") as index:
...     report = index.ingest("report.pdf")
...     answer = index.as_query_engine().query("What is the lead time of the valve?")
>>> print(answer)
The valve AX-450 opens at a pressure of 4.2 bar.
Its lead time is twelve weeks from the date of the order. [1]
>>> answer.citations[0].file, answer.citations[0].page
('report.pdf', 2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.errors import (
        ConfigError,
        CrashError,
        DamagedError,
        EmbeddingError,
        EmbeddingRefusedError,
        EmptyFileError,
        EncryptedError,
        FilterError,
        FolderNotEmptyError,
        FusionError,
        IndexDamagedError,
        IndexEmptyError,
        IndexExistsError,
        IndexLockedError,
        IndexMismatchError,
        IndexNewerError,
        IndexNotFoundError,
        IndexReadOnlyError,
        IndexUnsafeError,
        LLMAuthError,
        LLMConnectionError,
        LLMError,
        LLMNotFoundError,
        LLMRateLimitError,
        LLMRequestError,
        LLMServerError,
        LLMStreamError,
        LLMTimeoutError,
        MissingNodesError,
        ModelNotFoundError,
        NoTextError,
        NotInstalledError,
        NotPdfError,
        RagError,
        ReadError,
        RerankError,
        RetrievalError,
        StoreError,
        TooLargeError,
        TooSlowError,
    )
    from rag_app.answer.response import (
        Answer,
        AnswerSentence,
        Citation,
        Quote,
    )
    from rag_app.cached.pdfs import (
        aask,
        ask,
    )
    from rag_app.evaluation import (
        evaluate,
    )
    from rag_app.facade.info import (
        IndexInfo,
    )
    from rag_app.facade.querying import (
        RetrieverOptions,
    )
    from rag_app.index import (
        Index,
    )
    from rag_app.ingest import (
        IngestReport,
    )
    from rag_app.joined import (
        JoinedIndex,
    )
    from rag_app.retrieval.strategy import (
        Arm,
        Strategy,
    )
    from rag_app.settings import (
        Settings,
        load_settings,
    )

__all__ = [
    "Answer",
    "AnswerSentence",
    "Arm",
    "Citation",
    "ConfigError",
    "CrashError",
    "DamagedError",
    "EmbeddingError",
    "EmbeddingRefusedError",
    "EmptyFileError",
    "EncryptedError",
    "FilterError",
    "FolderNotEmptyError",
    "FusionError",
    "Index",
    "IndexDamagedError",
    "IndexEmptyError",
    "IndexExistsError",
    "IndexInfo",
    "IndexLockedError",
    "IndexMismatchError",
    "IndexNewerError",
    "IndexNotFoundError",
    "IndexReadOnlyError",
    "IndexUnsafeError",
    "IngestReport",
    "JoinedIndex",
    "LLMAuthError",
    "LLMConnectionError",
    "LLMError",
    "LLMNotFoundError",
    "LLMRateLimitError",
    "LLMRequestError",
    "LLMServerError",
    "LLMStreamError",
    "LLMTimeoutError",
    "MissingNodesError",
    "ModelNotFoundError",
    "NoTextError",
    "NotInstalledError",
    "NotPdfError",
    "Quote",
    "RagError",
    "ReadError",
    "RerankError",
    "RetrievalError",
    "RetrieverOptions",
    "Settings",
    "StoreError",
    "Strategy",
    "TooLargeError",
    "TooSlowError",
    "aask",
    "ask",
    "evaluate",
    "load_settings",
]
__version__ = "0.1.0"

_ERRORS = "pipelines.errors"
_HOME = {
    "Answer": "rag_app.answer.response",
    "AnswerSentence": "rag_app.answer.response",
    "Arm": "rag_app.retrieval.strategy",
    "Citation": "rag_app.answer.response",
    "Index": "rag_app.index",
    "IndexInfo": "rag_app.facade.info",
    "IngestReport": "rag_app.ingest",
    "JoinedIndex": "rag_app.joined",
    "Quote": "rag_app.answer.response",
    "RetrieverOptions": "rag_app.facade.querying",
    "Settings": "rag_app.settings",
    "Strategy": "rag_app.retrieval.strategy",
    "aask": "rag_app.cached.pdfs",
    "ask": "rag_app.cached.pdfs",
    "evaluate": "rag_app.evaluation",
    "load_settings": "rag_app.settings",
}


def _check_pipelines() -> None:
    """Refuse a foreign package ``pipelines`` that would be imported in place of ours.

    Raises:
        ImportError: names the foreign package, and how to avoid it.
    """
    import sys
    from importlib.util import find_spec
    from pathlib import Path

    ours = Path(__file__).absolute().parent.parent / "pipelines"
    loaded = sys.modules.get("pipelines")
    spec = loaded.__spec__ if loaded is not None else find_spec("pipelines")
    found = Path(spec.origin) if spec is not None and spec.origin else None
    if found is None or not ours.is_dir() or found.parent.resolve() == ours.resolve():
        return
    stranger = found.parent if found.name.startswith("__init__.") else found
    raise ImportError(
        f"rag_app needs its own package 'pipelines' ({ours}), and {stranger} stands in the way: "
        "rename that one, or let Python search its folder later (python -P does not search "
        "the folder of the script)"
    )


_check_pipelines()


def __getattr__(name: str) -> object:
    # Lazily: importing LlamaIndex takes over a second, which `rag --help` must not pay for.
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(_HOME.get(name, _ERRORS)), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
