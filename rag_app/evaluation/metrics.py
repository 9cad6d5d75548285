"""The measures of one ranked list, and how a list of nodes is judged.

A list becomes positions, each with the relevant items found there. Three
kinds of evidence give three kinds of items: pages (a position is a passage and
may hold several), ids (passages are first collapsed to distinct documents), an
answer string (one item, held by each passage that contains it).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from pipelines.text import normalise
from rag_app.evaluation.questions import Question

# A word, or one character of a script written without spaces.
_UNIT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_SHINGLE = 4


@dataclass(frozen=True, slots=True)
class Judged:
    """A ranked list against its evidence.

    Attributes:
        found: relevant items at each position, best first.
        gains: the gain of each relevant item, above 0.
    """

    found: tuple[frozenset[str], ...]
    gains: Mapping[str, float]

    def recall(self, k: int) -> float:
        """Return the share of the relevant items that the first k positions hold."""
        held = frozenset[str]().union(*self.found[:k])
        return len(held) / len(self.gains)

    def hit(self, k: int) -> float:
        """Return 1 when one of the first k positions holds a relevant item, else 0."""
        return float(any(self.found[:k]))

    def reciprocal_rank(self, k: int) -> float:
        """Return 1 / the first position among k with a relevant item, else 0."""
        places = (place for place, items in enumerate(self.found[:k], 1) if items)
        return 1.0 / next(places, math.inf)

    def ndcg(self, k: int) -> float:
        """Return the normalised discounted cumulative gain of the first k positions.

        Gains are linear, the discount is ``log2(position + 1)`` (Järvelin and
        Kekäläinen 2002, as trec_eval has it). An item counts where it is first
        found; several at one position cannot lift the value above 1.
        """
        seen: set[str] = set()
        total = 0.0
        for place, items in enumerate(self.found[:k], 1):
            total += sum(self.gains[item] for item in items - seen) / math.log2(place + 1)
            seen |= items
        best = sorted(self.gains.values(), reverse=True)[:k]
        ideal = sum(gain / math.log2(place + 1) for place, gain in enumerate(best, 1))
        return min(1.0, total / ideal)


def judge(question: Question, nodes: Sequence[NodeWithScore]) -> Judged:
    """Return a list of nodes judged by the question's evidence."""
    if question.pages:
        return _by_page(question, nodes)
    if question.documents:
        ids = (found.node.ref_doc_id or found.node.node_id for found in nodes)
        return _by_id(question.documents, ids)
    if question.passages:
        return _by_id(question.passages, (found.node.node_id for found in nodes))
    return _by_answer(question.answers, nodes)


def pages_of(node: BaseNode) -> list[tuple[str, int]]:
    """Return (file name, physical page) of each page that a node lies on.

    Other nodes may have only a ``page_label``; digits in it are taken as the page.
    """
    file = PurePath(
        str(node.metadata.get("file_name") or node.metadata.get("file_path") or "")
    ).name
    pages = node.metadata.get("pages")
    if not isinstance(pages, list | tuple):
        label = str(node.metadata.get("page_label") or node.metadata.get("page") or "")
        pages = [label] if label.isdecimal() else []
    return [(file, int(page)) for page in pages]


def coverage(evidence: Iterable[str], read: Iterable[str]) -> float:
    """Return the share of the evidence's words that are in the text that is read.

    A word is in it when one of the runs of four words around it is (of four characters
    in Japanese and Chinese). Layout, running heads and feet differ between readers;
    runs of four words hardly do.
    """
    held: set[tuple[str, ...]] = set()
    for text in read:
        held.update(_shingles(_units(text), _SHINGLE))
    total = inside = 0
    for text in evidence:
        units = _units(text)
        total += len(units)
        inside += _covered(units, held, read)
    return inside / total if total else 0.0


def _by_page(question: Question, nodes: Sequence[NodeWithScore]) -> Judged:
    wanted = {page: f"{page[0]}#{page[1]}" for page in question.pages}
    found = tuple(
        frozenset(wanted[page] for page in pages_of(item.node) if page in wanted) for item in nodes
    )
    return Judged(found, dict.fromkeys(wanted.values(), 1.0))


def _by_id(gains: Mapping[str, float], ids: Iterable[str]) -> Judged:
    found = tuple(
        frozenset([key]) if key in gains else frozenset[str]() for key in dict.fromkeys(ids)
    )
    return Judged(found, gains)


def _by_answer(answers: Sequence[str], nodes: Sequence[NodeWithScore]) -> Judged:
    wanted = [normalise(answer) for answer in answers]
    found = []
    for item in nodes:
        text = normalise(item.node.get_content(metadata_mode=MetadataMode.NONE))
        found.append(frozenset(["answer"] if any(answer in text for answer in wanted) else []))
    return Judged(tuple(found), {"answer": 1.0})


def _units(text: str) -> list[str]:
    return _UNIT.findall(normalise(text))


def _shingles(units: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(units[i : i + size]) for i in range(len(units) - size + 1)]


def _covered(units: Sequence[str], held: set[tuple[str, ...]], read: Iterable[str]) -> int:
    if len(units) < _SHINGLE:
        short = {run for text in read for run in _shingles(_units(text), len(units))}
        return len(units) if tuple(units) in short else 0
    inside = [False] * len(units)
    for start, run in enumerate(_shingles(units, _SHINGLE)):
        if run in held:
            inside[start : start + _SHINGLE] = [True] * _SHINGLE
    return sum(inside)
