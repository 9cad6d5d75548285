"""Pages → one text in which a sentence over a page break is one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.lines import columns, ends_sentence
from pipelines.margins import without_margins

_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
_CJK_LAST = re.compile(rf"[{_CJK}、，「『（・０-９Ａ-Ｚａ-ｚ]$")
_CJK_FIRST = re.compile(rf"[{_CJK}、，。「『（」』）０-９Ａ-Ｚａ-ｚ]")
_OPEN = re.compile("[、，「『（・はがをにのとでもへや]$")
_NEW_START = re.compile(
    r"[•‣▪●○■□◆◇・①-⑳]|[(（]?\d{1,2}[.)）．]|[０-９]+[\s　]|第\s*\d+\s*[章節条]|【"
    r"|[(（][一二三四五六七八九十ア-ン][)）]"
)
# A line this full, as a share of the widest of its page, ends by its width and not by choice.
_FULL = 0.8


def join_pages(pages: Sequence[str], labels: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return the derived text of the pages, and the span of each page in it.

    Page numbers, running heads and running feet are left out, because a
    sentence over a page break would contain them.

    Args:
        pages: the text of each page.
        labels: the printed label of each page.
    """
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    before = ""
    bodies = without_margins(pages, labels)
    typical = _typical_width(bodies)
    for lines in bodies:
        body = "\n".join(lines)
        if body and before:
            seam = _seam(before, body, typical)
            parts.append(seam)
            length += len(seam)
        spans.append((length, length + len(body)))
        parts.append(body)
        length += len(body)
        before = body or before
    return "".join(parts), spans


def _typical_width(bodies: Sequence[Sequence[str]]) -> int:
    widths = sorted(columns(line) for lines in bodies for line in lines if line)
    return widths[int(len(widths) * 0.9)] if widths else 0


def _seam(before: str, after: str, typical: int) -> str:
    """Return what stands between two pages: nothing inside a CJK sentence, else white space."""
    last = before.rsplit("\n", 1)[-1].rstrip()
    first = after.split("\n", 1)[0].lstrip()
    if ends_sentence(last) and last[-1] not in ":：;；":
        return "\n\n"
    cjk = _CJK_LAST.search(last) and _CJK_FIRST.match(first)
    if cjk and not _NEW_START.match(first) and _runs_on(last, before, typical):
        return ""
    return "\n"


def _runs_on(last: str, page: str, typical: int) -> bool:
    """Tell whether the last line of a page ends only because the page does."""
    widest = max(typical, *(columns(line.rstrip()) for line in page.split("\n")))
    return bool(_OPEN.search(last)) or columns(last) >= _FULL * widest
