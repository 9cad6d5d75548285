"""A path or a URL leads to its engine; a scheme that nobody serves is refused."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from pipelines.errors import ConfigError, IndexExistsError
from rag_app.store import check_new, create_store, is_index, local_folder, open_store, opening
from tests.rag_app.store.make import CONFIG


def test_a_path_and_its_file_url_open_the_same_index(tmp_path: Path) -> None:
    folder = tmp_path / "an index"
    create_store(folder, CONFIG).close()
    for url in (folder, str(folder), folder.as_uri()):
        with closing(open_store(url)) as store:
            assert store.path == folder


@pytest.mark.parametrize("url", ["postgres://u:secret@host/db", "QDRANT://host"])
def test_an_unknown_scheme_is_refused_and_the_known_ones_are_named(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_store(url)
    assert "file://" in str(caught.value.hint)
    assert "secret" not in f"{caught.value}{caught.value.hint}"


def test_a_url_is_new_until_an_index_is_made_there(tmp_path: Path) -> None:
    url = (tmp_path / "made").as_uri()
    check_new(url)
    assert not is_index(url)
    create_store(url, CONFIG).close()
    assert is_index(url)
    with pytest.raises(IndexExistsError):
        check_new(url)


def test_a_local_folder_is_that_of_a_path_or_a_file_url(tmp_path: Path) -> None:
    assert local_folder(tmp_path.as_uri()) == local_folder(str(tmp_path)) == tmp_path


def test_an_index_of_another_engine_is_no_local_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(opening._ENGINES, "memory", "rag_app.store.sqlite.store")
    with pytest.raises(ConfigError, match="memory://a is no folder"):
        local_folder("memory://a")


def test_a_file_url_of_another_machine_is_refused() -> None:
    with pytest.raises(ConfigError, match="another machine"):
        open_store("file://server/share/index")
