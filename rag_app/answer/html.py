"""An answer as HTML, for notebooks: each statement with how it is supported, and its evidence."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_app.answer.response import Answer, AnswerSentence, Citation, ClosestPassage

_STATES = {
    "quoted": "word for word in what it cites",
    "supported": "its facts stand in what it cites",
    "unsupported": "not supported",
}


def html_of(answer: Answer) -> str:
    """Return an answer as a fragment of HTML; nothing of it is read as markup."""
    if answer.closest:
        told = escape((answer.response or "").partition("\n")[0])
        return f"<p>{told}</p><ul>{''.join(map(_closest, answer.closest))}</ul>"
    if not answer.sentences:
        return f"<p>{escape(answer.response or '')}</p>"
    statements = "".join(map(_statement, answer.sentences))
    sources = "".join(map(_citation, answer.citations))
    return f"<ul>{statements}</ul><ol>{sources}</ol>"


def _closest(passage: ClosestPassage) -> str:
    page = _page(passage)
    heading = f": {escape(passage.heading)}" if passage.heading else ""
    lines = "".join(f"<blockquote>{escape(line)}</blockquote>" for line in passage.lines)
    return f"<li>{escape(passage.file)}{page}{heading}{lines}</li>"


def _statement(statement: AnswerSentence) -> str:
    marks = "".join(f"[{number}]" for number in statement.citations)
    said = [_STATES[statement.support], *statement.problems, *statement.notes]
    shown = f"{escape(statement.text)} {marks}"
    if not statement.verified:
        shown = f"<mark>{shown}</mark>"
    return f"<li>{shown}<br><small>{escape('; '.join(said))}</small></li>"


def _citation(citation: Citation) -> str:
    quotes = "".join(f"<blockquote>{escape(one.text)}</blockquote>" for one in citation.quotes)
    file = escape(citation.file)
    return f'<li value="{citation.number}">{file}{_page(citation)}{quotes}</li>'


def _page(source: Citation | ClosestPassage) -> str:
    page = "" if source.page is None else f", page {source.page}"
    by_ocr = "" if source.confidence is None else f", read by OCR, {source.confidence:.0%} certain"
    return page + by_ocr
