"""What is read of PDFs that are hard to read: outcomes, states of pages, words beside poppler's.

Run ``RAG_EVAL_DATA=… python -m benchmarks.pdfs``; writes ``benchmarks/results/pdfs.json``.
With ``mutated`` after it, only that part is run again which reads valid PDFs with one thing
wrong: each must be read, or be an error of ours with a reason.

Words are compared with those of poppler's ``pdftotext``, where that is installed: recall is the
share of its words that we have, precision the share of ours that it has, by file, pages
together; Chinese and Japanese count by the character.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.datasets import DataMissingError, data_root
from pipelines.errors import RagError
from pipelines.isolated import Reading, read_file
from pipelines.page_reader_names import by_reader
from pipelines.page_states import PAGE_STATES
from pipelines.readers import Limits, RawPdf
from pipelines.reading import DEFAULT_READER, READERS, read_data, whole
from tests.hostile.mutations import run

CHOSEN = "chosen for each page"
# The passwords of the samples, which their authors publish.
PASSWORDS = ("foo", "baz", "openpassword")
EVERY_REPORT = 4  # of the annual reports, one in so many
MUTATIONS, MAX_MUTATED_BYTES = 1000, 2_000_000
RESULT = Path(__file__).parent / "results" / "pdfs.json"
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
Words = Counter[str]


def words(text: str) -> Words:
    """Return the words of a text, in one width and case, with their counts."""
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def shares(found: Words, known: Words) -> tuple[float, float]:
    """Return recall and precision of words beside the known ones; 1 where there are none."""
    common = sum((found & known).values())
    recall = common / total if (total := sum(known.values())) else 1.0
    return recall, common / total if (total := sum(found.values())) else 1.0


def poppler(path: Path) -> Words | None:
    """Return the words that pdftotext finds; None: it is not installed, or cannot."""
    if shutil.which("pdftotext") is None:
        return None
    for password in ((), *(("-upw", one) for one in PASSWORDS)):
        command = ["pdftotext", *password, "-enc", "UTF-8", str(path), "-"]
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
        if done.returncode == 0:
            return words(done.stdout.decode("utf-8", "replace"))
    return None


def alone(name: str, path: Path) -> RawPdf | None:
    """Return the pages of a file by one reader; None: it cannot read it."""
    for password in (None, *PASSWORDS):
        try:
            return whole(READERS[name](path.read_bytes(), password, Limits()))
        except RagError:
            continue
    return None


def text_of(raw: RawPdf | None) -> Words:
    """Return the words of all pages."""
    return words("\n".join(page.text for page in raw.pages) if raw else "")


def outcome(path: Path) -> dict[str, Any]:
    """Return what is read of one file, and by which reader."""
    began = time.perf_counter()
    chosen, error = None, ""
    try:
        chosen = read_file(path, reading=Reading(passwords=PASSWORDS)).raw
    except RagError as failure:
        error = f"{type(failure).__name__}: {failure}"
    seconds = time.perf_counter() - began
    pages = chosen.pages if chosen else ()
    found: dict[str, Any] = {
        "file": path.name,
        "outcome": error or "read",
        "seconds": round(seconds, 3),
        "states": dict(Counter(page.state for page in pages)),
        "page_readers": by_reader(page.read_by for page in pages),
    }
    known = poppler(path)
    if known:
        texts = {CHOSEN: text_of(chosen)} | {name: text_of(alone(name, path)) for name in READERS}
        pairs = {name: shares(text, known) for name, text in texts.items()}
        found["recall"] = {name: round(pair[0], 3) for name, pair in pairs.items()}
        found["precision"] = {name: round(pair[1], 3) for name, pair in pairs.items()}
    return found


def summary(files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the counts and means over all files."""
    compared = [file for file in files if "recall" in file]
    states: Counter[str] = Counter()
    for file in files:
        states.update(file["states"])
    result: dict[str, Any] = {
        "files": len(files),
        "outcomes": dict(Counter(file["outcome"].split(":")[0] for file in files)),
        "pages_by_state": {state: states[state] for state in PAGE_STATES if states[state]},
        "pages_by_another_reader": sum(
            len(pages) for file in files for pages in file["page_readers"].values()
        ),
        "compared_with_poppler": len(compared) or "skipped: pdftotext is not installed",
    }
    for what in ("recall", "precision"):
        result[what] = {
            name: {
                "mean": round(statistics.mean(values), 3),
                "median": statistics.median(values),
                "files_below_.95": sum(value < 0.95 for value in values),
            }
            for name in (CHOSEN, *READERS)
            if (values := [file[what][name] for file in compared])
        }
    return result


def reports(folder: Path) -> dict[str, Any]:
    """Return how many pages of annual reports another reader is asked for, and has more of."""
    files = sorted(folder.glob("*.pdf"))[::EVERY_REPORT]
    pages = [
        page
        for file in files
        for page in read_data(file.read_bytes(), DEFAULT_READER, (), Limits())[0].pages
    ]
    return {
        "files": len(files),
        "pages": len(pages),
        "asked_of_another_reader": sum(
            page.incomplete or bool(page.read_by) or page.state in ("undecodable", "damaged")
            for page in pages
        ),
        "by_another_reader": sum(bool(page.read_by) for page in pages),
    }


def mutations(folder: Path) -> dict[str, Any]:
    """Return what comes of reading valid PDFs with one thing wrong."""
    sources: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*.pdf")):
        if path.stat().st_size <= MAX_MUTATED_BYTES and outcome(path)["outcome"] == "read":
            sources[path.name] = path.read_bytes()
    with tempfile.TemporaryDirectory() as place:
        tally = run(Path(place), sources, range(MUTATIONS), PASSWORDS)
    return {
        "sources": len(sources),
        "outcomes": dict(tally.outcomes.most_common()),
        "pages_by_state": {state: tally.states[state] for state in PAGE_STATES},
        "by_what_was_done": {way: dict(found) for way, found in sorted(tally.ways.items())},
        "longest_seconds": round(tally.longest, 2),
        "violations": tally.violations,
    }


def main() -> None:
    """Measure, print and write."""
    logging.disable(logging.CRITICAL)  # pypdf says much about such files
    try:
        root = data_root()
    except DataMissingError as error:
        sys.exit(str(error))
    if sys.argv[1:] == ["mutated"]:
        found = {"mutated": mutations(root / "hard-pdfs")}
        print(json.dumps(found, indent=1))
        known = json.loads(RESULT.read_text(encoding="utf-8")) | found
        RESULT.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    files = [outcome(path) for path in sorted((root / "hard-pdfs").rglob("*.pdf"))]
    result = {
        "summary": summary(files),
        "reports": reports(root / "financebench" / "pdfs"),
        "mutated": mutations(root / "hard-pdfs"),
    }
    print(json.dumps(result, indent=1, ensure_ascii=False))
    text = json.dumps(result | {"hard": files}, indent=1, ensure_ascii=False)
    RESULT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
