"""A folder with PDFs and questions, and the program as the light environment runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.light import run_light
from tests.support.pdfs import make_pdf

VALVE = "The valve AX-450 opens at a pressure of 4.2 bar.\nIts lead time is twelve weeks."
RULES = "所定労働時間は、１日７時間４５分とする。"

LightRag = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an English PDF, a Japanese one, an encrypted one, and questions."""
    folder = tmp_path_factory.mktemp("light")
    make_pdf(folder / "valve.pdf", [VALVE])
    make_pdf(folder / "rules.pdf", [RULES])
    make_pdf(folder / "locked.pdf", ["The crane lifts seven tonnes."], password="")
    evidence = [{"file": "valve.pdf", "page": 1}]
    question = {"question": "What is the lead time?", "evidence": evidence}
    (folder / "questions.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def seen(place: Path) -> Path:
    """The file that collects the distributions that were imported."""
    return place / "seen.txt"


@pytest.fixture(scope="module")
def light(place: Path, seen: Path) -> LightRag:
    """Run ``rag`` in the light environment, with a cache and a home of its own."""
    home = {"HOME": str(place), "RAG_CACHE_DIR": str(place / "cache"), "HF_HUB_OFFLINE": "1"}

    def call(*arguments: object, **variables: str) -> CompletedProcess[str]:
        return run_light("-m", "rag_app", *arguments, seen=seen, **{**home, **variables})

    return call
