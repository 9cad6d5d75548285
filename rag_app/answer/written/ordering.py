"""A language model orders passages by how well they answer a question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms.llm import LLM

from pipelines.errors import RerankError
from pipelines.text import count_tokens
from pipelines.tokens import TokenOffsets
from rag_app.answer.prompts import Prompts, fill, load_prompts
from rag_app.answer.written.delimiters import delimited, new_delimiter
from rag_app.models.llm.calls import chat, model_name
from rag_app.models.usage import Reply

# The beginning of a passage tells what it is about; all of 30 would not fit most windows.
MAX_PASSAGE_TOKENS = 300
MIN_PASSAGE_TOKENS = 40
# What each passage costs beside its text: two marks with a word of their own, and a number.
_MARK_TOKENS = 40
_PROMPT_TOKENS = 300
# Of so many the order decides what is read; a reply that names fewer is none.
MIN_NAMED = 5
_NUMBER = re.compile(r"\d+")
_LABEL = "passage"


def order_scores(
    llm: LLM, question: str, texts: Sequence[str], *, prompts: Prompts | None = None
) -> list[float]:
    """Return a score for each text, higher is better, by one call of a language model.

    The model reads the beginnings of the texts, as many of them as its window holds. What it
    does not name, or does not read, stays in the order given, after what it names.

    Args:
        llm: the model.
        question: as it was asked.
        texts: the passages, best first so far.
        prompts: None: those of this program.

    Raises:
        LLMError: the call failed.
        RerankError: the question does not fit the window, or the reply is no order.
    """
    shown = _beginnings(llm, question, texts)
    delimiter = new_delimiter(shown)
    passages = "\n".join(
        delimited(delimiter, number, _LABEL, text) for number, text in enumerate(shown, 1)
    )
    words = {"fence": delimiter, "passages": passages, "question": question, "count": len(shown)}
    asked = (prompts or load_prompts()).ordering
    reply = chat(
        llm,
        [
            ChatMessage(role=MessageRole.SYSTEM, content=fill(asked.system, **words)),
            ChatMessage(role=MessageRole.USER, content=fill(asked.user, **words)),
        ],
    )
    named = read_order(reply, len(shown))
    if not named:
        raise RerankError(
            f"{model_name(llm)}: its reply is no order of the passages",
            hint="a larger model may follow the instruction",
        )
    order = [*named, *(place for place in range(len(texts)) if place not in set(named))]
    ranks = {place: rank for rank, place in enumerate(order, 1)}
    return [1 / ranks[place] for place in range(len(texts))]


def read_order(reply: Reply, count: int) -> list[int]:
    """Return the places, from 0, that a reply names in its order; empty: it is no order.

    A reply is an order if it names all passages or :data:`MIN_NAMED` of them, and no more
    numbers that are none of them.
    """
    text = reply.text
    written = _NUMBER.findall(text)
    if reply.cut and text[-1:].isdigit():
        written = written[:-1]  # half a number may be another one
    # Longer ones are no numbers of passages, and converting them takes long.
    numbers = [int(one) if len(one) < 7 else 0 for one in written]
    named = list(dict.fromkeys(n - 1 for n in numbers if 1 <= n <= count))
    strangers = sum(not 1 <= n <= count for n in numbers)
    return named if len(named) >= min(count, MIN_NAMED) and strangers <= len(named) else []


def _beginnings(llm: LLM, question: str, texts: Sequence[str]) -> list[str]:
    """Return the beginnings of the first texts that fit the model's window together.

    Raises:
        RerankError: not even one fits.
    """
    metadata = llm.metadata
    room = metadata.context_window - max(metadata.num_output, 0)
    room -= count_tokens(question) + _PROMPT_TOKENS
    count = min(len(texts), room // (MIN_PASSAGE_TOKENS + _MARK_TOKENS))
    if count < 1:
        raise RerankError(
            f"{model_name(llm)}: the question leaves no room for passages in its context window "
            f"of {metadata.context_window} tokens",
            hint="set llm_context_window if it is larger, or ask a shorter question",
        )
    tokens = min(MAX_PASSAGE_TOKENS, room // count - _MARK_TOKENS)
    return [text[: TokenOffsets(text).end_of(0, tokens)] for text in texts[:count]]
