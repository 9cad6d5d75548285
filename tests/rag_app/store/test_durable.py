"""What is reported is on disk: seen in the order of the system calls."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rag_app.store.merging import merge
from rag_app.store.sqlite.schema import DATABASE
from rag_app.store.sqlite.store import create_store
from tests.rag_app.store.make import CONFIG, prepared

# A reader on the first generation, so that no checkpoint can sync what is written.
WRITES = """
import sys
from pathlib import Path
from rag_app.store.sqlite.store import open_store
from tests.rag_app.store.make import prepared
with open_store(Path(sys.argv[1])) as store, store.snapshot() as held:
    held.names()
    with store.writer() as writer:
        for n in range(3):
            writer.put(prepared(f"/{n}.pdf", [f"Text number {n}."]))
            print("added", n, flush=True)
        writer.add_name(held_hash := writer._sql.execute(
            "SELECT content_hash FROM contents").fetchone()[0], "/again.pdf")
        print("added", "again", flush=True)
        writer.remove(["/0.pdf"])
        print("removed", 0, flush=True)
"""
CALL = re.compile(r"(pwrite64|fdatasync|fsync|write)\(\d+<([^>]*)>(.*)")


def traced(script: str, *args: object) -> list[tuple[str, str, str]]:
    """Run a script; return its writes and syncs in order: (call, file, rest of the line)."""
    calls = "trace=pwrite64,fdatasync,fsync,write"
    strace = ["strace", "-f", "-y", "-qq", "-o", "/dev/stderr", "-s", "40", "-e", calls]
    done = subprocess.run(
        [*strace, sys.executable, "-c", script, *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in done.stderr:
        pytest.skip("system calls may not be traced here")
    assert done.returncode == 0, done.stderr[-2000:]
    found = (match.groups() for match in map(CALL.search, done.stderr.splitlines()) if match)
    return [(call, file, rest) for call, file, rest in found]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_each_line_is_printed_when_the_log_is_on_disk_though_a_reader_holds_it(
    tmp_path: Path,
) -> None:
    create_store(tmp_path / "index", CONFIG).close()
    log = str(tmp_path / "index" / f"{DATABASE}-wal")
    waiting, writes, said = False, 0, 0
    for call, file, rest in traced(WRITES, tmp_path / "index"):
        if file == log:
            waiting = call == "pwrite64"
            writes += waiting
        elif call == "write" and ("added" in rest or "removed" in rest):
            said += 1
            assert not waiting, "it was said before the log was synced"
            assert writes, "nothing was written between two lines"
            writes = 0
    assert said == 5


def test_a_commit_waits_for_the_disk_also_when_a_reader_holds_an_older_generation(
    tmp_path: Path,
) -> None:
    full = 2  # PRAGMA synchronous: the log is synced after each transaction
    with create_store(tmp_path / "index", CONFIG) as store, store.snapshot() as held:
        assert held.names() == []
        with store.writer() as writer:
            writer.put(prepared("/a.pdf", ["Cats sit."]))
            assert writer._sql.execute("PRAGMA synchronous").fetchone() == (full,)
            assert (store.path / f"{DATABASE}-wal").stat().st_size > 0


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list that grows with each file or folder that is synced by Python."""
    paths: list[Path] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        paths.append(Path(f"/proc/self/fd/{handle}").readlink())
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return paths


linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


@linux
def test_the_names_of_a_new_index_and_of_its_new_folders_are_on_disk(
    tmp_path: Path, synced: list[Path]
) -> None:
    create_store(tmp_path / "a" / "b", CONFIG).close()
    assert {tmp_path, tmp_path / "a", tmp_path / "a" / "b"} <= set(synced)


@linux
def test_the_names_of_a_merged_index_are_on_disk(tmp_path: Path, synced: list[Path]) -> None:
    with create_store(tmp_path / "one", CONFIG) as store, store.writer() as writer:
        writer.put(prepared("/a.pdf", ["Cats sit."]))
    synced.clear()
    merge({"one": tmp_path / "one"}, tmp_path / "new" / "merged")
    assert {tmp_path, tmp_path / "new", tmp_path / "new" / "merged"} <= set(synced)
