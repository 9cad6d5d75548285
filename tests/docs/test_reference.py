"""The reference: examples of public names run, and its pages can be built."""

from __future__ import annotations

import doctest
import inspect
import runpy
from pathlib import Path

import pytest

import rag_app
from tests.support.pdfs import make_pdf

ROOT = Path(__file__).parents[2]
PAGES = [
    "Preface of the manual.",
    "The valve AX-450 opens at a pressure of 4.2 bar.\n"
    "Its lead time is twelve weeks from the date of the order.",
]
# One example shows what these are: of their parent, or of what holds them.
SHOWN_ELSEWHERE = {"AnswerSentence", "Citation", "Quote", "JoinedIndex", "Settings"}
EXAMPLES = [
    name
    for name in ["rag_app", *rag_app.__all__]
    if name not in SHOWN_ELSEWHERE and (name == "RagError" or not name.endswith("Error"))
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_public_name_gives_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_CACHE_DIR", str(tmp_path / "cache"))
    make_pdf(tmp_path / "report.pdf", PAGES, labels=["i", "1"])
    public = rag_app if name == "rag_app" else getattr(rag_app, name)
    names = {one: getattr(rag_app, one) for one in rag_app.__all__}
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(public, name, globs={**names, "rag_app": rag_app})
    assert test.examples, f"{name} has no example"
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert result.failed == 0


def test_the_reference_has_a_page_with_every_public_name(tmp_path: Path) -> None:
    runpy.run_path(str(ROOT / "docs" / "make_reference.py"))["write"](tmp_path)
    page = (tmp_path / "rag_app.html").read_text(encoding="utf-8")
    missing = [name for name in rag_app.__all__ if f'id="{name}"' not in page]
    assert missing == []
    assert inspect.getdoc(rag_app.Index).splitlines()[0].partition(":")[0] in page
