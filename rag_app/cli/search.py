"""``rag search`` and ``rag explain``: the passages found, and why they were found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_app import bounds
from rag_app.cli import options, show
from rag_app.cli.given import check_source, check_words, pdfs_of, text_of
from rag_app.cli.groups import OutputOptions, SearchOptions, with_groups
from rag_app.cli.help import examples
from rag_app.cli.session import Session, UsageError, session

if TYPE_CHECKING:
    from llama_index.core.schema import NodeWithScore

    from rag_app.retrieval.retriever import StrategyRetriever
    from rag_app.session import QuerySession

SEARCH_EXAMPLES = examples(
    'rag search "lead time"',
    'rag search "part 4711-B" --strategy bm25 -k 10 --file manual.pdf --page 3-7',
    'rag search "lead time" report.pdf',
    'rag search "lead time" --index A --index B --json',
)
EXPLAIN_EXAMPLES = examples(
    'rag explain "lead time"',
    'rag explain "lead time" --top 20 --json',
)
_MATCH = ("arm", "rank", "score", "text", "pages", "query")

Query = Annotated[
    str, typer.Argument(metavar="QUESTION", help="What you look for.", show_default=False)
]


@with_groups
def search(
    question: Query,
    pdfs: options.Pdfs = None,
    *,
    given: SearchOptions,
    password: options.Password = None,
    output: OutputOptions,
) -> None:
    """Find passages: where each stands, its score, and what matched."""
    asked = _asked("search", question, pdfs, given, password)
    with session(**asdict(output), **given.settings, pdf_password=password) as current:
        with asked.opened(current) as opened:
            found = opened.retriever.retrieve_in(opened.session, asked.question)
            results = [result(rank, node) for rank, node in enumerate(found.nodes, start=1)]
        document: dict[str, Any] = {
            "query": asked.question,
            "strategy": found.strategy.name,
            "degraded": [asdict(one) for one in found.degraded],
            "results": results,
        }
        if len(found.queries) > 1:
            document["queries"] = list(found.queries[1:])
        if found.glossary:
            document["glossary"] = [asdict(term) for term in found.glossary]
        if opened.failed:
            document["files_failed"] = list(opened.failed)
        if current.out.json:
            current.out.document(document)
        else:
            show.results(current.out, results)
            show.degraded(current.out, document["degraded"])


@with_groups
def explain(
    question: Query,
    pdfs: options.Pdfs = None,
    *,
    given: SearchOptions,
    password: options.Password = None,
    top: Annotated[
        int,
        typer.Option(
            "--top",
            metavar="N",
            parser=options.number_in(bounds.PASSAGES),
            help=f"Rows of each list, at most {bounds.PASSAGES.maximum}; 10 without this.",
            rich_help_panel="Search",
            show_default=False,
        ),
    ] = 10,
    output: OutputOptions,
) -> None:
    """Show why a search finds what it finds.

    For each arm (and each generated query) its ranked list, the fused list with what
    each arm gave, the piece behind each passage, and what was dropped.
    """
    asked = _asked("explain", question, pdfs, given, password)
    with session(**asdict(output), **given.settings, pdf_password=password) as current:
        with asked.opened(current) as opened:
            explanation = opened.retriever.explain_in(opened.session, asked.question, top=top)
        if current.out.json:
            failed = {"files_failed": list(opened.failed)} if opened.failed else {}
            current.out.document(explanation.to_dict() | failed)
        else:
            current.out.text(explanation.render())


@dataclass(frozen=True)
class _Opened:
    """What is searched, open: its retriever, the state that it reads, PDFs that failed."""

    retriever: StrategyRetriever
    session: QuerySession
    failed: tuple[dict[str, str], ...]


@dataclass(frozen=True)
class _Search:
    """A question, what is searched, and the options of the search."""

    question: str
    pdfs: tuple[Path, ...]
    options: SearchOptions

    @contextmanager
    def opened(self, current: Session) -> Iterator[_Opened]:
        """Open the index or the PDFs."""
        from rag_app.cli.sources import chosen, pdfs_or_indexes

        given = self.options
        chosen_source = pdfs_or_indexes(self.pdfs, given.index or (), current)
        with chosen_source as source, source.index.session() as read:
            filters = chosen(read, given.file, given.page, given.where)
            retriever = source.index.as_retriever(
                filters=filters, queries=given.queries or 1, session=read
            )
            yield _Opened(retriever, read, source.failed)


def _asked(
    command: str,
    question: str,
    pdfs: list[str] | None,
    given: SearchOptions,
    password: str | None,
) -> _Search:
    """Return the search that the arguments ask for.

    Raises:
        UsageError: they do not go together.
    """
    check_words(command, [question, *(pdfs or [])])
    text = text_of(question)
    if not text.strip():
        raise UsageError("the question is empty")
    files = pdfs_of(pdfs or [])
    check_source(files, given.index or (), password)
    return _Search(text, files, given)


def result(rank: int, found: NodeWithScore) -> dict[str, Any]:
    """Return one passage as the JSON document has it."""
    from llama_index.core.schema import MetadataMode

    from rag_app.passages import source_name

    metadata = found.node.metadata
    matched = metadata.get("matched", ())
    page = metadata.get("page")
    return {
        "rank": rank,
        "score": found.score,
        "origin": metadata.get("origin", ""),
        "file": source_name(found.node),
        "page": page,
        "page_label": None if page is None else metadata.get("page_label"),
        "pages": metadata.get("pages", []),
        "text": found.node.get_content(metadata_mode=MetadataMode.NONE),
        "node_id": found.node.node_id,
        "matched": [{key: match[key] for key in _MATCH if key in match} for match in matched],
    }
