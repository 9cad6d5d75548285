"""An index that is built beside its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import IndexExistsError
from rag_app.store.sqlite.drafts import drafted_store
from rag_app.store.sqlite.store import is_index, open_store
from tests.rag_app.store.make import CONFIG, prepared


def test_an_index_is_in_its_place_when_it_is_complete_and_not_before(tmp_path: Path) -> None:
    with drafted_store(tmp_path / "new", CONFIG) as store, store.writer() as writer:
        writer.put(prepared("a.pdf", ["Cats sit."]))
        assert not is_index(tmp_path / "new")
    with open_store(tmp_path / "new") as opened, opened.snapshot() as snapshot:
        assert snapshot.names() == ["a.pdf"]


def test_an_index_that_is_given_up_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    with pytest.raises(KeyError), drafted_store(tmp_path / "new", CONFIG):
        raise KeyError
    assert not (tmp_path / "new").exists()


def test_an_index_that_is_there_stays(tmp_path: Path) -> None:
    with drafted_store(tmp_path / "new", CONFIG):
        pass
    with pytest.raises(IndexExistsError), drafted_store(tmp_path / "new", CONFIG):
        pass
    assert is_index(tmp_path / "new")
