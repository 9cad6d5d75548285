from __future__ import annotations

from pathlib import Path

import pytest

from rag_app.cached.folders import CachedIndex
from rag_app.cli import cache


def test_cache_info_and_clear(rag, pdfs):
    assert "0 cached indexes" in rag("cache", "info").out
    rag("ask", "What is the lead time?", pdfs / "valve.pdf", "--quiet")
    assert "pdfs/valve.pdf" in rag("cache", "info").out
    (cached,) = rag("cache", "info", "--json").json["indexes"]
    assert cached["files"] == [str(pdfs / "valve.pdf")]
    assert cached["bytes"] > 0
    cleared = rag("cache", "clear", "--json").json
    assert (cleared["removed"], cleared["in_use"]) == (1, 0)
    assert rag("cache", "info", "--json").json["indexes"] == []
    assert "removed 0 cached indexes" in rag("cache", "clear").out


@pytest.mark.parametrize("arguments", [["cache"], []])
def test_a_group_alone_shows_its_help(rag, arguments):
    done = rag(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: rag")


def test_the_folder_of_the_cache_is_for_its_owner(rag, pdfs):
    rag("ask", "What is the lead time?", pdfs / "valve.pdf")
    root = Path(rag("cache", "info", "--json").json["folder"])
    assert root.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("size", "shown"), [(149_999, 0.1), (1_250_001, 1.3), (0, 0.0), (12_345_678, 12.3)]
)
def test_size_of_a_cached_index_is_shown_to_a_tenth_of_a_megabyte(size, shown):
    row = cache._row(CachedIndex("key", ("/a.pdf",), size, 0.0))
    assert row[1] == shown
    assert row[2] == "1970-01-01T00:00:00+00:00"
