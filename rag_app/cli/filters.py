"""``--file``, ``--page`` and ``--where`` as LlamaIndex metadata filters."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_app import bounds
from rag_app.bounds import shown
from rag_app.cli.session import UsageError

if TYPE_CHECKING:
    from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

_WHERE = re.compile(r"\s*(?P<key>[^=!<>~\s]+)\s*(?P<operator>==|!=|>=|<=|=|>|<|~)\s*(?P<value>.*)")
_PAGES = re.compile(r"\s*(?P<first>[0-9]{1,18})\s*(?:-\s*(?P<last>[0-9]{1,18})\s*)?")
_OPERATORS = {"=": "==", "~": "text_match_insensitive"}


def filters_of(
    files: Sequence[str] | None, pages: Sequence[str] | None, where: Sequence[str] | None
) -> MetadataFilters | None:
    """Return the filters that the options ask for; None when there are none.

    Files are alternatives, and so are pages; files, pages and each ``--where``
    must hold together.

    Raises:
        UsageError: an option cannot be read.
    """
    if not (files or pages or where):
        return None
    from llama_index.core.vector_stores.types import MetadataFilters

    parts: list[MetadataFilter | MetadataFilters] = []
    if files:
        parts.append(_files(files))
    if pages:
        parts.append(_pages(pages))
    parts += [_where(condition) for condition in where or ()]
    return MetadataFilters(filters=parts)


def _files(files: Sequence[str]) -> MetadataFilters:
    from llama_index.core.vector_stores.types import (
        FilterCondition,
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
    )

    from pipelines.file_names import absolute_form

    paths = [absolute_form(file) for file in files]
    return MetadataFilters(
        filters=[
            MetadataFilter(key="file_name", operator=FilterOperator.IN, value=list(files)),
            MetadataFilter(key="file_path", operator=FilterOperator.IN, value=paths),
        ],
        condition=FilterCondition.OR,
    )


def _pages(pages: Sequence[str]) -> MetadataFilter:
    from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter

    numbers = sorted({number for given in pages for number in page_range(given)})
    return MetadataFilter(key="page", operator=FilterOperator.IN, value=numbers)


def page_range(given: str) -> range:
    """Return the pages of ``"7"`` or ``"3-7"``.

    Raises:
        UsageError: it is neither.
    """
    match = _PAGES.fullmatch(unicodedata.normalize("NFKC", given))
    if match is None:
        raise UsageError(
            f"--page {shown(given)}: a page is a number from 1, as 7, or a range, as 3-7"
        )
    first = int(match["first"])
    last = int(match["last"] or first)
    if not bounds.PAGES.minimum <= first <= last <= bounds.PAGES.maximum:
        raise UsageError(
            f"--page {shown(given)}: pages are counted from 1 to {bounds.PAGES.maximum}, "
            "the smaller one first"
        )
    return range(first, last + 1)


def _where(condition: str) -> MetadataFilter | MetadataFilters:
    from llama_index.core.vector_stores.types import (
        FilterCondition,
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
    )

    match = _WHERE.fullmatch(condition)
    if match is None:
        raise UsageError(
            f"--where {shown(condition)}: it must be KEY=VALUE, or with != > >= < <= or ~ for the ="
        )
    key, text = match["key"], match["value"]
    operator = FilterOperator(_OPERATORS.get(match["operator"], match["operator"]))
    number = None if operator is FilterOperator.TEXT_MATCH_INSENSITIVE else _number(text)
    values: list[str | int | float] = [text if number is None else number]
    # The shell has only strings: = and != mean the number and the text "2020".
    if operator in (FilterOperator.EQ, FilterOperator.NE) and number is not None:
        values.append(text)
    either = FilterCondition.AND if operator is FilterOperator.NE else FilterCondition.OR
    filters = [MetadataFilter(key=key, operator=operator, value=value) for value in values]
    return filters[0] if len(filters) == 1 else MetadataFilters(filters=filters, condition=either)


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return None
