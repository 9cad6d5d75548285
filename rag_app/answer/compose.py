"""Answers that need no language model: refusals, and verbatim sentences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pipelines.text import count_tokens, language_name
from rag_app.answer.citations import UNVERIFIED_QUOTE, CitationBook
from rag_app.answer.evidence import Evidence
from rag_app.answer.extractive import RankedSentence
from rag_app.answer.prompts import Messages, fill, in_language
from rag_app.answer.refusal import documents_languages
from rag_app.answer.response import (
    Answer,
    AnswerSentence,
    CitedQuote,
    ContextItem,
    ContextReport,
    Quote,
    Usage,
)
from rag_app.passages import Passage


def refused(question: str, messages: Messages) -> Answer:
    """Return the answer that the documents do not say."""
    text = in_language(messages.refused, language_name(question))
    return Answer(response=fill(text), question=question, outcome="refused")


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
    question: str,
    passages: Sequence[Passage],
    best: Sequence[RankedSentence],
    evidence: Evidence,
) -> Answer:
    """Return sentences as they stand, each with its citation.

    Two sentences on the same page of a file have one citation.
    """
    book = CitationBook(passages, evidence)
    sentences = [_sentence(book, passages, scored) for scored in best]
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


def _sentence(
    book: CitationBook, passages: Sequence[Passage], scored: RankedSentence
) -> AnswerSentence:
    sentence = scored.sentence
    quote = book.quote(sentence.passage, sentence.start, sentence.end)
    key = _source(passages[sentence.passage], sentence.passage, quote)
    number = book.number_of(sentence.passage, key=key)
    book.add(number, quote)
    evidence = [CitedQuote(number, quote)]
    if quote.verified:
        return AnswerSentence(sentence.text, [number], "quoted", evidence=evidence)
    problems = [UNVERIFIED_QUOTE]
    return AnswerSentence(sentence.text, [number], "unsupported", problems, evidence=evidence)


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
