"""What a language model is sent: the passages that fit its window, delimited, and the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms.llm import LLM

from pipelines.errors import LLMRequestError
from pipelines.splitting import Span
from pipelines.text import count_tokens, language_name, script_of
from rag_app.answer.limits import TokenLimits
from rag_app.answer.plan import Plan
from rag_app.answer.prompts import Prompts, fill
from rag_app.answer.response import ContextReport
from rag_app.answer.written.context import Packed, pack
from rag_app.answer.written.delimiters import delimited, label_of, new_delimiter
from rag_app.answer.written.sent_passage import SentPassage
from rag_app.models.llm.calls import model_name
from rag_app.passages import Passage, Sentence

# A match that is nearly the whole passage tells nothing about where to cut.
_MAX_ANCHOR_SHARE = 0.9
# Without children that hit, the passage is cut around the sentences nearest to the question.
_ANCHORS_BY_WORDS = 3
# What a chat template adds around each message.
_TOKENS_PER_MESSAGE = 8


@dataclass(frozen=True)
class ModelRequest:
    """One request, and what was sent with it.

    Attributes:
        messages: for the model.
        sent: the passages, in the order of the numbers given to the model.
        report: what was used and cut.
        delimiter: the word that delimiters the passages.
    """

    messages: list[ChatMessage]
    sent: list[SentPassage]
    report: ContextReport
    delimiter: str


def build_request(
    plan: Plan, ranked: Sequence[Sentence], llm: LLM, prompts: Prompts, limits: TokenLimits
) -> ModelRequest:
    """Pack the passages into what the model's window leaves.

    Args:
        plan: what was found.
        ranked: its sentences, nearest to the question first.
        llm: the model: its window decides.
        prompts: what is said to it.
        limits: tokens.

    Raises:
        LLMRequestError: there is no room for even one sentence.
    """
    delimiter = new_delimiter([passage.text for passage in plan.passages])
    empty = _messages(plan.question, prompts, delimiter, "")
    overhead = sum(count_tokens(str(m.content)) + _TOKENS_PER_MESSAGE for m in empty)
    latin = script_of("\n".join(passage.text for passage in plan.passages)) == "latin"
    share = limits.window_share if latin else limits.other_scripts_share
    budget = _budget(llm, overhead, limits, share)

    def size(passage: Passage, text: str) -> int:
        # The number is not known yet: two digits are room enough.
        return count_tokens(delimited(delimiter, 99, label_of(passage), text) + "\n\n")

    sentences = [[s for s in plan.sentences if s.passage == i] for i in range(len(plan.passages))]
    anchors = [_anchors(p, i, ranked) for i, p in enumerate(plan.passages)]
    packed, report = pack(plan.passages, sentences, anchors, budget, size)
    if not packed:
        raise LLMRequestError(
            f"{model_name(llm)}: its window of {llm.metadata.context_window} tokens has no room "
            "for one sentence of the documents",
            hint="set llm_context_window to what the model really reads, or a lower llm_max_tokens",
        )
    blocks = [
        delimited(delimiter, number, label_of(plan.passages[one.passage]), one.text)
        for number, one in enumerate(packed, start=1)
    ]
    return ModelRequest(
        messages=_messages(plan.question, prompts, delimiter, "\n\n".join(blocks)),
        sent=[_sent(plan, one) for one in packed],
        report=report,
        delimiter=delimiter,
    )


def _messages(question: str, prompts: Prompts, delimiter: str, passages: str) -> list[ChatMessage]:
    answer = prompts.answer
    system = fill(answer.system, language=language_name(question), refusal=answer.refusal)
    user = fill(answer.user, fence=delimiter, passages=passages, question=question)
    return [
        ChatMessage(role=MessageRole.SYSTEM, content=system),
        ChatMessage(role=MessageRole.USER, content=user),
    ]


def _budget(llm: LLM, overhead: int, limits: TokenLimits, share: float) -> int:
    metadata = llm.metadata
    window = int(metadata.context_window * share)
    known = metadata.num_output
    # LlamaIndex writes -1 for "not known".
    answer = known if known > 0 else limits.answer_tokens
    # A small window is shared: an answer must not take all of it.
    room = window - overhead - min(answer, window // 2)
    wanted = limits.max_context_tokens
    return max(room if wanted is None else min(room, wanted), 0)


def _anchors(passage: Passage, index: int, ranked: Sequence[Sentence]) -> list[Span]:
    hits: list[Span] = []
    for match in passage.matches:
        if match.start is None or match.end is None or passage.start is None:
            continue
        if match.end - match.start < _MAX_ANCHOR_SHARE * len(passage.text):
            hits.append((match.start - passage.start, match.end - passage.start))
    nearest = [s for s in ranked if s.passage == index][:_ANCHORS_BY_WORDS]
    return hits or [(s.start, s.end) for s in nearest]


def _sent(plan: Plan, one: Packed) -> SentPassage:
    return SentPassage(one.passage, one.sentences, label_of(plan.passages[one.passage]))
