"""Long work: what is seen of it, and what an interrupt leaves behind.

Nothing here waits by the clock: the model stops at a file and says so through a pipe.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TextIO

import pytest

from rag_app.cli import signals
from rag_app.index import Index
from rag_app.store.sqlite import build, drafts
from tests.rag_app.cli.test_app import FORK, ROOT, forked
from tests.support.embedding import HashEmbedding, hash_vector

LIMIT = 20  # seconds after which a test has failed
SAID = "interrupted: 1 of 2 files are in .rag; run the same command again to go on\n"


@pytest.fixture(autouse=True)
def children() -> Iterator[None]:
    """End what a failed test leaves behind."""
    yield
    for child in FORK.active_children():
        child.kill()


@dataclass(frozen=True)
class Gate:
    """Where the model stops at valve.pdf, in a child: crane.pdf is in the index then."""

    reached: int
    opened: int

    def wait(self) -> None:
        """Wait until the model stands there."""
        assert readable(self.reached)
        os.read(self.reached, 1)

    def open(self) -> None:
        os.write(self.opened, b"x")


def readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], LIMIT)[0])


def stand_at(descriptor: int) -> None:
    """Wait for a byte. A signal that comes just before a call that blocks would wait with it."""
    while not select.select([descriptor], [], [], 0.05)[0]:
        pass
    os.read(descriptor, 1)


@pytest.fixture
def gate(model, monkeypatch) -> Iterator[Gate]:
    here = os.getpid()
    reached, stop = os.pipe()
    go, opened = os.pipe()

    def embed(_: HashEmbedding, text: str) -> list[float]:
        if "valve" in text and os.getpid() != here:
            os.write(stop, b"x")
            stand_at(go)
        return hash_vector(text)

    with monkeypatch.context() as patched:
        patched.setattr("rag_app.ingest.waiting.MIN_TEXTS", 1)
        patched.setattr(HashEmbedding, "_get_text_embedding", embed)
        yield Gate(reached, opened)
    for descriptor in (reached, stop, go, opened):
        os.close(descriptor)


def in_a_group_of_its_own(arguments: list[str], stdout: TextIO, stderr: TextIO) -> BaseProcess:
    """Start the program as a shell does: Ctrl-C reaches it and what it has started."""
    ready, told = os.pipe()

    def target() -> None:
        os.setsid()
        os.write(told, b"x")
        for number, stream in enumerate((stdout, stderr), start=1):
            os.dup2(stream.fileno(), number)
        sys.stdout, sys.stderr = (
            os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2)
        )
        sys.argv[1:] = arguments
        from rag_app.__main__ import main

        code = main()
        sys.stderr.flush()
        os._exit(code)

    process = FORK.Process(target=target)
    process.start()
    os.read(ready, 1)
    os.close(ready)
    os.close(told)
    return process


def ended(process: BaseProcess) -> int | None:
    process.join(LIMIT)
    if process.is_alive():
        process.kill()
    return process.exitcode


@pytest.fixture
def output(tmp_path) -> Iterator[TextIO]:
    with (tmp_path / "output").open("w+", encoding="utf-8") as stream:
        yield stream


def text_of(stream: TextIO) -> str:
    stream.seek(0)
    return stream.read()


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_without_a_terminal_a_file_is_a_line_as_soon_as_it_is_in(pdfs, gate, arguments):
    read, write = os.pipe()
    with os.fdopen(write, "w") as stream, Path(os.devnull).open("w") as nowhere:
        streams = (nowhere, stream) if arguments else (stream, nowhere)
        process = forked(["ingest", str(pdfs), *arguments], *streams)
    gate.wait()
    assert readable(read)
    line = os.read(read, 1000).decode()
    assert line.split() == ["added", "pdfs/crane.pdf:", "1", "pages,", "2", "nodes"]
    gate.open()
    with os.fdopen(read) as stream:
        assert stream.readline().split()[:2] == ["added", "pdfs/valve.pdf:"]
    assert ended(process) == 0


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "terminated"),
    ],
)
def test_an_interrupt_keeps_what_is_in_and_says_how_to_go_on(
    rag, pdfs, gate, output, number, code, word
):
    process = in_a_group_of_its_own(["ingest", str(pdfs), "--workers", "2"], output, output)
    gate.wait()
    os.killpg(process.pid, number)
    assert ended(process) == code
    lines = text_of(output).splitlines()
    assert [line.split(":")[0] for line in lines] == ["added      pdfs/crane.pdf", word]
    assert lines[1] == SAID.rstrip().replace("interrupted", word)
    assert rag("info", "--verify").code == 0


def test_the_same_command_again_goes_on(rag, pdfs, gate, output):
    process = forked(["ingest", str(pdfs)], output, output)
    gate.wait()
    os.kill(process.pid, signal.SIGINT)
    assert ended(process) == 130
    report = rag("ingest", pdfs, "--json").json
    assert [file["status"] for file in report["files"]] == ["unchanged", "added"]
    assert "twelve weeks" in rag("search", "lead time").out


def test_the_bar_is_gone_after_an_interrupt_and_the_cursor_is_back(pdfs, gate, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal, Path(os.devnull).open("w") as nowhere:
        process = forked(["ingest", str(pdfs)], nowhere, terminal)
    gate.wait()
    seen = ""
    for _ in range(1000):
        if "embedding valve.pdf" in seen or not readable(ours):
            break
        seen += os.read(ours, 10_000).decode()
    assert "embedding valve.pdf" in seen
    os.kill(process.pid, signal.SIGINT)
    assert ended(process) == 130
    with contextlib.suppress(OSError):  # how Linux says that nobody holds the other end
        while readable(ours) and (more := os.read(ours, 10_000)):
            seen += more.decode()
    os.close(ours)
    assert screen(seen) == SAID
    assert seen.rfind("\x1b[?25h") > seen.rfind("\x1b[?25l")


def screen(written: str) -> str:
    """Return what a terminal shows of this: its lines, each as it was last written."""
    lines = [""]
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r\n|\r|\n|[^\x1b\r\n]+", written):
        if part in ("\r\n", "\n"):
            lines.append("")
        elif part == "\x1b[2K":
            lines[-1] = ""
        elif part.startswith("\x1b[") and part.endswith("A"):
            del lines[-1]
        elif part[0] not in "\x1b\r":
            lines[-1] += part
    return "\n".join(lines)


def test_a_second_interrupt_ends_at_once(output):
    """The first one is caught by work that does not end."""
    caught, told = os.pipe()
    never, _never = os.pipe()

    def stubborn() -> None:
        with signals.handled():
            try:
                os.write(told, b"begun")
                stand_at(never)
            except KeyboardInterrupt:
                os.write(told, b"caught")
                stand_at(never)

    process = FORK.Process(target=stubborn)
    process.start()
    for expected in (b"begun", b"caught"):
        assert readable(caught)
        assert os.read(caught, 10) == expected
        os.kill(process.pid, signal.SIGINT)
    assert ended(process) == 130
    for descriptor in (caught, told, never, _never):
        os.close(descriptor)


def test_what_whoever_started_it_ignores_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals.handled():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_handlers_of_the_caller_are_put_back():
    kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(kind) for kind in kinds]
    with signals.handled():
        assert signal.getsignal(signal.SIGTERM) is not before[1]
    assert [signal.getsignal(kind) for kind in kinds] == before


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_while_the_model_loads_leaves_no_index(rag, pdfs, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("rag_app.facade.opening.load_embedding", interrupt)
        done = rag("ingest", pdfs)
    assert (done.code, done.out) == (130, "")
    assert done.err == "interrupted: nothing was begun; run the same command again\n"
    assert not Path(".rag").exists()


@pytest.mark.parametrize(
    "step", ["rag_app.ingest.inputs.content_hash", "rag_app.ingest.run.parse_all"]
)
def test_an_interrupt_before_anything_is_in_says_so(rag, pdfs, monkeypatch, step):
    with monkeypatch.context() as patched:
        patched.setattr(step, interrupt)
        done = rag("ingest", pdfs)
    assert (done.code, done.out) == (130, "")
    assert done.err == SAID.replace("1 of 2", "0 of 2")
    assert rag("ingest", pdfs).code == 0


def test_an_interrupt_while_derived_files_are_built_leaves_all_files_in(rag, pdfs, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(build, "build_derived", interrupt)
        done = rag("ingest", pdfs)
    assert done.code == 130
    assert done.err == SAID.replace("1 of 2", "2 of 2")
    assert rag("info", "--verify").code == 0
    assert "twelve weeks" in rag("search", "lead time").out


def test_an_interrupt_while_a_file_is_written_leaves_it_out(rag, pdfs, monkeypatch):
    from rag_app.store.sqlite import contents

    with monkeypatch.context() as patched:
        patched.setattr(contents, "insert", interrupt)
        assert rag("ingest", pdfs).err == SAID.replace("1 of 2", "0 of 2")
    # An index into which nothing came is not left behind.
    assert not Path(".rag").exists()
    assert rag("ingest", pdfs).code == 0
    assert rag("info", "--verify").code == 0


def test_an_interrupted_merge_leaves_no_index_and_its_sources_as_they_are(rag, two, monkeypatch):
    for number, file in enumerate(two):
        rag("ingest", file, "--index", f"part{number}")
    with monkeypatch.context() as patched:
        patched.setattr(drafts, "_move", interrupt)
        done = rag("merge", "part0", "part1", "--into", "whole")
    assert (done.code, done.out) == (130, "")
    assert done.err == "interrupted: whole was not made; the sources are as they were\n"
    assert rag("info", "--index", "whole").code == 1
    assert rag("merge", "part0", "part1", "--into", "whole").code == 0
    assert rag("info", "--index", "whole", "--verify").code == 0


def test_an_interrupt_while_pdfs_are_read_for_a_question_keeps_what_was_read(
    rag, two, model, monkeypatch
):
    plain: Callable[..., object] = Index.ingest

    def second(index: Index, *inputs: object, **options: object) -> object:
        if str(two[1]) in map(str, inputs):
            raise KeyboardInterrupt
        return plain(index, *inputs, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Index, "ingest", second)
        done = rag("ask", "What is the lead time?", *two)
    assert done.code == 130
    assert "Traceback" not in done.err
    assert done.err.endswith("interrupted: what was read is cached; ask again to go on\n")
    again = rag("ask", "What is the lead time?", *two)
    assert again.code == 0
    assert again.err == "reading pdfs/crane.pdf\n"


def test_an_interrupt_while_questions_are_awaited_is_one_line(tmp_path):
    """Opening the pipe to write waits until the program has opened it to read."""
    pipe = tmp_path / "questions"
    os.mkfifo(pipe)
    with (
        subprocess.Popen(
            [sys.executable, "-m", "rag_app", "ask", "--questions", str(pipe)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
        pipe.open("w"),
    ):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
