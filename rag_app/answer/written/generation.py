"""One answer written by a language model: one call, then checked sentences."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace

from llama_index.core.llms.llm import LLM

from pipelines.errors import LLMServerError
from pipelines.text import content_words, sentence_spans
from rag_app.answer import compose
from rag_app.answer.citations import CitationBook
from rag_app.answer.evidence import Evidence
from rag_app.answer.limits import TokenLimits
from rag_app.answer.plan import Plan
from rag_app.answer.prompts import Prompts
from rag_app.answer.response import Answer, AnswerSentence, Usage
from rag_app.answer.written.checks import SentenceChecker
from rag_app.answer.written.citation_marks import MarkReader
from rag_app.answer.written.delimiters import DelimiterFilter
from rag_app.answer.written.leads import cites_at_once
from rag_app.answer.written.marks import (
    AnswerFilter,
    MarkedSentence,
    has_words,
    sentences_with_marks,
    without_marks,
)
from rag_app.answer.written.order import rank_sentences
from rag_app.answer.written.refusals import says_no_answer
from rag_app.answer.written.request import build_request
from rag_app.answer.written.statements import statements_of
from rag_app.models.llm.calls import ReplyStream, achat, chat, model_name, thinks
from rag_app.models.llm.thoughts import always
from rag_app.models.usage import Reply

CUT_OFF = "the model stopped here, at its limit of tokens"


class Generation:
    """One call to a language model about passages worth an answer.

    Args:
        llm: the model.
        plan: what was found.
        evidence: pages and word weights.
        prompts: what is said to the model.
        limits: tokens.
        on_first_words: called when the first words can be shown.

    Raises:
        LLMRequestError: the model's window has no room for even one sentence.
    """

    def __init__(
        self,
        llm: LLM,
        plan: Plan,
        evidence: Evidence,
        prompts: Prompts,
        limits: TokenLimits,
        on_first_words: Callable[[], None],
    ) -> None:
        self._llm = llm
        self._plan = plan
        self._evidence = evidence
        self._prompts = prompts
        self._on_first_words = on_first_words
        scored = rank_sentences(plan.question, plan.passages, plan.sentences, plan.weights)
        self._ranked = [one.sentence for one in scored]
        self._request = build_request(plan, self._ranked, llm, prompts, limits)
        self._book = CitationBook(plan.passages, evidence)
        self._delimiters = DelimiterFilter(
            self._request.delimiter, [passage.text for passage in plan.passages]
        )
        texts = [source.text for source in self._request.sent]
        self._reader = MarkReader(len(texts), texts)
        self._filter = AnswerFilter(self._renumber, prompts.answer.refusal, self._reader)
        # What may be a thought is held back; of any other model each word is shown as it comes.
        is_answer = cites_at_once if thinks(llm) else always
        self._stream = ReplyStream(llm, self._request.messages, is_answer)
        self._said_first = False

    def complete(self) -> Answer:
        """Ask, wait, and return the checked answer.

        Raises:
            LLMError: of the class that says what failed.
        """
        return self.replied(chat(self._llm, self._request.messages, cites_at_once))

    async def areply(self) -> Reply:
        """Ask without blocking; :meth:`replied` makes the answer of what comes.

        Raises:
            LLMError: of the class that says what failed.
        """
        return await achat(self._llm, self._request.messages, cites_at_once)

    def replied(self, reply: Reply) -> Answer:
        """Return the checked answer of a whole reply."""
        text = self._filter.feed(self._delimiters.feed(reply.text))
        return self._answer(text + self._close(), reply)

    def stream(self) -> Iterator[str]:
        """Yield the text as the model gives it, its marks renumbered.

        Raises:
            LLMError: of the class that says what failed.
        """
        for delta in self._stream:
            if shown := self._shown(delta):
                yield shown
        if last := self._close():
            yield last

    async def astream(self) -> AsyncGenerator[str, None]:
        """Do the same as :meth:`stream` without blocking."""
        async with aclosing(aiter(self._stream)) as deltas:
            async for delta in deltas:
                if shown := self._shown(delta):
                    yield shown
        if last := self._close():
            yield last

    def streamed(self, text: str) -> Answer:
        """Return the checked answer of a stream that was read to its end as ``text``."""
        return self._answer(text, self._stream.reply)

    def _shown(self, delta: str) -> str:
        shown = self._filter.feed(self._delimiters.feed(delta))
        if shown and not self._said_first:
            self._said_first = True
            self._on_first_words()
        return shown

    def _close(self) -> str:
        last = self._filter.feed(self._delimiters.close()) + self._filter.close()
        if self._filter.refused:
            return self._refusal().response or ""
        if not has_words(self._filter.raw):
            raise LLMServerError(
                f"{model_name(self._llm)}: the model wrote an empty answer",
                hint="ask again, or set a higher llm_max_tokens",
            )
        return last

    def _refusal(self) -> Answer:
        return compose.refused(self._plan.question, self._prompts.messages, self._evidence)

    def _answer(self, text: str, reply: Reply) -> Answer:
        if self._filter.refused:
            answer = self._refusal()
        elif says_no_answer(self._filter.raw, self._marked(), self._prompts.answer.refusal):
            # The model's own words say more than ours; what they cite is no evidence.
            answer = replace(self._refusal(), response=without_marks(text), metadata=None)
        else:
            sentences = self._checked(cut=reply.cut)
            answer = Answer(
                response=text,
                question=self._plan.question,
                sentences=sentences,
                citations=self._book.citations(),
            )
        answer.mode = "llm"
        answer.model = model_name(self._llm)
        answer.usage = self._usage(reply)
        return answer

    def _checked(self, *, cut: bool) -> list[AnswerSentence]:
        raw = self._filter.raw
        sent = self._request.sent
        checker = SentenceChecker(
            sent,
            self._book,
            weights=self._evidence.idf(set(content_words(raw))),
            question=self._plan.question,
        )
        marked = statements_of(self._marked(), self._plan.question)
        checked = [checker.check(sentence) for sentence in marked]
        if cut and checked:
            last = checked[-1]
            problems = [*last.problems, CUT_OFF]
            checked[-1] = replace(last, support="unsupported", problems=problems)
        return checked

    def _marked(self) -> list[MarkedSentence]:
        return sentences_with_marks(self._filter.raw, sentence_spans, self._reader)

    def _renumber(self, number: int) -> int | None:
        if not 1 <= number <= len(self._request.sent):
            return None
        return self._book.number_of(self._request.sent[number - 1].passage)

    def _usage(self, reply: Reply) -> Usage:
        return Usage(
            llm_calls=reply.calls,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            estimated=reply.estimated,
            context=self._request.report,
        )
