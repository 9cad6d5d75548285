"""Folders on this machine."""

from __future__ import annotations

from pathlib import Path

from rag_app.store.local_folders import folder_bytes, remove_folders


def test_the_size_of_a_folder_is_that_of_all_files_below_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"x" * 10)
    (tmp_path / "a" / "file").write_bytes(b"x" * 5)
    assert folder_bytes(tmp_path / "a") == 15
    assert folder_bytes(tmp_path / "missing") == 0


def test_folders_are_removed_only_while_they_are_empty(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "mine").touch()
    remove_folders([inner, inner.parent])
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["mine"]
