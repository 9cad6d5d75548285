"""LlamaIndex's metadata filters as sets of passages.

A key may have several values at once (the pages of a passage, the names of a
content, a list in the user's metadata): a positive operator asks whether *one*
of them fits, ``!=`` and ``nin`` whether *none* does. A passage without the key
fits only ``!=``, ``nin`` and ``is_empty``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipelines.errors import FilterError
from pipelines.file_names import composed, forms, meant, original
from rag_app.store.array_types import Bools, Ints
from rag_app.store.sqlite.passage_table import PassageTable

if TYPE_CHECKING:
    from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

Test = Callable[[Any], bool]


@dataclass(frozen=True, eq=False)
class PassageSelection:
    """A set of passages of one generation, by row."""

    generation: int
    rows: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def mask(self, size: int) -> Bools:
        """Return by row which passages are in it, shape (size,)."""
        found = np.zeros(size, np.bool_)
        found[self.rows] = True
        return found


def select(
    table: PassageTable, filters: MetadataFilters | None, scripts: Collection[str] | None
) -> PassageSelection:
    """Return the passages that the filters keep and whose script is one of ``scripts``.

    Raises:
        FilterError: an unknown key, or a value that the operator cannot use.
    """
    keep = np.ones(len(table), np.bool_)
    if filters is not None:
        keep &= _group(table, filters)
    if scripts is not None:
        keep &= table.any("script", lambda script: script in scripts)
    return PassageSelection(table.generation, table.rows[keep])


def _group(table: PassageTable, filters: MetadataFilters) -> Bools:
    """Join the masks of a group: ``and``, ``or``, or ``not`` (none of them fits)."""
    from llama_index.core.vector_stores.types import MetadataFilter

    condition = str(getattr(filters.condition, "value", filters.condition) or "and")
    masks = [
        _one(table, item) if isinstance(item, MetadataFilter) else _group(table, item)
        for item in filters.filters
    ]
    if not masks:
        return np.ones(len(table), np.bool_)
    if condition == "and":
        return _all(table, masks)
    joined: Bools = np.logical_or.reduce(masks)
    if condition == "or":
        return joined
    if condition == "not":
        return ~joined
    raise FilterError(f"unknown condition {condition!r}", hint="use and, or, not")


def _one(table: PassageTable, item: MetadataFilter) -> Bools:
    key, value = item.key, item.value
    operator = str(getattr(item.operator, "value", item.operator))
    if key not in table.keys:
        raise FilterError(
            f"nothing in the index has the key {key!r}",
            hint=f"known keys: {', '.join(sorted(table.keys))}",
        )
    if operator == "is_empty":
        return ~table.any(key, lambda stored: stored not in (None, ""))
    if operator in _NEGATIVE:
        return ~_positive(table, key, _NEGATIVE[operator], value)
    return _positive(table, key, operator, value)


def _all(table: PassageTable, masks: Sequence[Bools]) -> Bools:
    joined: Bools = np.logical_and.reduce([np.ones(len(table), np.bool_), *masks])
    return joined


_NEGATIVE = {"!=": "==", "nin": "in"}


# Their values are names of files, printed or raw, and compared under NFC.
_NAMES = frozenset({"file_name", "file_path"})


def _positive(table: PassageTable, key: str, operator: str, value: Any) -> Bools:
    if key not in _NAMES:
        return _fitting(table, key, operator, value, lambda stored: stored)
    if operator in ("==", "in"):
        given = _list(key, operator, value) if operator == "in" else [value]
        known = table.texts(key)
        names = [name for one in given for name in _names(one, known)]
        return _fitting(table, key, "in", names, lambda stored: stored)
    return _fitting(table, key, operator, _as_named(value), _as_named)


def _names(given: Any, known: Collection[str]) -> list[Any]:
    return meant(forms(given), known) if isinstance(given, str) else [given]


def _as_named(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_named(one) for one in value]
    return composed(original(value)) if isinstance(value, str) else value


def _fitting(
    table: PassageTable, key: str, operator: str, value: Any, form: Callable[[Any], Any]
) -> Bools:
    """Return the passages one of whose values, in this form, passes the operator's test."""
    if operator == "all":
        tests = [_holds(item) for item in _list(key, operator, value)]
        return _all(table, [table.any(key, _formed(test, form)) for test in tests])
    try:
        return table.any(key, _formed(_test(key, operator, value), form))
    except TypeError as error:
        raise FilterError(
            f"the values of {key!r} cannot be compared with {value!r} by {operator!r}: {error}",
            hint="give a number for a key with numbers, a text for a key with texts",
        ) from error


def _formed(test: Test, form: Callable[[Any], Any]) -> Test:
    return lambda stored: test(form(stored))


def _test(key: str, operator: str, value: Any) -> Test:
    """Return the test of one stored value."""
    if operator == "in":
        return _among(_list(key, operator, value))
    if operator == "any":
        return _any(_list(key, operator, value))
    if value is None or isinstance(value, list):
        raise FilterError(
            f"{operator!r} on {key!r} needs one value, not {value!r}",
            hint="a list goes with in, nin, any and all",
        )
    if operator in {"text_match", "text_match_insensitive"}:
        return _text(key, operator, value)
    tests: Mapping[str, Test] = {
        "==": lambda stored: _equal(stored, value),
        ">": lambda stored: bool(stored > value),
        ">=": lambda stored: bool(stored >= value),
        "<": lambda stored: bool(stored < value),
        "<=": lambda stored: bool(stored <= value),
        "contains": _holds(value),
    }
    if operator not in tests:
        raise FilterError(f"unknown operator {operator!r}", hint=f"known: {', '.join(tests)}")
    return tests[operator]


def _text(key: str, operator: str, value: Any) -> Test:
    def test(stored: Any) -> bool:
        if not isinstance(stored, str) or not isinstance(value, str):
            raise TypeError(f"{operator} compares texts, {key!r} holds {stored!r}")
        if operator == "text_match":
            return value in stored
        return value.casefold() in stored.casefold()

    return test


def _holds(value: Any) -> Test:
    """Return a test whether a stored value equals this one, or is a text that contains it."""

    def test(stored: Any) -> bool:
        if isinstance(stored, str) and isinstance(value, str):
            return value in stored
        return _equal(stored, value)

    return test


def _among(values: Sequence[Any]) -> Test:
    return lambda stored: any(_equal(stored, value) for value in values)


def _any(values: Iterable[Any]) -> Test:
    tests = [_holds(value) for value in values]
    return lambda stored: any(test(stored) for test in tests)


def _equal(stored: Any, value: Any) -> bool:
    # True == 1 in Python, but a flag in a filter does not mean a number.
    return bool(stored == value) and isinstance(stored, bool) == isinstance(value, bool)


def _list(key: str, operator: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise FilterError(
            f"{operator!r} on {key!r} needs a list, not {value!r}", hint="write [value]"
        )
    return value
