"""The sentence table: written with the content, read by span, and not needed."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pipelines.sentence_table import SentenceTable
from rag_app.store.merging import merge
from rag_app.store.protocol import Store
from rag_app.store.sqlite.checksums import Checksums
from rag_app.store.sqlite.schema import create_tables
from rag_app.store.sqlite.sentence_table import read_sentences, write_sentences
from rag_app.store.sqlite.store import create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared
from tests.support.sentences import sentence_table_at

LENGTH = 30_000
CATS = prepared("/a.pdf", ["Cats sit. Dogs run.", "Birds fly."])
CATS_STARTS = [0, 9, 20]
SUMS = Checksums.of("", Path())
NONE = SentenceTable.of("", [])


def starts(store: Store, name: str, start: int = 0, end: int = 99) -> list[int] | None:
    with store.snapshot() as snapshot:
        source = snapshot.find(name)
        assert source is not None
        table = snapshot.sentences(source.document_id, start, end)
    return None if table is None else table.starts.tolist()


@given(
    st.dictionaries(st.integers(0, LENGTH - 1), st.sets(st.sampled_from("abc")), max_size=60),
    st.integers(0, LENGTH),
    st.integers(0, LENGTH),
)
def test_any_span_holds_the_sentences_that_begin_in_it(
    held: dict[int, set[str]], start: int, stop: int
) -> None:
    sql = sqlite3.connect(":memory:", isolation_level=None)
    create_tables(sql, "")
    table = SentenceTable.joined(
        sentence_table_at(" ".join(held[at]), [0]).moved(at) for at in sorted(held)
    )
    write_sentences(sql, SUMS, 1, LENGTH, table)
    write_sentences(sql, SUMS, 2, 9, sentence_table_at("abc", [0]))
    found = read_sentences(sql, SUMS, 1, start, stop)
    assert found is not None
    wanted = [at for at in sorted(held) if start <= at < stop]
    assert found.starts.tolist() == wanted
    assert found.holding("bc") == [held[at] - {"a"} for at in wanted]
    sql.close()


def test_sentences_of_a_content_are_read_by_span(store: Store) -> None:
    with store.writer() as writer:
        writer.put(CATS)
    assert starts(store, "/a.pdf") == CATS_STARTS
    assert starts(store, "/a.pdf", 1, 10) == [9]
    assert starts(store, "/a.pdf", 1, 9) == []


def test_content_without_a_sentence_table_has_no_known_sentences(store: Store) -> None:
    with store.writer() as writer:
        writer.put(replace(CATS, sentences=None))
        writer.put(replace(prepared("/b.pdf", ["Fish swim."]), sentences=NONE))
    assert starts(store, "/a.pdf") is None
    assert starts(store, "/b.pdf") == []
    assert store.verify() == []


def test_sentences_added_later_are_kept_and_never_twice(store: Store) -> None:
    with store.writer() as writer:
        writer.put(replace(CATS, sentences=None))
        writer.extend(CATS)
        writer.extend(replace(CATS, sentences=NONE))
    assert starts(store, "/a.pdf") == CATS_STARTS


def test_sentences_go_with_their_content(store: Store) -> None:
    with store.writer() as writer:
        writer.put(CATS)
        writer.put(prepared("/a.pdf", ["Another text. It is short."]))
    assert starts(store, "/a.pdf") == [0, 13]
    assert store.verify() == []


def test_a_merge_takes_sentences_along(tmp_path: Path) -> None:
    for name, content in (("A", CATS), ("B", replace(prepared("/b.pdf", ["x"]), sentences=None))):
        with create_store(tmp_path / name, CONFIG) as store, store.writer() as writer:
            writer.put(content)
    merge({name: tmp_path / name for name in "AB"}, tmp_path / "C")
    with open_store(tmp_path / "C") as store:
        assert starts(store, "/a.pdf") == CATS_STARTS
        assert starts(store, "/b.pdf") is None
