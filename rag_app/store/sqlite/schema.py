"""The tables of an index, and how a database is told to be one of ours.

``contents`` holds one row per content (the bytes of a file, or a Document),
``names`` the paths under which it was given. ``blocks`` is the derived text in
slices, so that the text of a node is read by its span; ``noted_sentences`` is the
sentence table: where its sentences stand, how long they are and which terms they hold.
``vectors`` and ``words`` hold what is searched, in *blobs* (column ``part``): one blob
belongs to one content and one kind, is written once and removed whole.
``derived`` names the derived files that are in use, ``unused_files`` those that were
replaced or are about to be written: no file that is in neither is ever removed.
Neither a row number of a node nor the number of a blob is ever used twice, so
that a derived file, which holds such numbers, can be compared with the database
at any later time.
Each row carries a checksum, each content one of all its rows, and the state one of
all contents: see :mod:`rag_app.store.sqlite.checksums`.
"""

from __future__ import annotations

import secrets
import sqlite3
from pathlib import Path

from pipelines.errors import IndexDamagedError, IndexMismatchError, IndexNewerError
from rag_app.store.sqlite.state import State, read_sequences

# Raised with every change of the tables: an index of other tables is not read.
SCHEMA_VERSION = 3
APPLICATION_ID = 0x52414731  # "RAG1": tells an index from any other SQLite file
DATABASE = "index.sqlite"
# Unlikely names: files under them are written and removed.
DERIVED = "rag-derived"
LOCK = "rag-write.lock"

_TABLES = """
CREATE TABLE state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    generation INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    config TEXT NOT NULL,
    identity TEXT NOT NULL,
    held INTEGER NOT NULL,
    sequences TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE TABLE contents (
    content INTEGER PRIMARY KEY AUTOINCREMENT,
    content_hash TEXT NOT NULL UNIQUE,
    document_id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    reader TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    length INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    blank_pages TEXT NOT NULL,
    counts TEXT NOT NULL,
    built TEXT NOT NULL,
    origin TEXT NOT NULL,
    metadata TEXT NOT NULL,
    rows_digest INTEGER NOT NULL DEFAULT 0,
    checksum INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE names (
    name_row INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    origin TEXT NOT NULL,
    content INTEGER NOT NULL,
    file_name TEXT NOT NULL,
    file_path TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (name, origin)
);
CREATE INDEX names_content ON names (content);
CREATE TABLE pages (
    page INTEGER PRIMARY KEY,
    content INTEGER NOT NULL,
    position INTEGER NOT NULL,
    number INTEGER,
    label TEXT NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    raw BLOB,
    raw_checksum INTEGER,
    checksum INTEGER NOT NULL
);
CREATE INDEX pages_start ON pages (content, start, stop, position, number);
CREATE TABLE blocks (
    block INTEGER PRIMARY KEY,
    content INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    text TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX blocks_start ON blocks (content, start);
CREATE TABLE noted_sentences (
    content INTEGER NOT NULL,
    reach INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    starts BLOB NOT NULL,
    stops BLOB NOT NULL,
    tokens BLOB NOT NULL,
    sizes BLOB NOT NULL,
    terms BLOB NOT NULL,
    PRIMARY KEY (content, reach)
) WITHOUT ROWID;
CREATE TABLE kinds (
    kind INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE nodes (
    node INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id NOT NULL UNIQUE,
    content INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    passage INTEGER NOT NULL,
    start INTEGER,
    stop INTEGER,
    script TEXT NOT NULL,
    heading TEXT,
    window_start INTEGER,
    window_end INTEGER,
    text TEXT,
    extra TEXT,
    checksum INTEGER NOT NULL
);
CREATE INDEX nodes_content ON nodes (content, kind);
CREATE INDEX nodes_children ON nodes (passage, kind) WHERE passage <> node;
CREATE INDEX nodes_passages ON nodes (content, start, stop, script) WHERE passage = node;
CREATE INDEX nodes_extra ON nodes (node) WHERE passage = node AND extra IS NOT NULL;
CREATE TABLE vectors (
    part INTEGER PRIMARY KEY AUTOINCREMENT,
    content INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    count INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    nodes BLOB NOT NULL,
    passages BLOB NOT NULL,
    matrix BLOB NOT NULL
);
CREATE INDEX vectors_kind ON vectors (kind, part, count);
CREATE INDEX vectors_content ON vectors (content);
CREATE TABLE words (
    part INTEGER PRIMARY KEY AUTOINCREMENT,
    content INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    count INTEGER NOT NULL,
    vocabulary INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    nodes BLOB NOT NULL,
    passages BLOB NOT NULL,
    lengths BLOB NOT NULL,
    terms BLOB NOT NULL,
    starts BLOB NOT NULL,
    entries BLOB NOT NULL,
    counts BLOB NOT NULL
);
CREATE INDEX words_kind ON words (kind, part, count);
CREATE INDEX words_content ON words (content);
CREATE TABLE terms (
    term_id INTEGER PRIMARY KEY AUTOINCREMENT,
    term TEXT NOT NULL UNIQUE,
    uses INTEGER NOT NULL
);
CREATE INDEX terms_unused ON terms (term_id) WHERE uses <= 0;
CREATE TABLE derived (
    file TEXT PRIMARY KEY,
    how TEXT NOT NULL,
    kind INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    size INTEGER NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE TABLE unused_files (
    file TEXT PRIMARY KEY
);
"""


def create_tables(connection: sqlite3.Connection, config: str) -> None:
    """Make the tables of a new index in one transaction; ``config`` is its JSON."""
    connection.execute("PRAGMA page_size = 8192")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(f"BEGIN IMMEDIATE; {_TABLES}")
    # Tells a new index at an old path from the old one, whatever their generations.
    identity = secrets.token_hex(8)
    state = State(0, 0, config, identity, 0, read_sequences(connection))
    connection.execute(
        "INSERT INTO state VALUES (1, 0, 0, ?, ?, 0, ?, ?)",
        (config, identity, state.sequences, state.checksum(Path())),
    )
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


def check_schema(connection: sqlite3.Connection, where: str) -> None:
    """Accept a database of ours whose schema we know.

    Raises:
        IndexDamagedError: another program's database, or one without our tables.
        IndexMismatchError: written by an earlier version, with other tables.
        IndexNewerError: written by a later version of this program.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID or version < 1:
        raise not_ours(where)
    if version > SCHEMA_VERSION:
        raise IndexNewerError(
            f"{where} was made by a later version of this program, with schema {version}; "
            f"this one reads schema {SCHEMA_VERSION}",
            hint="install the version of this program that wrote it, or a later one",
        )
    if version < SCHEMA_VERSION:
        raise IndexMismatchError(
            f"{where} was made by an earlier version of this program, with schema {version}; "
            f"this one reads schema {SCHEMA_VERSION}",
            hint="ingest its files again into another folder, or remove this one first",
        )


def not_ours(where: str) -> IndexDamagedError:
    """Return the error for a file under the database's name that is not of this program."""
    return IndexDamagedError(
        f"{DATABASE} in {where} is not a database of this program, or its beginning is damaged",
        hint="give another folder; if it was an index, restore it from a copy or ingest again",
    )
