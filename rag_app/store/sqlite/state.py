"""The one row that says which generation of which index the tables show."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path

from rag_app.store.sqlite.checksums import Checksums, damaged


@dataclass(frozen=True, slots=True)
class State:
    """The state of the whole index.

    Attributes:
        generation: number of the last commit.
        epoch: number of the last change of the list of derived files.
        config: the configuration, as JSON.
        identity: tells this index from every other one.
        held: the digests of all contents, joined by XOR.
        sequences: the last row numbers given, as JSON.
    """

    generation: int
    epoch: int
    config: str
    identity: str
    held: int
    sequences: str

    def checksum(self, folder: Path) -> int:
        """Return the checksum of the row."""
        sums = Checksums.of(self.identity, folder)
        return sums.digest(self.generation, self.epoch, self.config, self.held, self.sequences)


def read_state(sql: sqlite3.Connection, folder: Path) -> State:
    """Return the state that a transaction sees.

    Raises:
        IndexDamagedError: it is not there, or not as it was written.
    """
    row = sql.execute(
        "SELECT generation, epoch, config, identity, held, sequences, checksum FROM state"
    ).fetchone()
    if row is None:
        raise damaged(folder, "it has no state row")
    state = State(*row[:-1])
    if not isinstance(state.identity, str) or row[-1] != state.checksum(folder):
        raise damaged(folder, "its state does not match its checksum")
    return state


def write_state(sql: sqlite3.Connection, folder: Path, state: State) -> None:
    """Write the state, with the row numbers given until now, in the writer's transaction."""
    state = replace(state, sequences=read_sequences(sql))
    sql.execute(
        "UPDATE state SET generation = ?, epoch = ?, config = ?, held = ?, sequences = ?,"
        " checksum = ?",
        (
            state.generation,
            state.epoch,
            state.config,
            state.held,
            state.sequences,
            state.checksum(folder),
        ),
    )


def read_sequences(sql: sqlite3.Connection) -> str:
    """Return the last row number given in each table, as JSON."""
    return json.dumps(dict(sql.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name")))
