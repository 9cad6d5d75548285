"""Give an index that a test changed by SQL the checksums of what it says now."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.sealing import seal
from rag_app.store.sqlite.state import State, write_state


def reseal(sql: sqlite3.Connection, folder: Path) -> None:
    """Write the checksums of contents and state anew, as the program itself would have."""
    *values, held = sql.execute(
        "SELECT generation, epoch, config, identity, held FROM state"
    ).fetchone()
    state = State(*values, held=held, sequences="")
    sums = Checksums.of(state.identity, folder)
    for (content,) in sql.execute("SELECT content FROM contents").fetchall():
        held ^= seal(sql, sums, content, rows=True)
    write_state(sql, folder, replace(state, held=held))
