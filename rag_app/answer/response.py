"""The answer as a LlamaIndex response, and as the document that ``ask --json`` prints."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, is_dataclass, replace
from textwrap import shorten
from typing import Any, Literal

from llama_index.core.base.response.schema import Response

from rag_app.answer.html import html_of
from rag_app.answer.shown_pages import PageSource

Outcome = Literal["answered", "closest", "refused", "other_language"]
Mode = Literal["extractive", "llm"]
Support = Literal["quoted", "supported", "unsupported"]
MAX_REPR_CHARACTERS = 80


@dataclass(frozen=True)
class Quote:
    """Words of a document that a sentence of the answer rests on.

    Attributes:
        text: verbatim text of the document.
        start, end: span in the document's derived text; ``None`` where it has none.
        pages: physical pages it stands on, from 1.
        verified: whether it was found on the raw text of these pages.
    """

    text: str
    start: int | None
    end: int | None
    pages: list[int]
    verified: bool


@dataclass(frozen=True)
class CitedQuote:
    """A quote, and the number of the citation that it belongs to."""

    citation: int
    quote: Quote


@dataclass(frozen=True)
class Citation(PageSource):
    """One source of the answer.

    Attributes:
        number: its number in the answer, from 1, in the order of first use.
        origin: name of the index (``""`` for a single one).
        file: name of the file; the id of a Document that has none.
        path: path of the file, as it was given (``""`` when unknown).
        page: page of the best quote, from 1; ``None`` for Documents without pages.
        page_label: that page's printed label; ``None`` when unknown.
        pages: all pages of its quotes.
        quotes: the words that the answer rests on, best first.
        read_by: ``text``: the pages' own text; ``ocr``: text recognition read some of them.
        confidence: how sure that was, of its least certain page, 0 to 1; ``None``: not by OCR.
        content_hash: sha256, in hex, of the file that was read; of a Document, its id.
    """

    number: int
    origin: str
    file: str
    path: str
    page: int | None
    page_label: str | None
    pages: list[int]
    quotes: list[Quote]
    read_by: Literal["text", "ocr"] = "text"
    confidence: float | None = None
    content_hash: str = ""


@dataclass(frozen=True)
class ClosestPassage(PageSource):
    """A passage that is near the question and does not clearly answer it.

    Attributes:
        origin: name of the index (``""`` for a single one).
        file, path: as in :class:`Citation`.
        page: page of its best line, from 1; ``None`` for Documents without pages.
        page_label: that page's printed label; ``None`` when unknown.
        pages: all pages of its lines.
        heading: of the place in the document (``""`` when unknown).
        lines: the sentences and rows nearest to the question, best first.
        quotes: the words of the document that the lines are made of.
        read_by, confidence, content_hash: as in :class:`Citation`.
    """

    origin: str
    file: str
    path: str
    page: int | None
    page_label: str | None
    pages: list[int]
    heading: str
    lines: list[str]
    quotes: list[Quote]
    read_by: Literal["text", "ocr"] = "text"
    confidence: float | None = None
    content_hash: str = ""


@dataclass(frozen=True)
class UnreadPages:
    """Pages of a file on which no text could be read: nothing on them was searched.

    Attributes:
        file: name of the file.
        pages: physical pages, from 1; empty ones are none of them.
        states: the same pages by the reason (``pipelines.page_states``).
    """

    file: str
    pages: list[int]
    states: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Decision:
    """What an outcome without a language model rests on.

    Attributes:
        score: how well the best sentence answers the question, 0 to 1.
        answer_from: from this score on a question is answered.
        closest_from: from this score on the closest passages are shown.
        signals: what the score is made of, by name.
    """

    score: float
    answer_from: float
    closest_from: float
    signals: dict[str, float]


@dataclass(frozen=True)
class AnswerSentence:
    """One statement of the answer and how it stood its checks.

    Attributes:
        text: the statement without citation marks.
        citations: numbers of the citations it rests on.
        support: ``quoted``: it stands word for word in what it cites; ``supported``: each
            of its facts stands in its evidence; ``unsupported``: some fact does not, or
            nothing was found.
        problems: what failed, in words for the reader; none unless ``unsupported``.
        notes: how it was checked where that is not as usual ("71% is 301 of 423").
        evidence: the sentences and rows that it rests on.
    """

    text: str
    citations: list[int]
    support: Support
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    evidence: list[CitedQuote] = field(default_factory=list)

    @property
    def verified(self) -> bool:
        """Whether it is ``quoted`` or ``supported``."""
        return self.support != "unsupported"

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``ask --json`` prints it."""
        return {
            "text": self.text,
            "citations": list(self.citations),
            "verified": self.verified,
            "support": self.support,
            "problems": list(self.problems),
            "notes": list(self.notes),
            "evidence": [asdict(one) for one in self.evidence],
        }


@dataclass(frozen=True)
class ContextItem:
    """What became of one passage.

    Attributes:
        node_ids: the retrieved nodes it was made of.
        file, pages: where it lies.
        tokens: tokens of it that were read; without a model as they stand in its document,
            where they were counted when it was ingested (give or take two).
        whole: whether all of it was read.
        note: why not, in words (``""`` when whole).
    """

    node_ids: list[str]
    file: str
    pages: list[int]
    tokens: int
    whole: bool
    note: str = ""


@dataclass(frozen=True)
class ContextReport:
    """What was read for the answer.

    Attributes:
        budget: tokens there was room for; ``None`` when nothing limits (extractive).
        tokens: tokens of passages that were read.
        used: passages read, best first, whole or in part.
        cut: passages of which nothing was read.
    """

    budget: int | None
    tokens: int
    used: list[ContextItem]
    cut: list[ContextItem]


@dataclass(frozen=True)
class Usage:
    """What the answer cost.

    Attributes:
        llm_calls: requests to the language model that were answered.
        prompt_tokens, completion_tokens: as the server counted.
        estimated: whether the counts are ours (cl100k) because the server gave none.
        context: what was read.
    """

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    context: ContextReport | None = None

    def plus(self, calls: int, prompt: int, completion: int, *, estimated: bool) -> Usage:
        """Return the usage with further calls."""
        return replace(
            self,
            llm_calls=self.llm_calls + calls,
            prompt_tokens=self.prompt_tokens + prompt,
            completion_tokens=self.completion_tokens + completion,
            estimated=self.estimated or estimated,
        )

    @property
    def total_tokens(self) -> int:
        """Tokens in and out."""
        return self.prompt_tokens + self.completion_tokens

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "llm_calls": self.llm_calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.total_tokens,
            "estimated": self.estimated,
            "context": asdict(self.context) if self.context is not None else None,
        }


@dataclass(repr=False)
class Answer(Response):
    """An answer whose every sentence names what it rests on.

    A LlamaIndex ``Response``: ``response`` is the text with its citation marks,
    ``str(answer)`` is that and, below it, each statement that is not supported;
    ``source_nodes`` are the retrieved passages.

    >>> with Index.create("reports.idx", exist_ok=True) as index:
    ...     report = index.ingest("report.pdf")
    ...     answer = index.as_query_engine().query("What is the lead time of the valve?")
    >>> answer.outcome, answer.mode, answer.sentences[0].citations
    ('answered', 'extractive', [1])
    >>> print(answer.citations[0].quotes[0].text)
    The valve AX-450 opens at a pressure of 4.2 bar.
    Its lead time is twelve weeks from the date of the order.

    Attributes:
        question: as it was asked.
        outcome: ``answered``; ``closest``: nothing clearly answers the question, and what is
            nearest to it is shown; ``refused``: the documents do not say;
            ``other_language``: no document is in the question's language.
        mode: who wrote the sentences: the documents, or a language model.
        model: name of the language model; ``None`` in extractive mode.
        sentences: of the answer; none unless ``answered``.
        citations: numbered from 1 in the order of first use; only those used.
        closest: at most three passages, nearest first; none unless ``closest``.
        unread_pages: pages on which no text could be read; none where the question is answered.
        decision: what the outcome rests on; ``None`` where a language model decided, and
            where nothing was found.
        degraded: parts of the retrieval that failed and were done without.
        queries: further queries that were searched (RAG-Fusion).
        glossary: terms of glossaries in the question; what documents print for them was
            searched as well.
        usage: tokens, calls, and what was read.
        timings_ms: stage → milliseconds.
    """

    question: str = ""
    outcome: Outcome = "answered"
    mode: Mode = "extractive"
    model: str | None = None
    sentences: list[AnswerSentence] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    closest: list[ClosestPassage] = field(default_factory=list)
    unread_pages: list[UnreadPages] = field(default_factory=list)
    decision: Decision | None = None
    degraded: list[Any] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    glossary: list[Any] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    timings_ms: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.metadata is None:
            # LlamaIndex users look here for what they know of each source.
            self.metadata = {node.node.node_id: node.node.metadata for node in self.source_nodes}

    def __str__(self) -> str:
        failed = [_unsupported(one) for one in self.sentences if not one.verified]
        text = self.response or ""
        return "\n".join([text, "", *failed]) if failed else text

    def __repr__(self) -> str:
        text = shorten(self.response or "", MAX_REPR_CHARACTERS, placeholder="…")
        verified = sum(one.verified for one in self.sentences)
        return (
            f"<Answer {text!r}: {self.outcome}, {self.mode}, {len(self.citations)} citations, "
            f"{verified} of {len(self.sentences)} sentences verified>"
        )

    def _repr_html_(self) -> str:
        return html_of(self)

    @property
    def context(self) -> ContextReport | None:
        """What was read for the answer."""
        return self.usage.context

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``ask --json`` prints.

        ``queries`` is part of it only when further queries were searched, ``glossary`` only
        when the question names a term of one.
        """
        document: dict[str, Any] = {
            "question": self.question,
            "answer": self.response or "",
            "outcome": self.outcome,
            "mode": self.mode,
            "model": self.model,
            "sentences": [sentence.to_dict() for sentence in self.sentences],
            "citations": [asdict(citation) for citation in self.citations],
            "closest": [asdict(passage) for passage in self.closest],
            "unread_pages": [asdict(unread) for unread in self.unread_pages],
            "decision": None if self.decision is None else asdict(self.decision),
            "degraded": [_plain(part) for part in self.degraded],
            "usage": self.usage.to_dict(),
            "timings_ms": dict(self.timings_ms),
        }
        if self.queries:
            document["queries"] = list(self.queries)
        if self.glossary:
            document["glossary"] = [_plain(term) for term in self.glossary]
        return document


def _unsupported(sentence: AnswerSentence) -> str:
    why = f" ({'; '.join(sentence.problems)})" if sentence.problems else ""
    return f"[not supported] {sentence.text}{why}"


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
