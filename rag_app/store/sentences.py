"""Where the sentences of a content begin: found when it was cut, read when one is shown."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

_REACH = 8192  # characters of text whose sentences make one row: a passage needs one or two
_SIZE = np.dtype("<u4")


def write_sentences(
    sql: sqlite3.Connection, content: int, length: int, starts: Sequence[int]
) -> None:
    """Note where sentences begin in the text of a content: a row for each reach of it."""
    rows = []
    for reach in range(0, max(length, 1), _REACH):
        some = starts[bisect_left(starts, reach) : bisect_left(starts, reach + _REACH)]
        rows.append((content, reach, np.asarray(some, dtype=_SIZE).tobytes()))
    sql.executemany("INSERT INTO sentences (content, reach, starts) VALUES (?, ?, ?)", rows)


def read_sentences(
    sql: sqlite3.Connection, content: int, start: int, stop: int
) -> list[int] | None:
    """Return where sentences begin in a span of a content's text; None where nobody noted it."""
    rows = sql.execute(
        "SELECT starts FROM sentences WHERE content = ? AND reach > ? AND reach < ? ORDER BY reach",
        (content, start - _REACH, max(stop, start + 1)),
    ).fetchall()
    if not rows:
        return None
    found = [at for (blob,) in rows for at in np.frombuffer(blob, dtype=_SIZE).tolist()]
    return found[bisect_left(found, start) : bisect_left(found, stop)]


def count_sentences(sql: sqlite3.Connection, content: int) -> int:
    """Return how many sentences of a content are noted, wherever they begin."""
    (size,) = sql.execute(
        "SELECT coalesce(sum(length(starts)), 0) FROM sentences WHERE content = ?", (content,)
    ).fetchone()
    return int(size) // _SIZE.itemsize


def has_sentences(sql: sqlite3.Connection) -> bool:
    """Tell whether an index has the table: an earlier version made none."""
    statement = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sentences'"
    return sql.execute(statement).fetchone() is not None
