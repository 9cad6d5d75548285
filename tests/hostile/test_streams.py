"""Standard streams that are closed, full or read by nobody: an exit code, never a traceback."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_app.__main__ import main
from tests.support.hanging import MAX_HANG_S

FORK = multiprocessing.get_context("fork")
QUESTION = "What is the lead time of the valve?"
# Of each command: its arguments, whether results go to stdout, its exit code.
COMMANDS: list[tuple[list[str], bool, int]] = [
    (["--version"], True, 0),
    (["--help"], True, 0),
    (["ask", "--help"], True, 0),
    ([], False, 2),
    (["cache"], False, 2),
    (["nonsense"], False, 2),
    (["ask", "--nonsense"], False, 2),
    (["ingest", "pdfs"], True, 0),
    (["ingest", "pdfs", "--json"], True, 0),
    (["ask", QUESTION], True, 0),
    (["ask", QUESTION, "--json"], True, 0),
    (["ask", QUESTION, "pdfs/valve.pdf"], True, 0),
    (["ask", "--questions", "q.jsonl"], True, 0),
    (["search", "valve"], True, 0),
    (["explain", "valve"], True, 0),
    (["info"], True, 0),
    (["info", "--index", "nowhere"], False, 1),
    (["remove", "nothing.pdf"], False, 1),
    (["eval", "q.jsonl"], True, 0),
    (["trust", "--forget"], True, 0),
    (["cache", "info"], True, 0),
    (["cache", "clear"], True, 0),
]


def closed(number: int) -> None:
    """Leave a descriptor as a shell's ``>&-`` does."""
    os.close(number)
    name = ("stdin", "stdout", "stderr")[number]
    setattr(sys, name, None)


def to(path: str, number: int) -> None:
    opened = os.open(path, os.O_WRONLY)
    os.dup2(opened, number)
    stream = os.fdopen(number, "w", encoding="utf-8", closefd=False)
    setattr(sys, ("stdin", "stdout", "stderr")[number], stream)


def to_nobody(number: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    os.dup2(writing, number)
    stream = os.fdopen(number, "w", encoding="utf-8", closefd=False)
    setattr(sys, ("stdin", "stdout", "stderr")[number], stream)


STDOUT = {
    "nobody reads": (lambda: to_nobody(1), 141, ""),
    "full": (lambda: to("/dev/full", 1), 1, "error: stdout: No space left on device\n"),
    "closed": (lambda: closed(1), 1, "error: stdout: Bad file descriptor\n"),
}
STDERR: dict[str, Callable[[], None]] = {
    "nobody reads": lambda: to_nobody(2),
    "full": lambda: to("/dev/full", 2),
    "closed": lambda: closed(2),
}


def ended(arguments: list[str], out: Path, err: Path, *states: Callable[[], None]) -> int | None:
    """Run the program in a fork whose streams are files, then in those states."""

    def target() -> None:
        to(str(out), 1)
        to(str(err), 2)
        for state in states:
            state()
        sys.argv[1:] = arguments
        code = main()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                code = 99
        os._exit(code)

    for file in (out, err):
        file.write_text("")
    process = FORK.Process(target=target)
    process.start()
    process.join(MAX_HANG_S)
    return process.exitcode


@pytest.fixture
def files(index, place, tmp_path) -> tuple[Path, Path]:
    record = {"question": QUESTION, "evidence": [{"file": "valve.pdf", "page": 2}]}
    (place / "q.jsonl").write_text(json.dumps(record))
    return tmp_path / "out", tmp_path / "err"


@pytest.mark.parametrize("state", STDOUT)
def test_stdout_that_takes_nothing_is_one_line_or_141_for_every_command(files, state):
    out, err = files
    change, code, said = STDOUT[state]
    for arguments, writes, usual in COMMANDS:
        found = ended(arguments, out, err, change)
        lines = err.read_text()
        assert "Traceback" not in lines, arguments
        assert found == (code if writes else usual), (arguments, lines)
        if writes:
            notes = [line for line in lines.splitlines(keepends=True) if "error" in line]
            assert "".join(notes) == said, arguments


@pytest.mark.parametrize("state", STDERR)
def test_stderr_that_takes_nothing_changes_no_result(files, state):
    out, err = files
    for arguments, writes, usual in COMMANDS:
        found = ended(arguments, out, err, STDERR[state])
        assert found == usual, arguments
        assert bool(out.read_text()) == writes, arguments


def test_all_streams_closed_is_an_exit_code_and_an_index_that_is_whole(files, rag):
    out, err = files
    states = [lambda n=n: closed(n) for n in (0, 1, 2)]
    for arguments, writes, usual in COMMANDS:
        assert ended(arguments, out, err, *states) == (1 if writes else usual), arguments
    assert rag("info", "--verify").code == 0


def test_the_real_program_with_closed_streams():
    for redirection, code in ((">&-", 1), ("2>&-", 0), ("<&-", 0), ("<&- >&- 2>&-", 1)):
        done = subprocess.run(
            ["/bin/sh", "-c", f'exec "$0" -m rag_app --version {redirection}', sys.executable],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, redirection
        assert "Traceback" not in done.stderr
