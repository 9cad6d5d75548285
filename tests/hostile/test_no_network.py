"""Nothing connects anywhere unless a model is named: neither the program nor what it starts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from rag_app.cli.app import app
from tests.support.pdfs import make_pdf

QUESTION = "What is the lead time of the valve?"
COMMANDS = [
    ["--version"],
    ["--help"],
    ["ingest", "pdfs", "--index", "a.idx"],
    ["ingest", "pdfs/crane.pdf", "--index", "b.idx", "--pipeline", "sentence_window"],
    ["ask", QUESTION, "--index", "a.idx"],
    ["ask", QUESTION, "pdfs/valve.pdf"],
    ["show", "1"],
    ["ask", "--questions", "q.jsonl", "--index", "a.idx"],
    ["search", QUESTION, "--index", "a.idx", "--json"],
    ["explain", QUESTION, "--index", "a.idx"],
    ["merge", "a.idx", "b.idx", "--into", "c.idx"],
    ["info", "--index", "c.idx", "--verify"],
    ["eval", "q.jsonl", "--index", "a.idx"],
    ["repair", "--index", "a.idx"],
    ["remove", "pdfs/crane.pdf", "--index", "b.idx"],
    ["trust", "other.toml"],
    ["trust", "--forget", "other.toml"],
    ["cache", "info"],
    ["cache", "clear"],
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
# What would keep the program from a network, or lead it to another place, is not set.
DROPPED = ("RAG_", "HF_", "TRANSFORMERS_", "OPENAI_", "ANTHROPIC_", "LLAMA_", "XDG_")
# Runs all commands in one process and notes in a file, from inside, what would go to a network.
GUARD = """
import json, sys
EVENTS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto",
          "socket.sendmsg"}
def note(event, arguments):
    if event in EVENTS:
        with open(sys.argv[1], "a") as file:
            file.write(f"{event} {arguments!r}\\n")
sys.addaudithook(note)
from rag_app.cli.app import run
for command in json.loads(sys.argv[2]):
    code = run(command)
    if code:
        sys.exit(f"{command} ended with {code}")
"""
CONNECTS = re.compile(
    r"(?:connect|sendto|sendmsg)\(.*sa_family=AF_(?!UNIX\b|UNSPEC\b|NETLINK\b)\w+"
)
STRACE = shutil.which("strace")
CALL = "import socket; s = socket.socket(); s.settimeout(1); s.connect_ex(('127.0.0.1', 9))"


@dataclass(frozen=True)
class Watched:
    """What was seen of a process: from inside, and of all that it started."""

    done: subprocess.CompletedProcess[str]
    events: str
    connections: list[str]


def watched(place: Path, keys: dict[str, str], code: str, *arguments: str) -> Watched:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}
    home = {"HOME": str(place / "home"), "RAG_CACHE_DIR": str(place / "cache")}
    events, trace = place / "events", place / "trace"
    watch = [
        STRACE,
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-e",
        "trace=connect,sendto,sendmsg",
        "-o",
        str(trace),
    ]
    done = subprocess.run(
        [*(watch if STRACE else []), sys.executable, "-c", code, str(events), *arguments],
        cwd=place,
        env={**kept, **keys, **home},
        capture_output=True,
        text=True,
    )
    traced = trace.read_text().splitlines() if trace.exists() else []
    return Watched(
        done,
        events.read_text() if events.exists() else "",
        [line for line in traced if CONNECTS.search(line)],
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "pdfs").mkdir()
    text = "The valve AX-450 opens at 4.2 bar.\nIts lead time is twelve weeks."
    make_pdf(tmp_path / "pdfs" / "valve.pdf", [text])
    make_pdf(tmp_path / "pdfs" / "crane.pdf", ["The crane lifts seven tonnes."])
    line = json.dumps({"question": QUESTION, "evidence": [{"file": "valve.pdf", "page": 1}]})
    (tmp_path / "q.jsonl").write_text(f"{line}\n")
    (tmp_path / "other.toml").write_text('llm = "openai:gpt-4o-mini"\n')
    return tmp_path


@pytest.mark.parametrize("keys", [KEYS, {}], ids=["keys", "no keys"])
def test_no_command_and_nothing_that_it_starts_uses_a_network(
    place: Path, keys: dict[str, str]
) -> None:
    seen = watched(place, keys, GUARD, json.dumps(COMMANDS))
    assert seen.done.returncode == 0, seen.done.stderr
    assert seen.events == ""
    assert seen.connections == []


def test_every_command_of_the_program_is_guarded() -> None:
    group = typer.main.get_command(app)
    names = {
        (name, inner)
        for name in group.list_commands(None)  # type: ignore[attr-defined]
        for inner in getattr(group.get_command(None, name), "commands", {None: None})  # type: ignore[attr-defined]
    }
    run = {(one[0], one[1] if one[0] == "cache" else None) for one in COMMANDS}
    assert names <= run


def test_a_connection_is_noticed_from_inside(place: Path) -> None:
    guard = GUARD.partition("from rag_app")[0] + CALL
    assert "socket.connect" in watched(place, {}, guard).events


@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
def test_a_connection_of_a_process_that_is_started_is_noticed(place: Path) -> None:
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CALL!r}], check=True)"
    assert watched(place, {}, child).connections
