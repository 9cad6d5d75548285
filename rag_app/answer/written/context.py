"""Passages → what fits a model's window: the best first, whole where they fit.

Pure functions. A passage that is too large is cut around its anchors (the
children that hit), sentence by sentence; what is left out is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipelines.splitting import Span
from rag_app.answer.response import ContextItem, ContextReport
from rag_app.passages import Passage, Sentence

CUT_NOTE = "cut around what was found: the whole does not fit"
DROPPED_NOTE = "left out: no room"
ELLIPSIS = "\n[…]\n"


@dataclass(frozen=True, slots=True)
class Packed:
    """One passage as it is sent.

    Attributes:
        passage: its index.
        sentences: those sent, in reading order.
        text: verbatim stretches of the passage, ``[…]`` between them.
        tokens: of the whole block.
        whole: whether the text is the whole passage.
    """

    passage: int
    sentences: tuple[Sentence, ...]
    text: str
    tokens: int
    whole: bool


def pack(
    passages: Sequence[Passage],
    sentences: Sequence[Sequence[Sentence]],
    anchors: Sequence[Sequence[Span]],
    budget: int,
    size: Callable[[Passage, str], int],
) -> tuple[list[Packed], ContextReport]:
    """Choose what is sent of each passage.

    Args:
        passages: best first, no two overlapping.
        sentences: of each passage.
        anchors: of each passage the spans (in its text) that hit, best first.
        budget: tokens there is room for.
        size: tokens that a passage takes with a given text, delimiters and label included.

    Returns:
        The passages sent, best first, and the report. The sizes sum to at most ``budget``.
    """
    packed: list[Packed] = []
    left = budget
    for index, passage in enumerate(passages):
        tokens = size(passage, passage.text)
        if tokens <= left:
            one = Packed(index, tuple(sentences[index]), passage.text, tokens, whole=True)
        else:
            cut = _cut(index, passage, sentences[index], anchors[index], left, size)
            if cut is None:
                continue
            one = cut
        packed.append(one)
        left -= one.tokens
    return packed, _report(passages, packed, budget)


def sentences_by_distance(sentences: Sequence[Sentence], anchors: Sequence[Span]) -> list[Sentence]:
    """Return sentences by what to keep first: anchors, best first, then their neighbours.

    Without anchors, in reading order.
    """
    hits = [
        (rank, place)
        for rank, (start, end) in enumerate(anchors)
        for place, sentence in enumerate(sentences)
        if sentence.start < end and start < sentence.end
    ]
    if not hits:
        return list(sentences)
    keys = {
        place: min((abs(place - hit), rank, hit) for rank, hit in hits)
        for place in range(len(sentences))
    }
    return [sentences[place] for place in sorted(keys, key=lambda place: (keys[place], place))]


def text_of(passage: Passage, sentences: Sequence[Sentence]) -> str:
    """Return sentences of a passage verbatim: neighbours with what stands between them."""
    stretches: list[tuple[int, int, int]] = []
    for sentence in sorted(sentences, key=lambda s: s.position):
        if stretches and sentence.position == stretches[-1][2] + 1:
            stretches[-1] = (stretches[-1][0], sentence.end, sentence.position)
        else:
            stretches.append((sentence.start, sentence.end, sentence.position))
    return ELLIPSIS.join(passage.text[start:end] for start, end, _ in stretches)


def _cut(
    index: int,
    passage: Passage,
    sentences: Sequence[Sentence],
    anchors: Sequence[Span],
    room: int,
    size: Callable[[Passage, str], int],
) -> Packed | None:
    chosen: list[Sentence] = []
    best: tuple[str, int] | None = None
    for sentence in sentences_by_distance(sentences, anchors):
        text = text_of(passage, [*chosen, sentence])
        tokens = size(passage, text)
        if tokens > room:
            break
        chosen.append(sentence)
        best = (text, tokens)
    if best is None:
        return None
    ordered = tuple(sorted(chosen, key=lambda s: s.position))
    return Packed(index, ordered, best[0], best[1], whole=False)


def _report(passages: Sequence[Passage], packed: Sequence[Packed], budget: int) -> ContextReport:
    by_index = {one.passage: one for one in packed}
    used: list[ContextItem] = []
    cut: list[ContextItem] = []
    for index, passage in enumerate(passages):
        one = by_index.get(index)
        item = ContextItem(
            node_ids=list(passage.node_ids),
            file=passage.file,
            pages=list(passage.pages),
            tokens=one.tokens if one is not None else 0,
            whole=one is not None and one.whole,
            note="" if one and one.whole else CUT_NOTE if one else DROPPED_NOTE,
        )
        (used if one is not None else cut).append(item)
    return ContextReport(budget, sum(one.tokens for one in packed), used=used, cut=cut)
