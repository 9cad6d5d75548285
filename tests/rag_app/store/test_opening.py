"""A path or a URL leads to its engine; a scheme that nobody serves is refused."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from pipelines.errors import ConfigError
from rag_app.store import create_store, open_store
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


def test_a_file_url_of_another_machine_is_refused() -> None:
    with pytest.raises(ConfigError, match="another machine"):
        open_store("file://server/share/index")
