"""The documents of docs/json.md are those that the program writes."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.openai_server import Failure

PAGE = Path(__file__).parents[3] / "docs" / "json.md"
EXAMPLES = {
    name: json.loads(text)
    for name, text in re.findall(
        r"^```json ([a-z ]+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
}
QUESTION = "What is the lead time of the valve?"
# Keys that are data, not form: kinds, scripts, measures, stages; a table, which is null for none.
OPEN = {
    "nodes", "scripts", "metrics", "values", "timings_ms", "metadata", "too_long", "not_embedded",
    "errors", "dropped", "signals", "table",
}  # fmt: skip


def form(value: Any) -> Any:
    """Return a document without its data: keys, and the form of the first of a list."""
    if isinstance(value, dict):
        return {key: {} if key in OPEN else form(one) for key, one in value.items()}
    if isinstance(value, list):
        return [form(value[0])] if value and isinstance(value[0], dict) else []
    return None


@pytest.fixture
def written(rag, pdfs, place) -> dict[str, Any]:
    """What the program writes, by the name of its example."""
    (place / "q.jsonl").write_text(
        json.dumps({"question": QUESTION, "evidence": [{"file": "valve.pdf", "page": 2}]})
    )
    missing = rag("info", "--json").json
    documents = {"error": missing, "ingest": rag("ingest", pdfs, "--json").json}
    for name, *arguments in (
        ("search", QUESTION),
        ("ask", QUESTION),
        ("show",),
        ("explain", QUESTION),
        ("info",),
        ("eval", "q.jsonl", "-s", "hybrid", "-s", "bm25"),
        ("remove", "valve.pdf"),
    ):
        documents[name] = rag(name, *arguments, "--json").json
    with closing(sqlite3.connect(place / ".rag" / "index.sqlite", isolation_level=None)) as sql:
        sql.execute("UPDATE blocks SET text = 'x' || text")
    documents["repair"] = rag("repair", "--json").json
    (place / "rag.toml").write_text('prompts = "p.toml"\n')
    documents["trust"] = rag("trust", "--json").json
    (place / "rag.toml").unlink()
    rag("ask", QUESTION, pdfs / "valve.pdf")
    documents["cache info"] = rag("cache", "info", "--json").json
    documents["cache clear"] = rag("cache", "clear", "--json").json
    return documents


def test_each_example_has_the_form_of_the_real_document(written):
    assert set(EXAMPLES) == {*written, "failed"}
    for name, document in written.items():
        assert form(document) == form(EXAMPLES[name]), name


def test_a_failed_question_has_the_form_of_its_example(rag, index, place, serve):
    (place / "q.txt").write_text(QUESTION)
    with serve(Failure(400, "no")) as server:
        done = rag("ask", "--questions", "q.txt", "--llm", "like:test", "--base-url", server.url)
    assert form(done.lines[0]) == form(EXAMPLES["failed"])
