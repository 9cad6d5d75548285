"""Nothing connects anywhere unless a model is named: neither the program nor what it starts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pdfs import make_pdf

QUESTION = "What is the lead time of the valve?"
COMMANDS = [
    ["ingest", "pdfs", "--index", "a.idx"],
    ["ingest", "pdfs/crane.pdf", "--index", "b.idx", "--pipeline", "sentence_window"],
    ["ask", QUESTION, "--index", "a.idx"],
    ["ask", QUESTION, "pdfs/valve.pdf"],
    ["search", QUESTION, "--index", "a.idx", "--json"],
    ["explain", QUESTION, "--index", "a.idx"],
    ["merge", "a.idx", "b.idx", "--into", "c.idx"],
    ["info", "--index", "c.idx", "--verify"],
    ["eval", "q.jsonl", "--index", "a.idx"],
    ["repair", "--index", "a.idx"],
    ["remove", "pdfs/crane.pdf", "--index", "b.idx"],
]
# A program that uses a key because it lies there would use one of these.
KEYS = {
    "OPENAI_API_KEY": "sk-never",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "ANTHROPIC_API_KEY": "never",
    "HF_TOKEN": "hf_never",
    "LLAMA_CLOUD_API_KEY": "never",
    "RAG_LLM_API_KEY": "never",
}
# Runs the program and notes in a file, from inside, what would go to a network.
GUARD = """
import sys
EVENTS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto",
          "socket.sendmsg"}
def note(event, arguments):
    if event in EVENTS:
        with open(sys.argv[1], "a") as file:
            file.write(f"{event} {arguments!r}\\n")
sys.addaudithook(note)
from rag_app.cli.app import run
sys.exit(run(sys.argv[2:]))
"""
CONNECTS = re.compile(
    r"(?:connect|sendto|sendmsg)\(.*sa_family=AF_(?!UNIX\b|UNSPEC\b|NETLINK\b)\w+"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("offline")
    (folder / "pdfs").mkdir()
    text = "The valve AX-450 opens at 4.2 bar.\nIts lead time is twelve weeks."
    make_pdf(folder / "pdfs" / "valve.pdf", [text])
    make_pdf(folder / "pdfs" / "crane.pdf", ["The crane lifts seven tonnes."])
    line = json.dumps({"question": QUESTION, "evidence": [{"file": "valve.pdf", "page": 1}]})
    (folder / "q.jsonl").write_text(f"{line}\n")
    return folder


def environment(place: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
    return {**kept, **KEYS, "HOME": str(place / "home"), "RAG_CACHE_DIR": str(place / "cache")}


def run(place: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=place, env=environment(place), capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def made(place: Path) -> Path:
    """The place with the indexes of all commands, each run with the guard inside."""
    for command in COMMANDS:
        done = run(place, sys.executable, "-c", GUARD, str(place / "events"), *command)
        assert done.returncode == 0, (command, done.stderr)
    return place


def test_no_command_of_the_program_uses_a_network(made: Path) -> None:
    events = made / "events"
    assert not events.exists() or events.read_text() == ""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_nothing_that_a_command_starts_uses_a_network(made: Path) -> None:
    trace = made / "trace"
    for command in COMMANDS:
        if command[0] in ("merge", "remove"):
            continue  # done once above
        program = [sys.executable, "-m", "rag_app", *command]
        watch = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", str(trace)]
        done = run(made, *watch, *program)
        assert done.returncode == 0, (command, done.stderr)
        assert [line for line in trace.read_text().splitlines() if CONNECTS.search(line)] == []


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_connection_is_noticed_by_both_guards(place: Path) -> None:
    call = "import socket; s = socket.socket(); s.settimeout(1); s.connect_ex(('127.0.0.1', 9))"
    guard = GUARD.partition("from rag_app")[0] + call
    run(place, sys.executable, "-c", guard, str(place / "noticed"))
    assert "socket.connect" in (place / "noticed").read_text()
    trace = place / "noticed.trace"
    run(place, "strace", "-f", "-e", "trace=connect", "-o", str(trace), sys.executable, "-c", call)
    assert any(CONNECTS.search(line) for line in trace.read_text().splitlines())
