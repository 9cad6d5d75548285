"""The sources of the last answer in the user's cache."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pipelines.errors import ConfigError
from rag_app.cli.last_answer import recall, remember, source_of

SOURCE = {
    "file": "a.pdf",
    "path": "docs/a.pdf",
    "page": 2,
    "pages": [2],
    "quotes": [{"text": "Rent is £5.", "pages": [2], "start": 1, "end": 2, "verified": True}],
    "read_by": "text",
    "content_hash": "f" * 64,
}


def test_what_is_remembered_is_recalled_with_an_absolute_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    remember(tmp_path / "cache", {"citations": [SOURCE], "closest": [], "question": "secret?"})
    monkeypatch.chdir("/")
    source = source_of(tmp_path / "cache", 1)
    assert (source.path, source.page) == (str(tmp_path / "docs/a.pdf"), 2)
    assert [quote.text for quote in source.quotes] == ["Rent is £5."]


def test_it_is_for_the_user_alone_and_holds_no_question(tmp_path):
    remember(tmp_path / "cache", {"citations": [SOURCE], "closest": [], "question": "secret?"})
    (file,) = (tmp_path / "cache").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert "secret" not in file.read_text()


def test_the_closest_passages_stand_in_where_nothing_is_cited(tmp_path):
    remember(tmp_path, {"citations": [], "closest": [SOURCE, SOURCE]})
    assert [one.number for one in recall(tmp_path)] == [1, 2]


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", '[{"file": 1}]', json.dumps([SOURCE | {"page": "x"}]), "[" * 9999]
)
def test_a_file_that_is_damaged_is_an_error_that_says_to_ask_again(tmp_path, content):
    (tmp_path / "last-answer.json").write_text(content)
    with pytest.raises(ConfigError, match="no last answer"):
        recall(tmp_path)


def test_a_link_in_its_place_is_replaced_and_not_written_through(tmp_path):
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "last-answer.json").symlink_to(other)
    remember(tmp_path / "cache", {"citations": [SOURCE], "closest": []})
    assert other.read_text() == "mine"
    assert recall(tmp_path / "cache")


def test_a_pipe_in_its_place_is_an_error_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "last-answer.json")
    with pytest.raises(ConfigError, match="no last answer"):
        recall(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_cannot_be_written_costs_no_answer(tmp_path):
    tmp_path.chmod(0o500)
    remember(Path(tmp_path, "cache"), {"citations": [SOURCE], "closest": []})
