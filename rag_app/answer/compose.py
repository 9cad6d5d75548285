"""Answers that need no language model: refusals, closest passages, verbatim sentences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pipelines.page_states import UNKNOWN_STATE, page_ranges
from pipelines.splitting import Span
from pipelines.text import count_tokens, language_name
from rag_app.answer.citations import UNVERIFIED_QUOTE, CitationBook
from rag_app.answer.decision import documents_languages
from rag_app.answer.evidence import Evidence
from rag_app.answer.extractive import Shown
from rag_app.answer.prompts import Messages, fill, in_language
from rag_app.answer.quotes import label_of
from rag_app.answer.response import (
    Answer,
    AnswerSentence,
    CitedQuote,
    ClosestPassage,
    ContextItem,
    ContextReport,
    Quote,
    UnreadPages,
    Usage,
)
from rag_app.passages import Passage

# Pages that could not be read are named for so many files; a line for each of many helps nobody.
MAX_UNREAD_FILES = 5


def refused(question: str, messages: Messages, evidence: Evidence) -> Answer:
    """Return the answer that the documents do not say; pages that nobody could read are named."""
    language = language_name(question)
    unread = evidence.unread_pages()
    text = [fill(in_language(messages.refused, language)), _unread(unread, messages, language)]
    return Answer(
        response="\n".join(filter(None, text)),
        question=question,
        outcome="refused",
        unread_pages=unread,
    )


def closest(
    question: str,
    passages: Sequence[Passage],
    groups: Sequence[Sequence[Shown]],
    evidence: Evidence,
    messages: Messages,
) -> Answer:
    """Return what is nearest to the question, which is no answer.

    Args:
        question: as it was asked.
        passages: what was retrieved.
        groups: what to show, of one passage each, nearest passage first.
        evidence: pages to check them on.
        messages: what the reader is told.
    """
    language = language_name(question)
    book = CitationBook(passages, evidence)
    near = [_closest(book, passages, group) for group in groups]
    unread = evidence.unread_pages()
    text = [
        fill(in_language(messages.closest, language)),
        *map(_as_text, near),
        _unread(unread, messages, language),
    ]
    return Answer(
        response="\n\n".join(filter(None, text)),
        question=question,
        outcome="closest",
        closest=near,
        unread_pages=unread,
        usage=Usage(context=_all_read(passages, evidence)),
    )


def _closest(
    book: CitationBook, passages: Sequence[Passage], group: Sequence[Shown]
) -> ClosestPassage:
    at = group[0].passage
    passage = passages[at]
    spans = dict.fromkeys(span for shown in group for span in shown.quotes)
    quotes = [book.quote(at, *span) for span in spans]
    page = next(iter([*book.quote(at, *group[0].quotes[-1]).pages, *passage.pages]), None)
    pages = sorted({number for quote in quotes for number in quote.pages}) or list(passage.pages)
    confidence = book.confidence(at, pages)
    return ClosestPassage(
        origin=passage.origin,
        file=passage.file,
        path=passage.path,
        page=page,
        page_label=label_of(page, book.pages(at), passage),
        pages=pages,
        heading=group[0].section or passage.heading,
        lines=[shown.text for shown in group],
        quotes=quotes,
        read_by="text" if confidence is None else "ocr",
        confidence=confidence,
        content_hash=passage.document_id,
    )


def _as_text(near: ClosestPassage) -> str:
    place = near.file if near.page is None else f"{near.file}, p. {near.page}"
    head = f"{place}: {near.heading}" if near.heading else place
    return "\n".join([head, *(f"  {' '.join(line.split())}" for line in near.lines)])


def _unread(unread: Sequence[UnreadPages], messages: Messages, language: str) -> str:
    """Return a line that names the pages that could not be read; ``""`` where there are none."""
    if not unread:
        return ""
    named = [_named(one, messages, language) for one in unread[:MAX_UNREAD_FILES]]
    more = ["…"] if len(unread) > MAX_UNREAD_FILES else []
    return fill(in_language(messages.unread_pages, language), pages="; ".join([*named, *more]))


def _named(one: UnreadPages, messages: Messages, language: str) -> str:
    states = one.states or {UNKNOWN_STATE: one.pages}
    places = (
        f"p. {page_ranges(pages)} ({messages.state_name(state, told_in=language)})"
        for state, pages in states.items()
    )
    return f"{one.file}, {', '.join(places)}"


def other_language(
    question: str, passages: Sequence[Passage], evidence: Evidence, messages: Messages
) -> Answer:
    """Return the answer that no document is in the question's language."""
    asked = language_name(question)
    written = documents_languages(passages, evidence)
    text = fill(
        in_language(messages.other_language, asked),
        question_language=messages.name_of(asked, told_in=asked),
        documents_language=", ".join(messages.name_of(name, told_in=asked) for name in written),
    )
    return Answer(response=text, question=question, outcome="other_language")


def extractive(
    question: str, passages: Sequence[Passage], shown: Sequence[Shown], evidence: Evidence
) -> Answer:
    """Return statements as they stand, each with its citation.

    Two statements on the same page of a file have one citation; one that several documents
    make has one of each.
    """
    book = CitationBook(passages, evidence)
    sentences = [_statement(book, passages, one) for one in shown]
    marked = (
        f"{sentence.text} {''.join(f'[{number}]' for number in sentence.citations)}"
        for sentence in sentences
    )
    return Answer(
        response="\n".join(marked),
        question=question,
        sentences=sentences,
        citations=book.citations(),
        usage=Usage(context=_all_read(passages, evidence)),
    )


def _statement(book: CitationBook, passages: Sequence[Passage], shown: Shown) -> AnswerSentence:
    places = [*((shown.passage, span) for span in shown.quotes), *shown.also]
    evidence = [_cited(book, passages, at, span) for at, span in places]
    numbers = list(dict.fromkeys(one.citation for one in evidence))
    if all(one.quote.verified for one in evidence):
        return AnswerSentence(shown.text, numbers, "quoted", evidence=evidence)
    return AnswerSentence(shown.text, numbers, "unsupported", [UNVERIFIED_QUOTE], evidence=evidence)


def _cited(book: CitationBook, passages: Sequence[Passage], at: int, span: Span) -> CitedQuote:
    quote = book.quote(at, *span)
    number = book.number_of(at, key=_source(passages[at], at, quote))
    book.add(number, quote)
    return CitedQuote(number, quote)


def _source(passage: Passage, index: int, quote: Quote) -> Hashable:
    if not quote.pages:
        return ("passage", index)
    return (passage.origin, passage.document_id or passage.file, quote.pages[0])


def _all_read(passages: Sequence[Passage], evidence: Evidence) -> ContextReport:
    items = [
        ContextItem(list(p.node_ids), p.file, list(p.pages), _tokens(p, evidence), whole=True)
        for p in passages
    ]
    return ContextReport(None, sum(item.tokens for item in items), used=items, cut=[])


def _tokens(passage: Passage, evidence: Evidence) -> int:
    """Return the tokens of a passage; those of whole sentences come from the table."""
    table = evidence.sentences(passage)
    known = None if table is None else table.tokens_until(len(passage.text))
    return count_tokens(passage.text) if known is None else known
