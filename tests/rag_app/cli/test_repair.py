"""``rag repair``: what is damaged is made whole, and what cannot be is named."""

from __future__ import annotations

import sqlite3
from contextlib import closing


def damage(index, statement="UPDATE blocks SET text = replace(text, '4.2', '9.2')"):
    with closing(sqlite3.connect(index / "index.sqlite", isolation_level=None)) as database:
        database.execute(statement)


def test_a_sound_index_is_left_alone(rag, index):
    done = rag("repair")
    assert (done.code, done.out) == (0, "nothing is damaged\n")


def test_a_damaged_file_is_read_again(rag, index):
    damage(index)
    done = rag("repair")
    assert done.code == 0
    assert "damaged: document→text:" in done.out
    assert "read again" in done.out
    assert "verified: every link holds" in done.out
    assert "4.2 bar" in rag("search", "valve pressure").out
    assert rag("repair", "--json").json["findings"] == []


def test_what_is_left_out_is_named_and_exits_with_1(rag, index, pdfs):
    (pdfs / "valve.pdf").unlink()
    damage(index)
    done = rag("repair", "--json")
    assert done.code == 1
    (lost,) = done.json["files"]
    assert lost["outcome"] == "left_out"
    assert "valve.pdf" in done.err
    assert "ingest it again" in done.err
    assert "every link holds" in rag("info", "--verify").out


def test_an_index_of_which_nothing_can_be_saved_says_what_to_do(rag, index):
    damage(index, "UPDATE state SET generation = 99")
    asked = rag("search", "valve")
    assert asked.code == 1
    assert "rag repair" in asked.err
    done = rag("repair")
    assert done.code == 1
    assert "nothing of it can be saved" in done.err
    assert "restore the folder from a copy" in done.err
