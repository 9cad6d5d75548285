"""A full disk: what was finished stays, what was not is said, and the next run goes on."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import StoreError
from rag_app.store.merging import merge
from rag_app.store.sqlite.store import create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared

EXIT_AS_WANTED = 7


def fill(path: Path, limit: int) -> None:
    """Write until no file may grow any more; exit as wanted when our error says so."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    with open_store(path) as store:
        try:
            with store.writer() as writer:
                for n in range(1000):
                    writer.put(prepared(f"/{n}.pdf", [f"Text {n} is here. And more of {n}."] * 20))
        except StoreError as error:
            if "free space" in error.hint:
                os._exit(EXIT_AS_WANTED)


def fails_as_wanted(work: Callable[[], None], limit: int) -> bool:
    """Do the work in a child in which no file may grow beyond a limit; tell whether we say so."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            work()
        except StoreError as error:
            if "free space" in error.hint:
                os._exit(EXIT_AS_WANTED)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == EXIT_AS_WANTED


@pytest.mark.parametrize("limit", [100, 20_000, 100_000])
def test_an_index_that_could_not_be_made_leaves_nothing(tmp_path: Path, limit: int) -> None:
    assert fails_as_wanted(lambda: create_store(tmp_path / "a" / "b", CONFIG).close(), limit)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", [100, 50_000, 250_000, 400_000])
def test_a_merge_that_a_full_disk_stops_leaves_nothing(tmp_path: Path, limit: int) -> None:
    with create_store(tmp_path / "one", CONFIG) as store, store.writer() as writer:
        for n in range(30):
            writer.put(prepared(f"/{n}.pdf", [f"Text {n} is here. And more of {n}."] * 20))
    assert fails_as_wanted(lambda: merge_into(tmp_path, "new"), limit)
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    merge_into(tmp_path, "new")
    with open_store(tmp_path / "new") as store, store.snapshot() as snapshot:
        assert len(snapshot.names()) == 30


def merge_into(folder: Path, name: str) -> None:
    merge({"one": folder / "one"}, folder / name)


def test_a_disk_that_fills_up_leaves_each_file_whole(tmp_path: Path) -> None:
    for limit in (500_000, 700_000, 1_000_000):
        path = tmp_path / str(limit)
        create_store(path, CONFIG).close()
        child = os.fork()
        if child == 0:
            try:
                fill(path, limit)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == EXIT_AS_WANTED
        with open_store(path) as store:
            assert store.verify() == []
            with store.snapshot() as snapshot:
                count = len(snapshot.sources())
                assert count >= 1
                assert all(source.nodes["parent"] == 20 for source in snapshot.sources())
            with store.writer() as writer:
                writer.put(prepared("/more.pdf", ["There is room again."]))
            assert store.verify() == []
            with store.snapshot() as snapshot:
                assert len(snapshot.sources()) == count + 1
                assert snapshot.search_words("parent", ["room"], 5)
