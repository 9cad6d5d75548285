"""What is noted of the rows of a passage stays with it, whatever is done to the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from pipelines.errors import FilterError, IndexDamagedError
from pipelines.rows import ROW_SHARE
from rag_app.index import Index
from rag_app.store.config import dump_config, load_config
from rag_app.store.sqlite.schema import DATABASE
from tests.support.embedding import HashEmbedding
from tests.support.pdfs import make_pdf

TABLE = "Revenue 120.5 118.0\nFuel costs 44.1 43.9\nWages of crews 30.2 29.8\nPier dues 9.1 8.8"
PROSE = "The ferries carried more passengers than in the year before."


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    make_pdf(tmp_path / "table.pdf", [TABLE])
    make_pdf(tmp_path / "prose.pdf", [PROSE])
    with Index.create(tmp_path / "index", embed_model=HashEmbedding()) as made:
        made.ingest(tmp_path / "table.pdf", tmp_path / "prose.pdf")
        yield made


def shares(index: Index) -> dict[str, float]:
    """Return the shares of all passages that have one, by the name of their file."""
    with index.store.snapshot() as snapshot:
        ids = {}
        for source in snapshot.sources():
            for node in snapshot.export(source.content_hash).nodes:
                if node.metadata["kind"] in ("parent", "passage"):
                    ids[node.node_id] = node.metadata["file_name"]
        return {ids[key]: share for key, share in snapshot.row_shares(list(ids)).items()}


def test_ingest_notes_the_share_of_passages_with_a_table_alone(index):
    assert index.store.config.row_shares
    assert shares(index) == {"table.pdf": 1.0}
    assert index.info(verify=True).findings == ()


def test_asked_again_and_of_unknown_ids_the_answer_is_the_same(index):
    with index.store.snapshot() as snapshot:
        assert snapshot.row_shares(["nobody"]) == {}
        assert snapshot.row_shares([]) == {}
    assert shares(index) == shares(index)


def test_merge_keeps_the_shares_only_where_all_indexes_have_them(index, tmp_path):
    with Index.merge([index], into=tmp_path / "merged", embed_model=HashEmbedding()) as merged:
        assert shares(merged) == {"table.pdf": 1.0}
        assert merged.info(verify=True).findings == ()
    forget(index)
    make_pdf(tmp_path / "more.pdf", [TABLE + "\nTickets 11.9 10.5"])
    with Index.create(tmp_path / "new", embed_model=HashEmbedding()) as new:
        new.ingest(tmp_path / "more.pdf")
        both = Index.merge([new, index], into=tmp_path / "both", embed_model=HashEmbedding())
    with both:
        assert not both.store.config.row_shares
        assert shares(both) == {}


def test_an_old_index_stays_as_it_was_also_for_files_that_are_added(index, tmp_path):
    forget(index)
    make_pdf(tmp_path / "more.pdf", [TABLE + "\nTickets 11.9 10.5"])
    with Index.open(index.path, embed_model=HashEmbedding()) as old:
        old.ingest(tmp_path / "more.pdf")
        assert shares(old) == {}


def test_a_file_that_is_renamed_or_removed_takes_its_share_along(index, tmp_path):
    (tmp_path / "table.pdf").rename(tmp_path / "called-otherwise.pdf")
    index.ingest(tmp_path / "called-otherwise.pdf")
    index.remove(str(tmp_path / "table.pdf"))
    assert shares(index) == {"called-otherwise.pdf": 1.0}
    index.remove(str(tmp_path / "called-otherwise.pdf"))
    assert shares(index) == {}


def test_repair_keeps_the_shares(index):
    index.close()
    sql = sqlite3.connect(index.path / DATABASE, isolation_level=None)
    sql.execute("UPDATE nodes SET heading = 'changed' WHERE text IS NULL")
    sql.close()
    with Index.open(index.path, embed_model=HashEmbedding()) as damaged:
        damaged.repair()
        assert shares(damaged) == {"table.pdf": 1.0}


def test_a_share_that_was_changed_is_damage(index):
    index.close()
    sql = sqlite3.connect(index.path / DATABASE, isolation_level=None)
    sql.execute("UPDATE nodes SET extra = replace(extra, '1.0', '0.1') WHERE extra IS NOT NULL")
    sql.close()
    with Index.open(index.path, embed_model=HashEmbedding()) as damaged:
        with damaged.store.snapshot() as snapshot:
            [passage] = snapshot.search_words("parent", ["revenu"], 1)
            with pytest.raises(IndexDamagedError, match="checksum"):
                snapshot.row_shares([passage.passage_id])
        assert damaged.info(verify=True).findings


def test_the_share_is_no_key_of_filters(index, tmp_path):
    filters = MetadataFilters(filters=[MetadataFilter(key=ROW_SHARE, value=1.0)])
    with index.store.snapshot() as snapshot, pytest.raises(FilterError, match=ROW_SHARE):
        snapshot.select(filters)


def test_a_passage_with_metadata_of_its_own_keeps_both(index):
    index.ingest(TextNode(id_="own", text=TABLE, metadata={"ward": "north"}))
    with index.store.snapshot() as snapshot:
        assert snapshot.row_shares(["own"]) == {"own": 1.0}
        filters = MetadataFilters(filters=[MetadataFilter(key="ward", value="north")])
        assert len(snapshot.select(filters)) == 1


def forget(index: Index) -> None:
    """Make the index one that was made before shares were noted."""
    config = load_config(dump_config(index.store.config))
    with index.store.writer() as writer:
        writer.configure(type(config)(**{**vars(config), "row_shares": False}))
    with index.store.snapshot():
        assert not index.store.config.row_shares
