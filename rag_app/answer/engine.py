"""The query engine: retrieve, decide, answer; every sentence with what it rests on."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.llms.llm import LLM
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.cleaning import without_sequences
from pipelines.errors import ConfigError
from rag_app.answer import compose
from rag_app.answer.decision import Thresholds
from rag_app.answer.evidence import Evidence, IndexEvidence, NoEvidence
from rag_app.answer.extractive import best_statements, closest_lines
from rag_app.answer.limits import TokenLimits
from rag_app.answer.plan import (
    DetailedRetriever,
    Judgement,
    Plan,
    Retrieved,
    SessionRetriever,
    judge,
    make_plan,
    retrieved_of,
)
from rag_app.answer.prompts import Prompts, PromptsSource, load_prompts, prompts_of
from rag_app.answer.response import Answer
from rag_app.answer.similarity import SentenceSimilarity
from rag_app.answer.streaming import AsyncStreamedAnswer, StreamedAnswer
from rag_app.answer.tracing import atraced_synthesis, traced_retrieval, traced_synthesis
from rag_app.models.usage import metered
from rag_app.session import QuerySession
from rag_app.stopwatch import Stopwatch
from rag_app.store.protocol import Store

if TYPE_CHECKING:
    from rag_app.answer.written.generation import Generation

MAX_SENTENCES = 3
P = ParamSpec("P")
T = TypeVar("T")


class CitedQueryEngine(BaseQueryEngine):
    """Answers with citations that were checked, or says that there is no answer.

    Without a language model the answer is made of the documents' own
    sentences, whatever keys lie in the environment; LlamaIndex's global
    ``Settings`` is never read. With one, an answer is one call, and a question
    that the passages cannot answer is refused before it.

    A question reads one generation of each index, from its search to the last check of
    its answer; a stream does so until it is read to its end, closed or dropped.

    Args:
        retriever: any LlamaIndex retriever; ours also say what failed, and what they search.
        llm: the language model; ``None``: extractive.
        stores: indexes that the passages of your own retriever come from, by the
            ``origin`` in their metadata (a single one by any name).
        evidence: pages, word weights and scripts, where they do not come from an index.
        embed_model: ranks sentences by meaning, where the retriever searched by vectors.
        streaming: whether ``query`` and ``aquery`` return streams.
        max_sentences: sentences of an extractive answer.
        prompts: what is said to the model and to the reader.
        thresholds: when a question is refused.
        limits: tokens of context and answer.
        callback_manager: LlamaIndex's.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        *,
        llm: LLM | None = None,
        stores: Mapping[str, Store] | None = None,
        evidence: Evidence | None = None,
        embed_model: BaseEmbedding | None = None,
        streaming: bool = False,
        max_sentences: int = MAX_SENTENCES,
        prompts: Prompts | None = None,
        thresholds: Thresholds | None = None,
        limits: TokenLimits | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        if max_sentences < 1:
            raise ConfigError(f"max_sentences is {max_sentences}: it must be at least 1")
        super().__init__(callback_manager=callback_manager)
        self._retriever = retriever
        self._llm = llm
        self._stores = dict(stores or {})
        self._evidence = evidence
        self._similarity = SentenceSimilarity(embed_model) if embed_model is not None else None
        self._streaming = streaming
        self._max_sentences = max_sentences
        self._prompts = prompts or load_prompts()
        self._thresholds = thresholds or Thresholds()
        self._limits = limits or TokenLimits()

    @property
    def retriever(self) -> BaseRetriever:
        """The retriever it was given."""
        return self._retriever

    def with_prompts(self, prompts: PromptsSource) -> Self:
        """Return the same engine with other prompts; what they leave out is as in this one.

        Raises:
            ConfigError: they do not read, or name a word that is not filled in.
        """
        other = copy.copy(self)
        other._prompts = prompts_of(prompts, below=self._prompts)
        return other

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return the passages that an answer would be made from."""
        with self._session() as session:
            return self._find(query_bundle, session).nodes

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {}

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        query_bundle = _plain(query_bundle)
        with self._event(query_bundle) as event, ExitStack() as held:
            watch = Stopwatch()
            session = held.enter_context(self._session())
            found = self._find(query_bundle, session)
            watch.lap("retrieve")
            asked = _QuestionState(query_bundle, found, self._evidence_in(session), watch, held)
            response = traced_synthesis(
                self, query_bundle, found.nodes, lambda: self._respond(asked)
            )
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        query_bundle = _plain(query_bundle)
        with self._event(query_bundle) as event, ExitStack() as held:
            watch = Stopwatch()
            session = held.enter_context(await asyncio.to_thread(self._session))
            found = await self._afind(query_bundle, session)
            watch.lap("retrieve")
            asked = _QuestionState(query_bundle, found, self._evidence_in(session), watch, held)
            response = await atraced_synthesis(
                self, query_bundle, found.nodes, lambda: self._arespond(asked, session)
            )
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    @contextmanager
    def _event(self, query_bundle: QueryBundle) -> Iterator[Any]:
        payload: dict[str, Any] = {EventPayload.QUERY_STR: query_bundle.query_str}
        with self.callback_manager.event(CBEventType.QUERY, payload=payload) as event:
            yield event

    def _session(self) -> QuerySession:
        """Open what one question reads.

        Raises:
            IndexEmptyError: there is nothing in it, which is not "the documents do not say".
        """
        own = self._retriever.stores if isinstance(self._retriever, SessionRetriever) else None
        session = QuerySession(self._stores if own is None else own)
        try:
            session.check_not_empty()
        except BaseException:
            session.close()
            raise
        return session

    def _evidence_in(self, session: QuerySession) -> Evidence:
        if self._evidence is not None:
            return self._evidence
        return IndexEvidence(session.snapshots) if session.snapshots else NoEvidence()

    def _find(self, query: QueryBundle, session: QuerySession) -> Retrieved:
        with metered() as meter:
            search = self._detailed_search(query, session)
            if search is None:
                result = self._retriever.retrieve(query)
            else:
                result = traced_retrieval(self._retriever, self.callback_manager, query, search)
        return retrieved_of(result, query.query_str, meter)

    def _detailed_search(
        self, query: QueryBundle, session: QuerySession
    ) -> Callable[[], Any] | None:
        if isinstance(self._retriever, SessionRetriever):
            return partial(self._retriever.retrieve_in, session, query)
        if isinstance(self._retriever, DetailedRetriever):
            return partial(self._retriever.retrieve_detailed, query)
        return None

    async def _afind(self, query: QueryBundle, session: QuerySession) -> Retrieved:
        if isinstance(self._retriever, DetailedRetriever):
            return await _in_thread(session, self._find, query, session)
        with metered() as meter:
            result = await self._retriever.aretrieve(query)
        return retrieved_of(result, query.query_str, meter)

    def _respond(self, asked: _QuestionState) -> RESPONSE_TYPE:
        plan = self._plan(asked)
        generation = self._generation(plan, asked)
        if generation is None:
            answer = self._finish(self._without_model(plan, asked), asked)
            return self._streamed(iter(_pieces(answer)), answer) if self._streaming else answer
        if not self._streaming:
            return self._finish(generation.complete(), asked)
        return StreamedAnswer(
            generation.stream(),
            lambda text: self._finish(generation.streamed(text), asked),
            asked.found.nodes,
            asked.held.pop_all(),
        )

    async def _arespond(self, asked: _QuestionState, session: QuerySession) -> RESPONSE_TYPE:
        plan = await _in_thread(session, self._plan, asked)
        generation = await _in_thread(session, self._generation, plan, asked)
        if generation is None:
            written = await _in_thread(session, self._without_model, plan, asked)
            answer = self._finish(written, asked)
            return self._astreamed(answer) if self._streaming else answer
        if not self._streaming:
            reply = await generation.areply()
            return self._finish(await _in_thread(session, generation.replied, reply), asked)
        return AsyncStreamedAnswer(
            generation.astream(),
            lambda text: session.run(lambda: self._finish(generation.streamed(text), asked)),
            asked.found.nodes,
            asked.held.pop_all(),
        )

    def _plan(self, asked: _QuestionState) -> Plan:
        return make_plan(asked.query.query_str, asked.found, asked.evidence)

    def _generation(self, plan: Plan, asked: _QuestionState) -> Generation | None:
        # With a model the model decides: only a search that found nothing is not sent to it.
        if self._llm is None or not plan.passages:
            return None
        # What a question without a model need not load.
        from rag_app.answer.written.generation import Generation

        first_words = partial(asked.watch.mark, "first_words")
        return Generation(self._llm, plan, asked.evidence, self._prompts, self._limits, first_words)

    def _without_model(self, plan: Plan, asked: _QuestionState) -> Answer:
        if self._llm is not None or not plan.passages:
            return self._nothing_found(plan, asked)
        similarity = self._similarity.on_reference if self._similarity is not None else None
        judged = judge(plan, asked.evidence, self._thresholds, similarity)
        answer = self._shown(plan, judged, asked)
        return replace(answer, decision=judged.decision, metadata=None)

    def _nothing_found(self, plan: Plan, asked: _QuestionState) -> Answer:
        judged = judge(plan, asked.evidence, self._thresholds)
        return self._shown(plan, judged, asked)

    def _shown(self, plan: Plan, judged: Judgement, asked: _QuestionState) -> Answer:
        question, messages, evidence = plan.question, self._prompts.messages, asked.evidence
        if judged.verdict == "refused":
            return compose.refused(question, messages, evidence)
        if judged.verdict == "other_language":
            return compose.other_language(question, plan.passages, evidence, messages)
        if judged.verdict == "closest":
            groups = closest_lines(judged.ranked, judged.units, plan.passages, judged.kind)
            return compose.closest(question, plan.passages, groups, evidence, messages)
        chosen = best_statements(
            judged.ranked, judged.units, plan.passages, judged.kind, self._max_sentences
        )
        return compose.extractive(question, plan.passages, chosen, evidence)

    def _finish(self, answer: Answer, asked: _QuestionState) -> Answer:
        asked.watch.lap("answer")
        found = asked.found
        cost = found.cost
        return replace(
            answer,
            usage=answer.usage.plus(
                cost.calls, cost.prompt_tokens, cost.completion_tokens, estimated=cost.estimated
            ),
            source_nodes=found.nodes,
            metadata=None,
            degraded=found.degraded,
            queries=found.queries,
            glossary=found.glossary,
            timings_ms={stage: round(ms, 1) for stage, ms in asked.watch.timings().items()},
        )

    def _streamed(self, deltas: Iterator[str], answer: Answer) -> StreamedAnswer:
        return StreamedAnswer(deltas, lambda _: answer, answer.source_nodes)

    def _astreamed(self, answer: Answer) -> AsyncStreamedAnswer:
        async def deltas() -> AsyncGenerator[str, None]:
            for piece in _pieces(answer):
                yield piece

        return AsyncStreamedAnswer(deltas(), lambda _: answer, answer.source_nodes)


def _plain(query: QueryBundle) -> QueryBundle:
    """Return the question without what steers a terminal: no word of it is asked for or sent."""
    text = without_sequences(query.query_str)
    return query if text == query.query_str else replace(query, query_str=text)


@dataclass(frozen=True)
class _QuestionState:
    """One question on its way to an answer.

    Attributes:
        query: the question as it was asked.
        found: what was retrieved.
        evidence: what else its session knows.
        watch: the time that it takes.
        held: what is let go when it is answered; a stream takes it over.
    """

    query: QueryBundle
    found: Retrieved
    evidence: Evidence
    watch: Stopwatch
    held: ExitStack = field(repr=False)


async def _in_thread(
    session: QuerySession, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Return what a function gives that reads in a session, without blocking the loop.

    A question that is cancelled meanwhile leaves the session open until it has read.
    """
    return await asyncio.to_thread(lambda: session.run(function, *args, **kwargs))


def _pieces(answer: Answer) -> list[str]:
    return (answer.response or "").splitlines(keepends=True) or [""]
