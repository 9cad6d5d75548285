"""Does the sentence that is shown for a passage's words say what was asked?

::

    RAG_EVAL_DATA=… .venv/bin/python -m benchmarks.evidence

Right passages only: whether one is found at all is ``benchmarks.quality``'s question.
*Sets of texts*: the share of questions whose answer stands in the sentence that
``matched`` shows of the right passage. *FinanceBench*: of the passages that share some
but not all of their pages with the evidence, the share whose sentence lies on a page of
the evidence. Beside it ``rarity``: a term counts ``1 / (sentences that hold it)``, the
same whatever it is; differences are paired, with 95 % bootstrap intervals.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from llama_index.core.schema import BaseNode, Document

from benchmarks import datasets
from benchmarks.quality import machine
from benchmarks.runs import RESULTS
from pipelines.analysers import query_terms
from pipelines.text import normalise, sentence_spans, sentence_terms
from rag_app import Index
from rag_app.evaluation.bootstrap import interval
from rag_app.retrieval.excerpts import excerpt_of
from rag_app.retrieval.matched_sentences import MatchedSentences, Span
from rag_app.retrieval.rankings import IndexHit, Ranking, View
from rag_app.retrieval.strategy import Arm
from rag_app.store.protocol import Snapshot

FILE = RESULTS / "evidence.json"
SETS = ("xquad", "jaquad", "jsquad", "financebench")
WORDS = Arm("words", "parent")
Pair = tuple[float, float]
"""Whether the product's sentence is right, and the other rule's: 1 or 0."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.evidence", description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    options = parser.parse_args(arguments)
    results = json.loads(FILE.read_text()) if FILE.exists() else {"sets": {}}
    for name in options.sets:
        try:
            data = datasets.load(name)
        except datasets.DataMissingError as reason:
            print(f"skipped: {reason}")
            return 0
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            pairs = list(_measure(data, Path(folder) / "index"))
        ours, other = zip(*pairs, strict=True)
        difference = interval([one - two for one, two in pairs])
        results["sets"][name] = {
            "passages": len(pairs),
            "right": sum(ours) / len(pairs),
            "rarity": sum(other) / len(pairs),
            "difference": difference.to_dict(),
        }
        print(name, json.dumps(results["sets"][name]), flush=True)
    results["command"] = "RAG_EVAL_DATA=… python -m benchmarks.evidence"
    results["machine"] = machine()
    RESULTS.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


def _measure(data: datasets.Dataset, path: Path) -> Iterator[Pair]:
    """Read a set into an index of words alone and look at each question's right passages."""
    with Index.create(path, pipelines=["bm25"]) as index:
        if data.texts:
            index.ingest([Document(text=text, id_=key) for key, text in data.texts.items()])
        else:
            index.ingest(data.files)
        with index.store.snapshot() as snapshot:
            parents = _parents(snapshot)
            view = View("", snapshot, None)
            for question in data.questions:
                sentences = MatchedSentences()
                if data.texts:
                    yield from _of_texts(question, parents, view, sentences)
                else:
                    yield from _of_pages(question, parents, view, sentences)


def _parents(snapshot: Snapshot) -> dict[str, list[BaseNode]]:
    """Return the passages by document id, and by file name."""
    found: dict[str, list[BaseNode]] = {}
    for source in snapshot.sources():
        nodes = snapshot.export(source.content_hash).nodes
        parents = [node for node in nodes if node.metadata["kind"] == "parent"]
        found[source.document_id] = found[Path(source.names[0]).name] = parents
    return found


def _of_texts(
    question: datasets.Question,
    parents: dict[str, list[BaseNode]],
    view: View,
    sentences: MatchedSentences,
) -> Iterator[Pair]:
    answers = [normalise(answer) for answer in question.answers]
    for key in question.relevant:
        for passage in parents[key]:
            text = passage.get_content()
            if not any(answer in normalise(text) for answer in answers):
                continue
            spans = _both(question.text, passage, view, sentences)
            shown = [normalise(text[slice(*span)]) if span else "" for span in spans]
            one, two = (float(any(answer in said for answer in answers)) for said in shown)
            yield one, two


def _of_pages(
    question: datasets.Question,
    parents: dict[str, list[BaseNode]],
    view: View,
    sentences: MatchedSentences,
) -> Iterator[Pair]:
    for file in sorted({file for file, _ in question.evidence}):
        wanted = {page for name, page in question.evidence if name == file}
        for passage in parents[file]:
            pages = set(passage.metadata["pages"])
            if not pages & wanted or pages <= wanted:
                continue
            spans = _both(question.text, passage, view, sentences)
            one, two = (float(bool(_pages(passage, span, view) & wanted)) for span in spans)
            yield one, two


def _pages(passage: BaseNode, span: Span | None, view: View) -> set[int | None]:
    if span is None:
        return set()
    start = passage.start_char_idx  # type: ignore[attr-defined]
    pages = view.snapshot.page_spans(passage.ref_doc_id or "", start + span[0], start + span[1])
    return {page.number for page in pages}


def _both(
    question: str, passage: BaseNode, view: View, sentences: MatchedSentences
) -> tuple[Span | None, Span | None]:
    """Return the product's sentence of a passage, and the one by rarity alone."""
    found = IndexHit(passage.node_id, passage.node_id, 0.0, view)
    ours = sentences.span(Ranking(WORDS, question, (view,)), found, excerpt_of(passage))
    return ours, _by_rarity(passage.get_content(), question)


def _by_rarity(text: str, question: str) -> Span | None:
    wanted = set(query_terms(question))
    spans = sentence_spans(text)
    held = [wanted.intersection(sentence_terms(text[slice(*span)])) for span in spans]
    counts = Counter(term for terms in held for term in terms)
    scores = [sum(1 / counts[term] for term in terms) for terms in held]
    best = max(scores, default=0.0)
    return spans[scores.index(best)] if best else None


if __name__ == "__main__":
    raise SystemExit(main())
