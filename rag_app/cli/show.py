"""Answers and passages as text, with the same facts as in the JSON documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.page_states import described
from rag_app.cli.output import Output, as_line, one_line

_MAX_EXCERPT_CHARS = 400  # characters of a passage


def answer_text(out: Output, answer: Mapping[str, Any]) -> None:
    """Write the answer itself, with its citation marks."""
    if answer["outcome"] == "closest":
        out.text(answer["answer"].partition("\n")[0])
        for passage in answer["closest"]:
            out.text()
            heading = f": {one_line(passage['heading'])}" if passage["heading"] else ""
            out.text(f"{place(passage)}{heading}", style="bold")
            for line in passage["lines"]:
                out.text(f"“{one_line(line)}”", indent=4)
        unread_pages(out, answer["unread_pages"])
    elif answer["outcome"] != "answered":
        out.text(answer["answer"])
    elif answer["mode"] == "llm":
        out.text(answer["answer"], style="bold")
    else:
        # Line ends of the page are dropped: a sentence is one line.
        for sentence in answer["sentences"]:
            marks = "".join(f"[{number}]" for number in sentence["citations"])
            out.text(f"{one_line(sentence['text'])} {marks}", style="bold")


def answer_evidence(out: Output, answer: Mapping[str, Any]) -> None:
    """Write what follows the answer: citations, failed checks, its origin."""
    for citation in answer["citations"]:
        out.text()
        out.text(f"[{citation['number']}] {place(citation)}")
        for quote in citation["quotes"]:
            out.text(_quote(quote), indent=4)
    _statements(out, answer["sentences"])
    out.text()
    out.text(_origin(answer), style="dim")
    degraded(out, answer["degraded"])


def _statements(out: Output, statements: Sequence[Mapping[str, Any]]) -> None:
    """Write what is not supported, and how the others were checked where that is unusual."""
    noted = [one for one in statements if one["problems"] or one["notes"]]
    if noted:
        out.text()
    for one in noted:
        said = one_line(one["text"])
        if one["problems"]:
            why = "; ".join(map(one_line, one["problems"]))
            out.text(f"! not supported: {said} ({why})", style="yellow")
        else:
            out.text(f"{one['support']}: {said} ({'; '.join(map(one_line, one['notes']))})")


def unread_pages(out: Output, unread: Sequence[Mapping[str, Any]]) -> None:
    """Name the pages that were not searched, with the reason."""
    if unread:
        out.text()
    for one in unread:
        out.text(f"not searched: {as_line(one['file'])}, {described(one['states'])}")


def place(source: Mapping[str, Any]) -> str:
    """Return the place of a citation or a result in words: ``report.pdf, page 4 (iv)``."""
    words = [as_line(source["file"])]
    page, pages = source["page"], source["pages"]
    if page is not None:
        label = source["page_label"]
        printed = f" ({one_line(str(label))})" if label and str(label) != str(page) else ""
        words.append(f"page {page}{printed}")
        others = [str(other) for other in pages if other != page]
        if others:
            words[-1] += f" (also {', '.join(others)})"
    if source.get("read_by") == "ocr":
        words.append(f"read by OCR, {source['confidence']:.0%} certain")
    if source["origin"]:
        words.append(f"in {one_line(source['origin'])}")
    return ", ".join(words)


def results(out: Output, found: Sequence[Mapping[str, Any]]) -> None:
    """Write passages: the place, the matches and the beginning of each."""
    for number, result in enumerate(found):
        if number:
            out.text()
        out.text(f"{result['rank']}. {place(result)}  (score {result['score']:.4f})", style="bold")
        matched = result["matched"]
        arms = ", ".join(f"{match['arm']} #{match['rank']}" for match in matched)
        if arms:
            out.text(arms, indent=3, style="dim")
        out.text(excerpt(matched[0]["text"] if matched else result["text"]), indent=3)
    if not found:
        out.text("nothing found")


def excerpt(text: str, length: int = _MAX_EXCERPT_CHARS) -> str:
    """Return the beginning of a text on one line."""
    text = one_line(text)
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def degraded(out: Output, parts: Sequence[Mapping[str, Any]]) -> None:
    """Report on stderr which parts of the search failed or were skipped, each reason once."""
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for one in parts:
        reasons.setdefault((one["kind"], one["reason"], one["hint"]), []).append(one["part"])
    for (kind, reason, hint), names in reasons.items():
        said = ("warning", "failed") if kind == "failed" else ("note", "took no part")
        advice = f" ({hint})" if hint else ""
        out.note(f"{said[0]}: {', '.join(names)} {said[1]}: {reason}{advice}")


def _quote(quote: Mapping[str, Any]) -> str:
    text = f"“{one_line(quote['text'])}”"
    return text if quote["verified"] else f"{text} (not found on the page itself)"


def _origin(answer: Mapping[str, Any]) -> str:
    if answer["outcome"] == "refused":
        return "refused: the documents do not say"
    if answer["outcome"] == "closest":
        return "not answered: the closest passages, as they stand"
    if answer["outcome"] == "other_language":
        return "not answered: no document is in the language of the question"
    if answer["mode"] == "llm":
        return f"written by {one_line(str(answer['model']))}; the quotes are from the documents"
    return "extractive: sentences of the documents as they stand"
