"""``rag search`` and ``rag explain``: the passages found, and why they were found."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_app import bounds
from rag_app.cli import options, show
from rag_app.cli.given import text_of
from rag_app.cli.groups import OutputOptions, SearchOptions, with_groups
from rag_app.cli.help import examples
from rag_app.cli.session import UsageError, session

if TYPE_CHECKING:
    from llama_index.core.schema import NodeWithScore


SEARCH_EXAMPLES = examples(
    'rag search "lead time"',
    'rag search "part 4711-B" --strategy bm25 -k 10 --file manual.pdf --page 3-7',
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
    *,
    given: SearchOptions,
    output: OutputOptions,
) -> None:
    """Find passages: where each stands, its score, and what matched."""
    question = _checked(question)
    with session(**asdict(output), **given.settings) as current:
        from rag_app.cli.sources import chosen, indexes

        with indexes(given.index or (), current) as source, source.index.session() as read:
            filters = chosen(read, given.file, given.page, given.where)
            retriever = source.index.as_retriever(
                filters=filters, queries=given.queries or 1, session=read
            )
            found = retriever.retrieve_in(read, question)
            results = [result(rank, node) for rank, node in enumerate(found.nodes, start=1)]
        document: dict[str, Any] = {
            "query": question,
            "strategy": found.strategy.name,
            "degraded": [asdict(one) for one in found.degraded],
            "results": results,
        }
        if len(found.queries) > 1:
            document["queries"] = list(found.queries[1:])
        if found.glossary:
            document["glossary"] = [asdict(term) for term in found.glossary]
        if current.out.json:
            current.out.document(document)
        else:
            show.results(current.out, results)
            show.degraded(current.out, document["degraded"])


@with_groups
def explain(
    question: Query,
    *,
    given: SearchOptions,
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
    question = _checked(question)
    with session(**asdict(output), **given.settings) as current:
        from rag_app.cli.sources import chosen, indexes

        with indexes(given.index or (), current) as source, source.index.session() as read:
            filters = chosen(read, given.file, given.page, given.where)
            retriever = source.index.as_retriever(
                filters=filters, queries=given.queries or 1, session=read
            )
            explanation = retriever.explain_in(read, question, top=top)
        if current.out.json:
            current.out.document(explanation.to_dict())
        else:
            current.out.text(explanation.render())


def _checked(question: str) -> str:
    text = text_of(question)
    if not text.strip():
        raise UsageError("the question is empty")
    return text


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
