"""Exceptions while an index is read: ours where a damaged index is the cause."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from pipelines.errors import RagError
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.connect import of_sqlite

P = ParamSpec("P")
R = TypeVar("R")


class NotHereError(KeyError):
    """The index does not hold what was asked for."""


class ForeignSelectionError(ValueError):
    """A selection was given to another snapshot than the one that made it."""


class _Reads(Protocol):
    _sql: sqlite3.Connection
    _sums: Checksums


_S = TypeVar("_S", bound=_Reads)


def explained(method: Callable[Concatenate[_S, P], R]) -> Callable[Concatenate[_S, P], R]:
    """Make a method of a snapshot raise our error where the index is damaged.

    Damaged numbers may fail anywhere, with any exception. Only then is the whole index
    checked: when it is sound, the exception is raised as it was.
    """

    @functools.wraps(method)
    def run(self: _S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except (RagError, NotHereError, ForeignSelectionError):
            raise
        except sqlite3.Error as error:
            raise of_sqlite(error, self._sums.folder) from error
        except Exception as error:
            from rag_app.store.sqlite.verify import verify_tables

            findings = verify_tables(self._sql, self._sums.folder)
            if not findings:
                raise
            raise self._sums.damaged(findings[0].message) from error

    return run
