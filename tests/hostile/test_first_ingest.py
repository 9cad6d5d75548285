"""A first ingest of which nothing comes leaves nothing; what is empty is said to be so."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_app.index import Index
from rag_app.store.sqlite.store import open_store, remove_if_empty
from tests.support.pdfs import make_pdf


@pytest.fixture
def broken(place: Path) -> Path:
    path = place / "broken.pdf"
    path.write_bytes(b"%PDF-1.4 and no more")
    return path


@pytest.mark.parametrize("index", [".rag", "a/b/c"])
def test_a_first_ingest_that_fails_leaves_the_folder_as_it_was(rag, broken, place, index):
    before = sorted(place.rglob("*"))
    assert rag("ingest", broken, "--index", index).code == 1
    assert sorted(place.rglob("*")) == before
    assert "there is no index" in rag("ask", "What?", "--index", index).err


def test_a_folder_that_was_there_before_stays(rag, broken, place):
    (place / "empty").mkdir()
    assert rag("ingest", broken, "--index", "empty").code == 1
    assert list((place / "empty").iterdir()) == []


def test_an_index_that_held_something_stays_when_an_ingest_fails(rag, broken, index):
    assert rag("ingest", broken).code == 1
    assert rag("search", "lead time").code == 0


def test_a_first_ingest_of_which_some_comes_leaves_an_index(rag, broken, pdfs):
    assert rag("ingest", broken, pdfs / "valve.pdf").code == 0
    assert "twelve weeks" in rag("search", "lead time").out


def test_an_index_that_was_emptied_says_so_in_place_of_an_answer(rag, pdfs):
    rag("ingest", pdfs / "valve.pdf")
    rag("remove", "valve.pdf")
    for command in ("ask", "search", "explain"):
        done = rag(command, "What is the lead time?")
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("error: there is nothing in .rag: no file was ingested")
    assert rag("info").code == 0


def test_an_empty_index_beside_one_that_is_not_is_no_error(rag, index, model, place):
    Index.create(place / "other", embed_model=model).close()
    assert rag("search", "lead time", "--index", ".rag", "--index", "other").code == 0


def test_a_folder_of_the_user_is_refused_with_a_hint_that_works(rag, pdfs):
    done = rag("ingest", pdfs, "--index", pdfs)
    assert done.code == 1
    assert "holds other files ('crane.pdf', 'valve.pdf'), so no index is made in it" in done.err
    hint = done.err.rsplit("such as ", 1)[1].removesuffix(")\n")
    assert rag("ingest", pdfs, "--index", hint).code == 0


def test_what_another_process_put_in_meanwhile_is_not_removed(tmp_path, model):
    make_pdf(tmp_path / "a.pdf", ["Cats sit on mats."])
    with Index.create(tmp_path / "index", embed_model=model) as index:
        index.ingest(tmp_path / "a.pdf")
    assert not remove_if_empty(tmp_path / "index")
    with open_store(tmp_path / "index") as store:
        assert store.verify() == []


def test_an_index_that_goes_while_another_ingest_waits_for_it_is_made_again(
    rag, broken, pdfs, monkeypatch, model
):
    """Two first ingests at once, and nothing comes of the one that made the index."""
    Index.create(".rag", embed_model=model).close()
    plain = Index.ingest

    def emptied_first(index, *inputs, **options):
        monkeypatch.setattr(Index, "ingest", plain)
        assert remove_if_empty(index.path)
        return plain(index, *inputs, **options)

    monkeypatch.setattr(Index, "ingest", emptied_first)
    assert rag("ingest", pdfs / "valve.pdf").code == 0
    assert "twelve weeks" in rag("search", "lead time").out
