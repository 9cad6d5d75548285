"""The folder of an index: which names in it are ours, and what may be removed."""

from __future__ import annotations

import sqlite3

import pytest

from pipelines.errors import FolderNotEmptyError, IndexUnsafeError
from rag_app.store.sqlite import folders
from rag_app.store.sqlite.schema import DATABASE, DERIVED, LOCK, create_tables


def test_drafts_and_their_logs_have_names_of_their_own():
    for draft in (folders.new_database_draft(), folders.new_merge_draft()):
        assert folders.is_draft(draft)
        assert folders.is_draft(f"{draft}-wal")
        assert draft != folders.new_database_draft()
    for name in (DATABASE, "report.pdf", "rag-merging-mine", f"{DATABASE}.new"):
        assert not folders.is_draft(name)


def test_our_database_is_told_by_its_first_bytes(tmp_path):
    for name, ours in (("ours", True), ("theirs", False)):
        sql = sqlite3.connect(tmp_path / name, isolation_level=None)
        if ours:
            create_tables(sql, "{}")
        else:
            sql.execute("CREATE TABLE notes (text)")
        sql.close()
        assert folders.is_our_database(tmp_path / name) == ours
    (tmp_path / "empty").touch()
    assert not folders.is_our_database(tmp_path / "empty")


def test_a_free_folder_is_empty_or_holds_only_our_files(tmp_path):
    folders.check_free(tmp_path / "missing")
    (tmp_path / LOCK).touch()
    (tmp_path / ".DS_Store").touch()
    folders.check_free(tmp_path)
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(FolderNotEmptyError, match=r"thesis\.txt"):
        folders.check_free(tmp_path)
    folders.check_free(tmp_path, recorded=["thesis.txt"])


def test_folders_that_were_made_are_named_inmost_first_and_private_if_asked(
    tmp_path,
):
    made = folders.make_folders(tmp_path / "a" / "b", private=True)
    assert [path.name for path in made] == ["b", "a"]
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_only_recorded_drafts_of_our_form_are_removed(tmp_path):
    draft, merge = folders.new_database_draft(), folders.new_merge_draft()
    for name in (draft, f"{draft}-wal", "mine.txt"):
        (tmp_path / name).touch()
    (tmp_path / merge).mkdir()
    folders.clear_drafts(tmp_path, ["mine.txt", "../outside"])
    assert (tmp_path / draft).exists()
    folders.clear_drafts(tmp_path, [draft, merge])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt"]


def test_links_are_refused_and_never_removed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / DERIVED).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IndexUnsafeError, match=DERIVED):
        folders.refuse_links(tmp_path / "index")
    folders.remove_tree(tmp_path / "index" / DERIVED)
    folders.remove_file(tmp_path / "index" / DERIVED)
    assert (tmp_path / "index" / DERIVED).is_symlink()


def test_derived_files_are_removed_by_their_form(tmp_path):
    (tmp_path / DERIVED).mkdir()
    ours = "vectors-1-x-0000000001-000001-0a1b2c3d.arrays"
    for name in (ours, f"{ours}.new", "mine.arrays"):
        (tmp_path / DERIVED / name).touch()
    folders.remove_derived(tmp_path)
    assert [path.name for path in (tmp_path / DERIVED).iterdir()] == ["mine.arrays"]
