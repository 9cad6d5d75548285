from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rag_app import __version__
from rag_app.cli.app import run

ROOT = Path(__file__).parents[3]
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


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(argument):
    code = (
        "import sys; from rag_app.cli.app import run\n"
        f"code = run([{argument!r}])\n"
        f"print(sorted(m for m in {HEAVY!r} if m in sys.modules), file=sys.stderr)\n"
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
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


def test_a_reader_that_goes_away_is_no_error(index, rag):
    with start("search", "valve", "--json", "--strategy", "bm25") as process:
        # Closed before anything is written: what follows meets a broken pipe.
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_a_full_disk_behind_stdout_is_one_line(index):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rag_app", "info"],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("No space left on device\n")


def test_ctrl_c_ends_with_130_and_one_line():
    with start("ask", "--questions", "-", stdin=subprocess.PIPE) as process:
        # It waits for the questions.
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1].startswith("interrupted")
    assert "Traceback" not in err


SLOW = """
import sys, time
from rag_app import index
from tests.support.embedding import HashEmbedding

class Slow(HashEmbedding):
    def _get_text_embedding(self, text):
        print("embedding", file=sys.stderr, flush=True)
        time.sleep(0.3)
        return super()._get_text_embedding(text)

index.load_embedding = lambda settings: Slow()
from rag_app.__main__ import main
sys.exit(main())
"""


def test_ctrl_c_while_it_ingests_keeps_what_was_finished(rag, pdfs):
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, "ingest", str(pdfs)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr.readline() == "embedding\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == (
        "interrupted: what was finished is kept; run the same command again to go on"
    )
    assert "Traceback" not in err
    assert rag("info", "--verify").code == 0
    assert rag("ingest", pdfs).code == 0
    assert "twelve weeks" in rag("search", "lead time").out


def test_two_processes_may_ask_the_same_pdf_at_once(rag, pdfs):
    command = ["ask", "What is the lead time?", str(pdfs / "valve.pdf"), "--strategy", "bm25"]
    # Forked, so that what is imported here is not imported again.
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=lambda: os._exit(run(command))) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    assert len(rag("cache", "info", "--json").json["indexes"]) == 1
