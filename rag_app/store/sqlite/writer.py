"""The one writer: each method is one transaction that raises the generation."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pipelines.errors import IndexDamagedError, IndexMismatchError
from rag_app.store.config import check_config, dump_config, load_config
from rag_app.store.protocol import IndexConfig, Prepared
from rag_app.store.sqlite import contents
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.connect import translated
from rag_app.store.sqlite.retitling import recount, retitle
from rag_app.store.sqlite.sealing import check_content, check_rows, seal
from rag_app.store.sqlite.state import read_state, write_state


class SqliteWriter:
    """Writes contents, names and configuration; the caller holds the writer's lock."""

    def __init__(self, folder: Path, sql: sqlite3.Connection) -> None:
        self._folder = folder
        self._sql = sql
        self._sums = Checksums.at(sql)
        # Of the transaction: what is to be sealed (and whether with its rows), and by which
        # digests the index has changed until now.
        self._changed: dict[int, bool] = {}
        self._difference = 0

    def put(self, prepared: Prepared) -> Literal["added", "replaced"]:
        """Write one file; contents that had one of its names lose that name."""
        with self._transaction() as config:
            content_hash = prepared.content_hash
            given = {name: prepared.origins.get(name, prepared.origin) for name in prepared.names}
            names = {**self._names(content_hash), **given}
            gone = self._release(given, merging=bool(prepared.origin))
            gone |= self._same(content_hash, prepared.document.id_)
            self._delete(gone)
            content = contents.insert(self._sql, self._sums, prepared, config, names)
            self._difference ^= seal(self._sql, self._sums, content, rows=True)
            self._retitle(content)
        return "replaced" if gone else "added"

    def extend(self, prepared: Prepared) -> None:
        """Add nodes, vectors and terms to a content that is here; what it has stays."""
        with self._transaction() as config:
            content = self._content(prepared.content_hash)
            check_content(self._sql, self._sums, content)
            check_rows(self._sql, self._sums, content)
            contents.extend(self._sql, self._sums, content, prepared, config)
            self._changed[content] = True

    def configure(self, config: IndexConfig) -> None:
        """Record another configuration (more kinds, another number format)."""
        with self._transaction() as stored:
            self._config = dump_config(config)
            check_config(stored, config, where=str(self._folder))
            if stored.embed_model != config.embed_model and stored.vector_kinds:
                raise IndexMismatchError(
                    f"{self._folder} holds vectors of {stored.embed_model!r}; "
                    f"it cannot become an index of {config.embed_model!r}",
                    hint="ingest into a new index",
                )

    def add_name(self, content_hash: str, name: str, *, origin: str = "") -> None:
        """Record one more name of a content that is already here."""
        with self._transaction():
            content = self._content(content_hash)
            self._change_names(content)
            self._delete(self._release({name: origin}, merging=bool(origin)) - {content})
            contents.insert_name(self._sql, self._sums, content, name, origin)

    def rename(self, names: Mapping[str, Sequence[str]]) -> None:
        """Call contents (by hash) by these names and no others, all at once."""
        with self._transaction():
            rows = {self._content(content_hash): given for content_hash, given in names.items()}
            for content in rows:
                self._change_names(content)
                self._sql.execute("DELETE FROM names WHERE content = ?", (content,))
            given = dict.fromkeys((name for group in rows.values() for name in group), "")
            self._delete(self._release(given, merging=False) - rows.keys())
            for content, group in rows.items():
                for name in group:
                    contents.insert_name(self._sql, self._sums, content, name, "")
                self._retitle(content)

    def remove(self, names: Iterable[str]) -> int:
        """Remove names, and contents without any left; return how many contents were removed."""
        with self._transaction():
            gone = self._release(dict.fromkeys(names, ""), merging=False)
            self._delete(gone)
        return len(gone)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[IndexConfig]:
        """Run one transaction, whole or not at all, and raise the generation."""
        with translated(self._folder):
            self._sql.execute("BEGIN IMMEDIATE")
            try:
                state = read_state(self._sql, self._folder)
                self._changed, self._difference, self._config = {}, 0, state.config
                yield load_config(state.config)
                for content, rows in sorted(self._changed.items()):
                    self._difference ^= seal(self._sql, self._sums, content, rows=rows)
                changed = replace(
                    state,
                    generation=state.generation + 1,
                    config=self._config,
                    held=state.held ^ self._difference,
                )
                write_state(self._sql, self._folder, changed)
                self._sql.execute("COMMIT")
            except BaseException:
                if self._sql.in_transaction:
                    self._sql.execute("ROLLBACK")
                raise

    def _delete(self, gone: Iterable[int]) -> None:
        for content in sorted(gone):
            self._difference ^= contents.delete(self._sql, content)
            self._changed.pop(content, None)

    def _change_names(self, content: int) -> None:
        """Note that names of a content change, which must be whole: a new seal would hide damage.

        Raises:
            IndexDamagedError: it is not.
        """
        if content not in self._changed:
            check_content(self._sql, self._sums, content)
            self._changed[content] = False

    def _content(self, content_hash: str) -> int:
        row = self._sql.execute(
            "SELECT content FROM contents WHERE content_hash = ?", (content_hash,)
        ).fetchone()
        if row is None:
            raise KeyError(content_hash)
        return int(row[0])

    def _names(self, content_hash: str) -> dict[str, str]:
        """Return the names that a content has already, each with its origin."""
        rows = self._sql.execute(
            "SELECT name, names.origin FROM names JOIN contents USING (content)"
            " WHERE content_hash = ? ORDER BY name_row",
            (content_hash,),
        )
        return dict(rows.fetchall())

    def _release(self, names: dict[str, str], *, merging: bool) -> set[int]:
        """Take names from whatever had them; return the contents that have none left.

        A name that is written anew is taken from every origin; a merge keeps
        equal names of different origins apart. The title follows the name that is
        first now.
        """
        faults: dict[int, IndexDamagedError | None] = {}
        for name, origin in names.items():
            where = "name = ? AND origin = ?" if merging else "name = ?"
            values = (name, origin) if merging else (name,)
            rows = self._sql.execute(f"SELECT content FROM names WHERE {where}", values)  # noqa: S608
            for (content,) in rows.fetchall():
                faults[content] = faults.get(content) or self._fault(content)
            self._sql.execute(f"DELETE FROM names WHERE {where}", values)  # noqa: S608
        gone = set()
        for content, fault in sorted(faults.items()):
            left = self._sql.execute("SELECT 1 FROM names WHERE content = ?", (content,))
            if left.fetchone() is None:
                gone.add(content)
            elif fault is not None:
                raise fault
            else:
                self._retitle(content)
        return gone

    def _fault(self, content: int) -> IndexDamagedError | None:
        """Return what is wrong with a content before names of it change.

        One that loses its last name goes, damaged or not.
        """
        try:
            self._change_names(content)
        except IndexDamagedError as error:
            return error
        return None

    def _retitle(self, content: int) -> None:
        """Change the title of an undamaged content, and its counted words, with its first name."""
        if retitle(self._sql, content):
            check_rows(self._sql, self._sums, content)
            # Contents that are read for counting are compared with the seal.
            self._difference ^= seal(self._sql, self._sums, content, rows=False)
            recount(self._sql, self._sums, content)
            self._changed[content] = True

    def _same(self, content_hash: str, document_id: str) -> set[int]:
        rows = self._sql.execute(
            "SELECT content FROM contents WHERE content_hash = ? OR document_id = ?",
            (content_hash, document_id),
        )
        return {int(content) for (content,) in rows}
