from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TextIO

import pytest

from rag_app import __version__
from rag_app.__main__ import main
from tests.support.hanging import MAX_HANG_S

ROOT = Path(__file__).parents[3]
FORK = multiprocessing.get_context("fork")
HEAVY = ("llama_index", "torch", "numpy", "pypdf", "pypdfium2", "openvino", "rich", "rag_app.index")


def start(*arguments: str, **kwargs) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rag_app", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **kwargs,
    )


def python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def forked(arguments: list[str], stdout: TextIO, stderr: TextIO) -> BaseProcess:
    """Run the program in a fork: what is imported here is not imported again."""

    def target() -> None:
        for number, stream in enumerate((stdout, stderr), start=1):
            os.dup2(stream.fileno(), number)
        sys.stdout, sys.stderr = (
            os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2)
        )
        sys.argv[1:] = arguments
        code = main()
        sys.stderr.flush()
        os._exit(code)

    process = FORK.Process(target=target)
    process.start()
    return process


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(argument):
    code = (
        "import sys; from rag_app.cli.app import run\n"
        f"code = run([{argument!r}])\n"
        f"print(sorted(m for m in {HEAVY!r} if m in sys.modules), file=sys.stderr)\n"
        "sys.exit(code)"
    )
    done = python(code)
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_version_and_module(rag):
    done = rag("--version")
    assert (done.code, done.out) == (0, f"rag {__version__}\n")
    with start("--version") as process:
        assert process.communicate() == (f"rag {__version__}\n", "")
    assert process.returncode == 0


def test_the_help_pages_in_the_documentation_are_the_real_ones():
    page = runpy.run_path(str(ROOT / "docs" / "make_cli.py"))["page"]()
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == page, (
        "run python docs/make_cli.py"
    )


def test_every_command_has_an_example_and_its_shared_options(rag):
    for command in ("ingest", "ask", "search", "explain", "info", "remove", "merge", "eval"):
        text = rag(command, "--help").out
        assert "Examples:\n" in text
        assert all(option in text for option in ("--json", "--quiet", "--verbose", "--config"))


@pytest.mark.parametrize("arguments", [["nonsense"], ["--nonsense"]])
def test_what_is_no_command_is_wrong_usage(rag, arguments):
    done = rag(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("(see 'rag --help')\n")
    assert done.err.count("\n") == 1


def test_a_reader_that_goes_away_is_no_error():
    with start("cache", "info", "--json") as process:
        # Closed before anything is written: what follows meets a broken pipe.
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_a_full_disk_behind_stdout_is_one_line(index, tmp_path):
    with Path("/dev/full").open("w") as full, (tmp_path / "err").open("w+") as err:
        process = forked(["info"], full, err)
        process.join(MAX_HANG_S)
        err.seek(0)
        said = err.read()
    assert process.exitcode == 1
    assert said == "error: stdout: No space left on device\n"


def test_ctrl_c_ends_with_130_and_one_line():
    with start("ask", "--questions", "-", stdin=subprocess.PIPE) as process:
        # More than a pipe holds: when it is written, the program waits for the rest.
        process.stdin.write("What is the lead time?\n" * 10_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=MAX_HANG_S)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1].startswith("interrupted")
    assert "Traceback" not in err


def test_two_processes_may_ask_the_same_pdf_at_once(rag, pdfs):
    command = ["ask", "What is the lead time?", str(pdfs / "valve.pdf"), "--strategy", "bm25"]
    with Path(os.devnull).open("w") as nowhere:
        processes = [forked(command, nowhere, nowhere) for _ in range(4)]
    for process in processes:
        process.join(MAX_HANG_S)
    assert [process.exitcode for process in processes] == [0] * 4
    assert len(rag("cache", "info", "--json").json["indexes"]) == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (BrokenPipeError(), 141, ""),
        (OSError(28, "No space left on device"), 1, "error: stdout: No space left on device\n"),
    ],
)
def test_what_happens_outside_a_command_is_one_line_too(rag, monkeypatch, error, code, said):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("rag_app.cli.app.app", fail)
    monkeypatch.setattr("rag_app.cli.app.abandon", lambda stream: None)
    done = rag("--version")
    assert (done.code, done.out, done.err) == (code, "", said)


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["nothing"], 2)])
def test_the_process_ends_with_its_exit_code_and_what_was_registered(arguments, code):
    program = (
        "import atexit, sys\n"
        "from rag_app.__main__ import script\n"
        "atexit.register(lambda: print('the last words'))\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "script()"
    )
    done = python(program)
    assert done.returncode == code
    assert done.stdout.endswith("the last words\n")
    assert ("error:" in done.stderr) == bool(code)


def test_what_a_thread_still_writes_at_the_end_is_not_lost():
    program = (
        "import sys, threading\n"
        "from rag_app.__main__ import script\n"
        "def last_words():\n"
        "    threading.main_thread().join()\n"
        "    print('the last words')\n"
        "threading.Thread(target=last_words).start()\n"
        "sys.argv[1:] = ['nothing']\n"
        "script()"
    )
    done = python(program)
    assert done.returncode == 2
    assert done.stdout.endswith("the last words\n")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_the_real_program_whose_reader_has_gone_ends_with_141_and_says_nothing(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "rag_app", *arguments],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
