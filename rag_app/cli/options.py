"""The options of all commands, each declared once: name, help text, group.

``None`` stands for "not given": then the config file, the environment or the
default decides (``rag_app.settings``).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_app import bounds
from rag_app.bounds import Bounds

DEFAULT_INDEX = Path(".rag")

_SEARCH, _MODEL, _INDEX, _OUTPUT, _BATCH = "Search", "Model", "Index", "Output", "Many questions"


def _option(group: str, *names: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(
        *names, help=help, metavar=metavar, rich_help_panel=group, show_default=False, **more
    )


def number_in(allowed: Bounds) -> Callable[[str], Any]:
    """Return the parser of an option that is a number."""

    def parse(text: str) -> int | float:
        try:
            return allowed.parsed(text)
        except ValueError as error:
            raise typer.BadParameter(f"{bounds.shown(text)}: {error}") from None

    return parse


def ocr_setting(wanted: bool | None) -> str | None:
    """Return the setting ``ocr`` that an option stands for; None: it was not given."""
    return None if wanted is None else "on" if wanted else "off"


def a_path(text: str) -> Path:
    """Return the path of an option; an empty one is a slip, and not the working folder."""
    if not text:
        raise typer.BadParameter("an empty name is not a path (give . for the working folder)")
    try:
        Path(text).resolve()
    except RuntimeError:  # what pathlib says of links that lead to each other
        raise typer.BadParameter(f"{bounds.shown(text)}: its links lead in a circle") from None
    return Path(text)


# Output: every command has these.
Json = Annotated[bool, _option(_OUTPUT, "--json", help="Write one JSON document on stdout.")]
Quiet = Annotated[bool, _option(_OUTPUT, "--quiet", "-q", help="No notes, no progress on stderr.")]
Verbose = Annotated[
    bool, _option(_OUTPUT, "--verbose", "-v", help="Logs, and the traceback of an error.")
]
Config = Annotated[
    Path | None,
    _option(
        _OUTPUT,
        "--config",
        metavar="FILE",
        parser=a_path,
        help="Settings file (TOML); else ./rag.toml (see rag trust) over the user's own.",
    ),
]

# Index
OneIndex = Annotated[
    Path,
    _option(
        _INDEX,
        "--index",
        "-i",
        metavar="DIR",
        parser=a_path,
        help="The index; ./.rag without this.",
    ),
]
ManyIndexes = Annotated[
    list[Path] | None,
    _option(
        _INDEX,
        "--index",
        "-i",
        metavar="DIR",
        parser=a_path,
        help="The index; ./.rag without this. Repeat it to search several together.",
    ),
]
EmbedModel = Annotated[
    str | None,
    _option(
        _MODEL,
        "--embed-model",
        metavar="MODEL",
        help="Embedding model: a short name, a name on the hub, a folder (./mine), or behind a "
        "server: openai:NAME, or like:NAME for a compatible one.",
    ),
]
EmbedBaseUrl = Annotated[
    str | None,
    _option(
        _MODEL,
        "--embed-base-url",
        metavar="URL",
        help="Address of the OpenAI-compatible server of embeddings (TEI, Ollama, vLLM …).",
    ),
]

Pdfs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PDF",
        help="Search these files, or the PDFs below a folder; what is read is cached.",
        show_default=False,
    ),
]
Password = Annotated[
    str | None,
    _option(
        _INDEX,
        "--password",
        metavar="TEXT",
        help="Password of encrypted PDFs. Whoever lists this machine's processes sees it: "
        "RAG_PDF_PASSWORD, or the question on a terminal, are not seen.",
    ),
]

Ocr = Annotated[
    bool | None,
    _option(
        _INDEX,
        "--ocr/--no-ocr",
        help="Whether pages that are pictures are read by text recognition (OCR); without this, "
        "where it is installed. 1 to 2 seconds a page.",
    ),
]

# Search
Strategy = Annotated[
    str | None,
    _option(
        _SEARCH,
        "--strategy",
        "-s",
        metavar="NAME",
        help="How to search: hybrid (the default), bm25, naive, child_parent, "
        "sentence_window, multi_vector, a further analyser of terms, or a preset of the settings "
        "file.",
    ),
]
TopK = Annotated[
    int | None,
    _option(
        _SEARCH,
        "--top-k",
        "-k",
        metavar="N",
        parser=number_in(bounds.PASSAGES),
        help=f"Passages to find, at most {bounds.PASSAGES.maximum}; 5 without this.",
    ),
]
Files = Annotated[
    list[str] | None,
    _option(
        _SEARCH,
        "--file",
        metavar="NAME",
        help="Only in this file (its name, or its path). Repeat it for several.",
    ),
]
Pages = Annotated[
    list[str] | None,
    _option(
        _SEARCH,
        "--page",
        metavar="N[-M]",
        help="Only on this page, or these pages, counted from 1. Repeat it for several.",
    ),
]
Where = Annotated[
    list[str] | None,
    _option(
        _SEARCH,
        "--where",
        metavar="KEY=VALUE",
        help="Only where the metadata says so; also != > >= < <= and ~ (contains). "
        "All that are given must hold.",
    ),
]
NoPreferDocuments = Annotated[
    bool,
    _option(
        _SEARCH,
        "--no-prefer-documents",
        help="Do not prefer the documents that the question names.",
    ),
]
NoPreferTables = Annotated[
    bool,
    _option(
        _SEARCH,
        "--no-prefer-tables",
        help="Do not prefer passages with tables where the question asks for a quantity.",
    ),
]
Glossary = Annotated[
    list[str] | None,
    _option(
        _SEARCH,
        "--glossary",
        metavar="FILE|NAME|none",
        help="What documents print for words of the question: a JSON file (./mine.json) or a "
        "name (accounting, which is the default, accounting-ja, contracts, manuals, "
        "personnel-ja); none switches it off. Repeat it for several.",
    ),
]
Rerank = Annotated[
    str | None,
    _option(
        _SEARCH,
        "--rerank",
        metavar="NAME",
        help="A reranker that chooses from the first passages: cross-encoder:NAME (on the hub, or "
        "./folder), cohere:NAME, jina:NAME, like:NAME or tei:NAME (a server), llm, or MODULE:NAME "
        "of a postprocessor of LlamaIndex; none switches off the preset's.",
    ),
]
RerankBaseUrl = Annotated[
    str | None,
    _option(
        _SEARCH,
        "--rerank-base-url",
        metavar="URL",
        help="Address of the server of the reranker (vLLM, LiteLLM, TEI …).",
    ),
]
Queries = Annotated[
    int | None,
    _option(
        _SEARCH,
        "--queries",
        metavar="N",
        parser=number_in(bounds.QUERIES),
        help="Search with N queries: the question and N-1 that the language model writes; "
        f"at most {bounds.QUERIES.maximum}.",
    ),
]

# Language model
Llm = Annotated[
    str | None,
    _option(
        _MODEL,
        "--llm",
        metavar="MODEL",
        help="Language model that writes the answer: openai:NAME, or like:NAME for a "
        "compatible server. Without one, sentences are quoted as they stand.",
    ),
]
BaseUrl = Annotated[
    str | None,
    _option(_MODEL, "--base-url", metavar="URL", help="Address of the OpenAI-compatible server."),
]
ReasoningEffort = Annotated[
    str | None,
    _option(
        _MODEL,
        "--reasoning-effort",
        metavar="EFFORT",
        help="How much a reasoning model thinks: none, minimal, low, medium, high or xhigh.",
    ),
]
Stream = Annotated[
    bool | None,
    _option(
        _OUTPUT,
        "--stream/--no-stream",
        help="Write the answer while the model writes it; on a terminal by default.",
    ),
]

# Many questions
Questions = Annotated[
    str | None,
    _option(
        _BATCH,
        "--questions",
        metavar="FILE",
        help='Questions, one on a line or as JSON Lines with "question" and "id"; '
        "- is stdin. Answers are written as JSON Lines in the same order.",
    ),
]
Out = Annotated[
    Path | None,
    _option(
        _BATCH,
        "--out",
        metavar="FILE",
        parser=a_path,
        help="Write the answers here; what is already answered there is not asked again.",
    ),
]
Workers = Annotated[
    int | None,
    _option(
        _BATCH,
        "--workers",
        metavar="N",
        parser=number_in(bounds.WORKERS),
        help=f"Questions answered at a time, at most {bounds.WORKERS.maximum}; 4 without this.",
    ),
]
