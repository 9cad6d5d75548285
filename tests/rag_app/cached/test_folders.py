from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pipelines.errors import IndexLockedError, StoreError
from rag_app import kinds
from rag_app.cached import folders
from rag_app.cached.folders import IndexCache, key_of
from rag_app.settings import Settings
from tests.support.hanging import MAX_HANG_S


def key(name: str) -> str:
    """Return a key of the form of the cache's own; equal names, equal keys."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"{digest[:40]}-{digest[40:52]}"


def left(cache: IndexCache) -> list[str]:
    """Return what lies in the cache, but its mark."""
    return sorted(path.name for path in cache.root.iterdir() if path.name != "CACHEDIR.TAG")


def filled(cache: IndexCache, name: str, size: int, used: float) -> None:
    with cache.change(key(name), wait=0) as folder:
        folder.mkdir()
        (folder / "data").write_bytes(b"x" * size)
        cache.note(key(name), [f"{name}.pdf"], complete=True)
    os.utime(cache.root / f"{key(name)}.lock", (used, used))


@pytest.fixture
def cache(tmp_path):
    cache = IndexCache(tmp_path / "cache", limit_mb=1)
    cache.prepare()
    return cache


def test_the_cache_is_for_its_owner_alone(cache):
    cache.root.chmod(0o755)
    cache.prepare()
    with cache.change(key("k"), wait=0):
        assert cache.root.stat().st_mode & 0o777 == 0o700
        assert (cache.root / key("k")).stat().st_mode & 0o777 == 0o700


def test_what_was_put_there_is_there_the_next_time(cache):
    filled(cache, "k", 10, used=1)
    with cache.use(key("k")) as folder:
        assert (folder / "data").read_bytes() == b"x" * 10


def test_of_what_was_never_put_there_no_trace_is_left(cache):
    with cache.use(key("k")) as folder:
        assert folder is None
    assert left(cache) == []


def test_entries_name_file_size_and_time_of_use_last_used_first(cache):
    filled(cache, "old", 10, used=1)
    filled(cache, "new", 20, used=2)
    entries = cache.entries()
    assert [(entry.files, entry.used) for entry in entries] == [
        (("new.pdf",), 2),
        (("old.pdf",), 1),
    ]
    assert all(entry.bytes >= 10 for entry in entries)


def test_trim_removes_what_was_not_used_for_longest(cache):
    for number, name in enumerate("abc"):
        filled(cache, name, 450_000, used=3 - number)
    assert [entry.key for entry in cache.trim()] == [key("c")]
    assert [entry.key for entry in cache.entries()] == [key("a"), key("b")]


def test_trim_never_removes_what_is_in_use(cache):
    filled(cache, "used", 700_000, used=1)
    filled(cache, "idle", 700_000, used=2)
    with cache.use(key("used")):
        os.utime(cache.root / f"{key('used')}.lock", (1, 1))
        assert [entry.key for entry in cache.trim()] == [key("idle")]


def test_trim_under_the_limit_removes_nothing(cache):
    filled(cache, "k", 10, used=1)
    assert cache.trim() == []


def test_clear_removes_all_and_tells_what_is_in_use(cache):
    filled(cache, "a", 10, used=1)
    filled(cache, "b", 10, used=2)
    with cache.use(key("b")):
        removed, in_use = cache.clear()
    assert ([k.key for k in removed], [k.key for k in in_use]) == ([key("a")], [key("b")])
    assert cache.clear()[0][0].key == key("b")
    assert left(cache) == []


def test_another_process_that_uses_an_index_keeps_it(cache):
    filled(cache, "k", 10, used=1)
    code = (
        "import sys; from pathlib import Path; from rag_app.cached.folders import IndexCache\n"
        f"with IndexCache(Path({str(cache.root)!r}), limit_mb=1).use({key('k')!r}):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"held\n"
        assert not cache.discard(key("k"))
        other.stdin.close()
        other.wait()
    assert cache.discard(key("k"))


def test_a_lock_file_that_was_removed_meanwhile_is_made_anew(cache):
    filled(cache, "k", 10, used=1)
    assert cache.discard(key("k"))
    with cache.change(key("k"), wait=0) as folder:
        assert not folder.exists()
        assert not cache.discard(key("k"))


def test_what_is_in_use_is_not_changed_and_what_is_changed_not_used(cache):
    filled(cache, "k", 10, used=1)
    locked = pytest.raises(IndexLockedError, match="another process uses")
    with cache.use(key("k")), cache.use(key("k")), locked, cache.change(key("k"), wait=0.05):
        pass
    told = []
    with ThreadPoolExecutor(1) as pool:

        def use() -> str:
            with cache.use(key("k"), lambda: told.append(1)) as folder:
                return (folder / "data").read_text()

        with cache.change(key("k"), wait=0) as folder:
            waiting = pool.submit(use)
            while not told:
                assert not waiting.done()
            (folder / "data").write_text("new")
        assert (waiting.result(MAX_HANG_S), told) == ("new", [1])


def test_who_asks_while_the_first_has_made_no_folder_yet_waits_for_it(cache, monkeypatch):
    monkeypatch.setattr(folders, "MIN_TOLD_WAIT_SECONDS", 0.0)
    told = threading.Event()

    def use() -> str:
        with cache.use(key("k"), told.set) as folder:
            return (folder / "data").read_text()

    with ThreadPoolExecutor(1) as pool:
        with cache.change(key("k"), wait=0) as folder:
            shutil.rmtree(folder.parent)
            waiting = pool.submit(use)
            assert told.wait(MAX_HANG_S)
            folder.mkdir(parents=True)
            (folder / "data").write_text("made")
        assert waiting.result(MAX_HANG_S) == "made"


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_who_begins_a_cache_at_the_same_moment_as_another_shares_it(tmp_path, monkeypatch, moment):
    root, plain, reads = tmp_path / "cache", IndexCache._mark, []

    def read(cache: IndexCache) -> str | None:
        found = plain(cache)
        reads.append(found)
        if len(reads) == moment:
            IndexCache(root, limit_mb=1).prepare()
        return found

    monkeypatch.setattr(IndexCache, "_mark", read)
    cache = IndexCache(root, limit_mb=1)
    cache.prepare()
    assert cache.entries() == []
    assert [path.name for path in root.iterdir()] == ["CACHEDIR.TAG"]


def test_a_cache_whose_mark_was_killed_while_it_was_written_is_begun_again(tmp_path):
    root = tmp_path / "cache"
    root.mkdir()
    (root / "CACHEDIR.TAG.0123abcd.new").write_text("Signature")
    IndexCache(root, limit_mb=1).prepare()
    assert (root / "CACHEDIR.TAG").read_text().startswith("Signature: ")


def test_a_removal_that_is_killed_leaves_no_half_of_an_index(cache, monkeypatch):
    filled(cache, "k", 10, used=1)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)  # killed before it
    assert cache.discard(key("k"))
    with cache.use(key("k")) as folder:
        assert folder is None
    monkeypatch.undo()
    assert cache.trim() == []
    assert left(cache) == []


def test_the_lock_of_a_run_that_was_killed_before_it_made_anything_is_cleared(cache):
    (cache.root / f"{key('k')}.lock").touch()
    assert cache.clear() == ([], [])
    assert left(cache) == []


def test_an_empty_cache_has_no_entries(cache):
    assert cache.entries() == []
    assert cache.clear() == ([], [])


def test_a_damaged_note_costs_the_name_only(cache):
    filled(cache, "k", 10, used=1)
    (cache.root / key("k") / "about.json").write_text("{")
    assert cache.entries()[0].files == ()
    assert not cache.is_complete(key("k"))


def test_a_cache_of_somebody_else_is_refused(cache, monkeypatch):
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(StoreError, match="another user"):
        cache.prepare()


def test_key_depends_on_contents_and_on_what_decides_the_index_only():
    a, b = "a" * 64, "b" * 64
    base = key_of([a], Settings(), ["hybrid"])
    assert base == key_of({a}, Settings(similarity_top_k=9, llm="like:x"), ["hybrid"])
    assert key_of([a, b], Settings(), ["hybrid"]) == key_of([b, a], Settings(), ["hybrid"])
    others = [
        key_of([b], Settings(), ["hybrid"]),
        key_of([a, b], Settings(), ["hybrid"]),
        key_of([a], Settings(), ["naive"]),
        key_of([a], Settings(embed_model="other"), ["hybrid"]),
        key_of([a], Settings(parent_size=512), ["hybrid"]),
    ]
    assert len({base, *others}) == 6


def test_an_index_is_made_again_after_an_upgrade_that_changes_what_a_pipeline_builds(monkeypatch):
    before = key_of(["a" * 64], Settings(), ["hybrid"])
    builds = dict(kinds.PIPELINES) | {"hybrid": kinds.Kinds(("child-64",), ("parent",))}
    monkeypatch.setattr(kinds, "PIPELINES", builds)
    assert key_of(["a" * 64], Settings(), ["hybrid"]) != before
