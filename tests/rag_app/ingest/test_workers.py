"""Reading in other processes: same results, order kept, a crash is one file's error."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from pipelines import isolated
from pipelines.errors import CrashError, RagError
from rag_app.ingest.parsing import Chunking, Parsed
from rag_app.ingest.workers import parse_all
from tests.support.hanging import MAX_HANG_S
from tests.support.hostile_pdfs import write_bad_pdf
from tests.support.pdfs import make_pdf

CHUNKING = Chunking(1024, (128, 256), None, ("parent",), "pypdfium2")


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    made = [make_pdf(tmp_path / f"{n}.pdf", [f"Text number {n}."]) for n in range(5)]
    (tmp_path / "bad.pdf").write_bytes(b"")
    return [*made[:2], tmp_path / "bad.pdf", *made[2:]]


def test_workers_give_the_same_as_parsing_here(paths: list[Path]) -> None:
    here = list(parse_all(paths, CHUNKING, 0))
    there = list(parse_all(paths, CHUNKING, 2))
    assert [path for path, _ in there] == [path for path, _ in here] == paths
    for (_, one), (_, two) in zip(here, there, strict=True):
        assert type(one) is type(two)
        if isinstance(one, Parsed) and isinstance(two, Parsed):
            assert one.nodes == two.nodes
            assert one.terms == two.terms
            assert one.document == two.document
        elif isinstance(one, RagError) and isinstance(two, RagError):
            assert (one.message, one.hint) == (two.message, two.hint)


def test_a_file_that_ends_its_process_is_an_error_of_its_own(
    paths: list[Path], tmp_path: Path
) -> None:
    bad = write_bad_pdf(tmp_path / "bad.pdf", "page label cycle")
    outcomes = dict(parse_all([paths[0], bad, paths[1]], CHUNKING, 1))
    assert isinstance(outcomes[paths[0]], Parsed)
    assert isinstance(outcomes[paths[1]], Parsed)
    assert isinstance(outcomes[bad], CrashError)


def test_stopping_early_ends_the_workers(paths: list[Path]) -> None:
    isolated._kept.close()
    before = children()
    outcomes = parse_all(paths, CHUNKING, 2)
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]
    assert len(children() - before) <= isolated.MAX_IDLE
    isolated._kept.close()
    assert children() == before
    assert threading.active_count() == 1 or all(
        "serve" not in thread.name for thread in threading.enumerate()
    )


def children() -> set[str]:
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        # A thread may end between the listing and the reading.
        with contextlib.suppress(FileNotFoundError):
            found.update((task / "children").read_text().split())
    return found


def test_a_script_without_a_main_guard_may_ingest(tmp_path: Path, paths: list[Path]) -> None:
    """A worker does not run the caller's program a second time."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
            print("started")
            from pathlib import Path
            from rag_app.ingest.parsing import Chunking
            from rag_app.ingest.workers import parse_all
            chunking = Chunking(1024, (128,), None, ("parent",), "pypdfium2")
            print(len(list(parse_all([Path({str(paths[0])!r})], chunking, 1))))
        """)
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    assert done.stdout.split() == ["started", "1"]


def test_workers_go_when_their_parent_is_killed(tmp_path: Path, paths: list[Path]) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
            import sys
            from pathlib import Path
            from rag_app.ingest.parsing import Chunking
            from rag_app.ingest.workers import parse_all
            chunking = Chunking(1024, (128,), None, ("parent",), "pypdfium2")
            outcomes = parse_all([Path({str(paths[0])!r})] * 50, chunking, 1)
            next(outcomes)
            tasks = Path("/proc/self/task").iterdir()
            print("".join((task / "children").read_text() for task in tasks), flush=True)
            sys.stdin.read()
        """)
    )
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    ) as process:
        assert process.stdout is not None
        worker = os.pidfd_open(int(process.stdout.readline()))
        process.send_signal(signal.SIGKILL)
    try:
        ended, _, _ = select.select([worker], [], [], MAX_HANG_S)
    finally:
        os.close(worker)
    assert ended, "the worker outlived its parent"
