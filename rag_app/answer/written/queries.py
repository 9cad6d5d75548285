"""Further search queries, written by a language model (RAG-Fusion)."""

from __future__ import annotations

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms.llm import LLM

from pipelines.text import language_name, normalise
from rag_app.answer.prompts import Prompts, fill, load_prompts
from rag_app.answer.written.lists import parse_list
from rag_app.models.llm.calls import chat


def generate_queries(
    llm: LLM, question: str, count: int, *, prompts: Prompts | None = None
) -> list[str]:
    """Return at most ``count`` other queries for a question, in its language.

    What the model writes is cleaned of numbers, fences and preambles; the question
    itself is not repeated. Nonsense, too few or nothing gives what there is of
    queries, at worst none: the question is searched in any case.

    Args:
        llm: the model; called once.
        question: as it was asked.
        count: how many more queries.
        prompts: None: those of this program.

    Raises:
        LLMError: the call failed.
    """
    if count < 1:
        return []
    words = {"count": count, "language": language_name(question), "question": question}
    asked = (prompts or load_prompts()).queries
    reply = chat(
        llm,
        [
            ChatMessage(role=MessageRole.SYSTEM, content=fill(asked.system, **words)),
            ChatMessage(role=MessageRole.USER, content=fill(asked.user, **words)),
        ],
    )
    same = normalise(question)
    written = parse_list(reply.text, count + 1, cut=reply.cut)
    return [query for query in written if normalise(query) != same][:count]
