"""Pages → one text in which a sentence over a page break is one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from pipelines.lines import Kind, classify, columns, ends_open, ends_sentence
from pipelines.margins import PageLines, split_margins

_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
_CJK_LAST = re.compile(rf"[{_CJK}、，「『（・０-９Ａ-Ｚａ-ｚ]$")
_CJK_FIRST = re.compile(rf"[{_CJK}、，。「『（」』）０-９Ａ-Ｚａ-ｚ]")
_OPEN = re.compile("[、，「『（・はがをにのとでもへや]$")
_NEW_START = re.compile(
    r"[•‣▪●○■□◆◇・①-⑳]|[(（]?\d{1,2}[.)）．]|[０-９]+[\s　]|第\s*\d+\s*[章節条]|【"
    r"|[(（][一二三四五六七八九十ア-ン][)）]"
)
# A line of at least this share of its page's widest was wrapped; a shorter one ends by choice.
_MIN_WRAPPED_SHARE = 0.8
# How many lines above the last line of a page are looked at to classify it.
_CONTEXT_LINES = 3
_PARAGRAPH = "\n\n"


def join_pages(pages: Sequence[str], labels: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return the derived text of the pages, and the span of each page in it.

    Bare page numbers are left out. Running heads and feet stay, because they say
    what the page belongs to, except where a sentence runs over the page break.

    Args:
        pages: the text of each page.
        labels: the printed label of each page.
    """
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    split = split_margins(pages, labels)
    typical = _typical_width([page.body for page in split])
    before = ""
    for body, seam in _bodies(split, typical):
        if body and before:
            parts.append(seam)
            length += len(seam)
        spans.append((length, length + len(body)))
        parts.append(body)
        length += len(body)
        before = body or before
    return "".join(parts), spans


def _bodies(pages: Sequence[PageLines], typical: int) -> list[tuple[str, str]]:
    """Return for each page what is read of it, and what stands between it and the one before."""
    texts = [list(page.body) for page in pages]
    seams = [""] * len(pages)
    written = [i for i, page in enumerate(pages) if page.body]
    for before, after in pairwise([None, *written, None]):
        seam = _PARAGRAPH
        if before is not None and after is not None:
            seam = seams[after] = _seam(pages[before].body, pages[after].body, typical)
        # No blank line beside a head: a head is not to be cut from its page.
        if seam == _PARAGRAPH:
            if before is not None:
                texts[before].extend(pages[before].foot)
            if after is not None:
                texts[after][:0] = pages[after].head
    return [("\n".join(lines), seam) for lines, seam in zip(texts, seams, strict=True)]


def _typical_width(bodies: Sequence[Sequence[str]]) -> int:
    widths = sorted(columns(line) for lines in bodies for line in lines if line)
    return widths[int(len(widths) * 0.9)] if widths else 0


def _seam(before: Sequence[str], after: Sequence[str], typical: int) -> str:
    """Return what joins two pages: nothing inside a CJK sentence, otherwise white space.

    A blank line means that no sentence runs over the page break. In doubt one does.
    """
    last, first = before[-1].rstrip(), after[0].lstrip()
    if ends_sentence(last):
        return _PARAGRAPH
    cjk = _CJK_LAST.search(last) and _CJK_FIRST.match(first)
    if cjk and not _NEW_START.match(first) and _runs_on(last, before, typical):
        return ""
    *_, line, _ = classify("\n".join([*before[-_CONTEXT_LINES:], first]))
    return "\n" if line.kind in (Kind.PROSE, Kind.ITEM) or ends_open(last) else _PARAGRAPH


def _runs_on(last: str, page: Sequence[str], typical: int) -> bool:
    """Tell whether the last line of a page ends only because the page does."""
    widest = max(typical, *(columns(line.rstrip()) for line in page))
    return bool(_OPEN.search(last)) or columns(last) >= _MIN_WRAPPED_SHARE * widest
