"""What an index holds, in numbers and in words."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from llama_index.core.schema import Document

from rag_app.facade.info import info_of
from rag_app.index import Index
from rag_app.store import folder_bytes
from rag_app.store.sqlite.schema import DATABASE
from tests.support.embedding import HashEmbedding


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "i", embed_model=HashEmbedding(scripts=("latin",))) as made:
        made.ingest(Document(text="The crane lifts seven tonnes.", id_="crane"))
        made.ingest(Document(text="東京は日本の首都です。", id_="tokyo"))
        yield made


def test_contents_scripts_and_size_are_counted(index):
    info = info_of(index.store, verify=False)
    assert [source.names for source in info.sources] == [("crane",), ("tokyo",)]
    assert info.scripts["latin"] == 1
    assert info.silent_scripts == tuple(sorted(set(info.scripts) - {"latin"}))
    assert (info.bytes, info.findings) == (folder_bytes(index.path), None)


def test_text_names_each_file_and_the_model(index):
    lines = str(info_of(index.store, verify=True)).splitlines()
    assert "embedding model hash" in lines[0]
    assert lines[1].startswith("  crane: 0 pages, ")
    assert len(lines) == 3
    assert repr(info_of(index.store, verify=False)).count("\n") == 0


def test_damage_is_found_only_when_it_is_asked_for(index):
    sql = sqlite3.connect(Path(index.path) / DATABASE, isolation_level=None)
    sql.execute("UPDATE contents SET title = 'x'")
    sql.close()
    info = info_of(index.store, verify=True)
    assert info.findings
    assert "damaged:" in str(info)


def test_an_index_of_words_alone_has_no_silent_scripts(tmp_path):
    with Index.create(tmp_path / "w", pipelines=["bm25"]) as index:
        index.ingest(Document(text="東京は日本の首都です。", id_="tokyo"))
        info = info_of(index.store, verify=False)
    assert info.silent_scripts == ()
    assert "none (words only)" in str(info)
