"""Filters that leave nothing to search: an error, since it would read as "not in the documents"."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from pipelines.errors import FilterError
from rag_app.bounds import shown
from rag_app.retrieval.rankings import View


def refuse_filters_that_fit_nothing(
    views: Sequence[View], filters: Sequence[MetadataFilters | None]
) -> None:
    """Raise where the filters keep no passage of any index, though one holds passages.

    Raises:
        FilterError: says the filters.
    """
    if any(view.within is None or len(view.within) for view in views):
        return
    if any(len(view.snapshot.select()) for view in views):
        said = dict.fromkeys(in_words(one) for one in filters if one is not None)
        raise FilterError(
            f"no passage fits the filters: {'; '.join(said)}",
            hint="compare the values with those of Index.info(), or of `rag info --json`",
        )


def in_words(filters: MetadataFilters) -> str:
    """Return filters on one line: ``file_name == 'a.pdf' and (page > 3 or page == 1)``."""
    condition = str(getattr(filters.condition, "value", filters.condition) or "and")
    parts = [
        _one(item) if isinstance(item, MetadataFilter) else f"({in_words(item)})"
        for item in filters.filters
    ]
    return f"not ({' or '.join(parts)})" if condition == "not" else f" {condition} ".join(parts)


def _one(item: MetadataFilter) -> str:
    return f"{item.key} {getattr(item.operator, 'value', item.operator)} {shown(item.value)}"
