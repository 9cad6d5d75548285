"""All passages of one generation with the values that filters ask for, as arrays."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipelines.rows import ROW_SHARE
from rag_app.store.array_types import Bools, Ints
from rag_app.store.sqlite.codec import user_metadata

CONTENT_KEYS = frozenset({"document_id", "file_name", "file_path", "title", "origin"})
PAGE_KEYS = frozenset({"page", "page_label"})
# Keys of a passage's own metadata that no filter can ask for.
_NOT_ASKED_FOR = frozenset({"kind", ROW_SHARE})
# Most passages of reports carry nothing else, which their length tells.
_ONLY_ROWS = (len('{"set":{"row_share":0.123}}'), '{"set":{"row_share":*}}')
_MAX_DOCUMENT_CHARS = 1 << 40  # separates contents when positions are one number


@dataclass(frozen=True, eq=False)
class PassageTable:
    """Passages by position; see :meth:`any`.

    Attributes:
        generation: the generation that it shows.
        rows: row of each passage, shape (n,).
        contents: position of each passage's content, shape (n,).
        scripts: number of each passage's script, shape (n,), and their names.
        spans: first page and page after the last of each passage, shape (n, 2).
        pages: value of each page, by key.
        values: values of each content, by key.
        own: values of single passages that carry metadata of their own, by position.
        keys: all keys that can be asked for.
    """

    generation: int
    rows: Ints
    contents: Ints
    scripts: Ints
    script_names: Sequence[str]
    spans: Ints
    pages: Mapping[str, Sequence[Any]]
    values: Mapping[str, Sequence[Sequence[Any]]]
    own: Mapping[int, Mapping[str, Sequence[Any]]]
    keys: frozenset[str]

    def __len__(self) -> int:
        return len(self.rows)

    def any(self, key: str, test: Callable[[Any], bool]) -> Bools:
        """Return for each passage whether one of its values of ``key`` passes the test."""
        test = _remembered(test)
        if key == "script":
            fits = np.array([test(name) for name in self.script_names], np.bool_)
            found = fits[self.scripts] if len(fits) else np.zeros(len(self), np.bool_)
        elif key in PAGE_KEYS:
            fits = np.array([test(value) for value in self.pages[key]], np.int64)
            before = np.concatenate([[0], np.cumsum(fits)])
            found = before[self.spans[:, 1]] > before[self.spans[:, 0]]
        else:
            values = self.values.get(key, ())
            fits = np.array([any(map(test, some)) for some in values], np.bool_)
            found = fits[self.contents] if len(fits) else np.zeros(len(self), np.bool_)
        return self._with_own(key, test, found)

    def texts(self, key: str) -> set[str]:
        """Return all values of a content's or a passage's ``key`` that are texts."""
        lists = (*self.values.get(key, ()), *(own[key] for own in self.own.values() if key in own))
        return {value for values in lists for value in values if isinstance(value, str)}

    def _with_own(self, key: str, test: Callable[[Any], bool], found: Bools) -> Bools:
        for position, values in self.own.items():
            if key in values:
                found[position] = any(map(test, values[key]))
        return found


def load_passages(sql: sqlite3.Connection, generation: int) -> PassageTable:
    """Read all passages that the transaction sees."""
    rows = sql.execute(
        "SELECT node, content, coalesce(start, -1), coalesce(stop, -1), script"
        " FROM nodes WHERE passage = node ORDER BY node"
    ).fetchall()
    numbers = sorted({row[1] for row in rows})
    place = {number: position for position, number in enumerate(numbers)}
    contents = np.array([place[row[1]] for row in rows], np.int64)
    names = sorted({row[4] for row in rows})
    codes = {name: code for code, name in enumerate(names)}
    nodes = np.array([row[0] for row in rows], np.int64)
    values = _values(sql, numbers)
    own = _own(sql, {row: position for position, row in enumerate(nodes.tolist())})
    spans, pages = _pages(
        sql, place, contents, np.array([row[2:4] for row in rows], np.int64).reshape(-1, 2)
    )
    found = {key for some in own.values() for key in some}
    return PassageTable(
        generation=generation,
        rows=nodes,
        contents=contents,
        scripts=np.array([codes[row[4]] for row in rows], np.int64),
        script_names=names,
        spans=spans,
        pages=pages,
        values=values,
        own=own,
        keys=CONTENT_KEYS | PAGE_KEYS | {"script"} | values.keys() | found,
    )


def _values(sql: sqlite3.Connection, numbers: Sequence[int]) -> dict[str, list[list[Any]]]:
    """Return the values of each content by key, in the order of ``numbers``."""
    found: dict[int, dict[str, list[Any]]] = {number: defaultdict(list) for number in numbers}
    for content, document_id, title, origin, beyond in sql.execute(
        "SELECT content, document_id, title, origin, metadata FROM contents"
    ):
        if content in found:
            for key, value in user_metadata(json.loads(beyond)).items():
                found[content][key] = as_values(value)
            found[content]["document_id"] = [document_id]
            found[content]["title"] = [title]
            found[content]["origin"] = [origin]
    for content, file_path, file_name, origin in sql.execute(
        "SELECT content, file_path, file_name, origin FROM names ORDER BY name_row"
    ):
        if content in found:
            found[content]["file_path"].append(file_path)
            found[content]["file_name"].append(file_name)
            if origin not in found[content]["origin"]:
                found[content]["origin"].append(origin)
    keys = {key for values in found.values() for key in values}
    return {key: [found[number].get(key, []) for number in numbers] for key in keys}


def _own(sql: sqlite3.Connection, place: Mapping[int, int]) -> dict[int, dict[str, Sequence[Any]]]:
    """Return the metadata of passages that carry some of their own, by position."""
    found: dict[int, dict[str, Sequence[Any]]] = {}
    for row, extra in sql.execute(
        "SELECT node, extra FROM nodes WHERE passage = node AND extra IS NOT NULL"
        " AND NOT (length(extra) <= ? AND extra GLOB ?)",
        _ONLY_ROWS,
    ):
        own = json.loads(extra).get("set", {})
        values: dict[str, Sequence[Any]] = {
            key: as_values(value) for key, value in own.items() if key not in _NOT_ASKED_FOR
        }
        if "pages" in values:
            values["page"] = values.pop("pages")
        if values:
            found[place[row]] = values
    return found


def _pages(
    sql: sqlite3.Connection, place: Mapping[int, int], contents: Ints, offsets: Ints
) -> tuple[Ints, dict[str, Sequence[Any]]]:
    """Return the range of pages that each passage overlaps, and what the pages are called."""
    rows = [
        row
        for row in sql.execute(
            "SELECT content, start, stop, number, label FROM pages WHERE stop > start"
            " ORDER BY content, start"
        )
        if row[0] in place
    ]
    base = np.array([place[row[0]] for row in rows], np.int64) * _MAX_DOCUMENT_CHARS
    starts = base + np.array([row[1] for row in rows], np.int64)
    stops = base + np.array([row[2] for row in rows], np.int64)
    lows = np.searchsorted(stops, contents * _MAX_DOCUMENT_CHARS + offsets[:, 0], side="right")
    highs = np.searchsorted(starts, contents * _MAX_DOCUMENT_CHARS + offsets[:, 1], side="left")
    none = offsets[:, 0] < 0
    lows[none] = highs[none] = 0
    spans = np.stack([lows, np.maximum(lows, highs)], axis=1)
    return spans, {"page": [row[3] for row in rows], "page_label": [row[4] for row in rows]}


def as_values(value: Any) -> list[Any]:
    """Return a list's values, a single value as a list of one, nothing as none."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _remembered(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Cache a test's results by value: a thousand pages have the same few numbers."""
    known: dict[Hashable, bool] = {}

    def remembered(value: Any) -> bool:
        if not isinstance(value, (str, int, float)):
            return value is not None and test(value)
        key = (type(value), value)
        if key not in known:
            known[key] = test(value)
        return known[key]

    return remembered
