"""Indexes of PDFs: made once, merged, found again, and stale ones made anew."""

from __future__ import annotations

import logging
from contextlib import ExitStack

import pytest

from pipelines.errors import ReadError
from rag_app.cached.folders import IndexCache
from rag_app.cached.indexes import Notices, PdfIndexes, pipelines_of
from rag_app.retrieval.strategy import STRATEGIES, Arm, Strategy
from rag_app.settings import load_settings
from tests.rag_app.cli.conftest import CRANE
from tests.support.pdfs import make_pdf


@pytest.fixture
def opened(model, place):
    """Open the index of files, by a fresh instance each time; return its names."""

    def names(*paths, notices=None, unread=None):
        settings = load_settings()
        cache = IndexCache.of(settings)
        cache.prepare()
        with ExitStack() as stack:
            indexes = PdfIndexes(cache, settings, stack, notices=notices or Notices())
            index = indexes.open(paths)
            if unread is not None:
                unread.extend(indexes.unread)
            with index.store.snapshot() as snapshot:
                return [name.rsplit("/", 1)[-1] for name in snapshot.names()]

    return names


def test_an_index_is_made_once_and_found_again(opened, two, model):
    assert opened(*two) == ["crane.pdf", "valve.pdf"]
    embedded = model.embedded
    assert opened(*reversed(two)) == ["crane.pdf", "valve.pdf"]
    assert opened(two[0]) == ["valve.pdf"]
    assert model.embedded == embedded


def test_a_changed_file_is_read_again_and_the_others_are_not(opened, two, model):
    opened(*two)
    first = model.embedded
    make_pdf(two[1], [f"{CRANE} It is yellow."])
    assert opened(*two) == ["crane.pdf", "valve.pdf"]
    assert 0 < model.embedded - first < first


def test_the_same_content_under_two_names_is_one(opened, two):
    twin = two[0].with_name("twin.pdf")
    twin.write_bytes(two[0].read_bytes())
    assert opened(two[0], twin) == ["twin.pdf", "valve.pdf"]
    assert opened(two[0]) == ["valve.pdf"]


def test_unread_files_are_told_and_an_only_one_raises(opened, two, pdfs):
    empty = pdfs / "empty.pdf"
    empty.touch()
    told, unread = [], []
    assert opened(empty, *two, notices=Notices(on_unread=told.append), unread=unread) == [
        "crane.pdf",
        "valve.pdf",
    ]
    assert told == unread
    assert [one.paths for one in unread] == [(empty,)]
    with pytest.raises(ReadError):
        opened(empty)


def test_by_default_the_log_is_told(opened, two, pdfs, caplog):
    (pdfs / "empty.pdf").touch()
    with caplog.at_level(logging.WARNING, "rag_app.cached"):
        opened(pdfs / "empty.pdf", *two)
    assert "it was left out" in caplog.text


@pytest.mark.parametrize(
    ("strategy", "pipelines"),
    [
        (STRATEGIES["bm25"], ("bm25",)),
        (STRATEGIES["hybrid"], ("hybrid",)),
        (Strategy("s", (Arm("vectors", "sentence"),)), ("sentence_window",)),
        (Strategy("w", (Arm("words", "parent"), Arm("vectors", "parent", 0))), ("bm25",)),
    ],
)
def test_only_what_a_strategy_searches_is_built(strategy, pipelines):
    assert pipelines_of(strategy) == pipelines
