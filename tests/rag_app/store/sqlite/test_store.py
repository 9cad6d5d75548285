"""Making, opening and removing an index in a folder."""

from __future__ import annotations

import pytest

from pipelines.errors import (
    FolderNotEmptyError,
    IndexExistsError,
    IndexMismatchError,
    IndexNotFoundError,
)
from rag_app.store.sqlite.store import (
    check_new,
    claimed,
    create_store,
    is_index,
    open_store,
    remove_if_empty,
)
from tests.rag_app.store.make import CONFIG
from tests.rag_app.store.sqlite.conftest import CATS


def test_a_new_index_is_empty_and_records_its_configuration(tmp_path):
    store = create_store(tmp_path / "a" / "index", CONFIG, private=True)
    assert (store.config, is_index(store.path)) == (CONFIG, True)
    assert store.path.stat().st_mode & 0o777 == 0o700
    with store.snapshot() as snapshot:
        assert snapshot.is_empty()
    store.close()
    assert open_store(store.path).config == CONFIG


def test_a_folder_that_is_not_free_is_refused(tmp_path):
    create_store(tmp_path / "index", CONFIG).close()
    with pytest.raises(IndexExistsError):
        create_store(tmp_path / "index", CONFIG)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    with pytest.raises(FolderNotEmptyError):
        check_new(tmp_path / "full")
    with pytest.raises(IndexNotFoundError):
        open_store(tmp_path / "full")


def test_a_claim_that_fails_leaves_no_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), claimed(tmp_path / "a" / "b"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_only_an_index_without_contents_is_removed_and_other_files_stay(tmp_path):
    store = create_store(tmp_path, CONFIG)
    with store.writer() as writer:
        writer.put(CATS)
    store.close()
    assert not remove_if_empty(tmp_path)
    with open_store(tmp_path).writer() as writer:
        writer.remove(["/cats.pdf"])
    (tmp_path / "mine.txt").touch()
    assert remove_if_empty(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_writer_configures_and_a_reader_sees_it(tmp_path):
    store = create_store(tmp_path, CONFIG)
    with store.writer() as writer, pytest.raises(IndexMismatchError):
        writer.configure(CONFIG.__class__(**{**vars_of(CONFIG), "dimension": 7}))
    assert store.config == CONFIG
    store.close()


def vars_of(config):
    return {name: getattr(config, name) for name in config.__dataclass_fields__}
