"""Text to search that is no part of the passage: a summary and questions, by a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms.llm import LLM
from llama_index.core.schema import BaseNode, IndexNode, MetadataMode, TextNode

from pipelines.errors import RagError
from pipelines.passages import piece_of
from pipelines.text import language_name, sentence_spans
from rag_app.answer.prompts import Prompts, fill, load_prompts
from rag_app.answer.written.delimiters import delimited, new_delimiter, without_delimiter
from rag_app.answer.written.lists import parse_list
from rag_app.models.llm.calls import chat
from rag_app.models.usage import Reply

QUESTIONS = 3
# A summary longer than a child is cut by most embedding models.
MAX_SUMMARY_CHARACTERS = 1200


@dataclass(frozen=True)
class WrittenPieces:
    """What a model wrote of one passage, or why it wrote nothing.

    Attributes:
        passage_id: id of the passage.
        pieces: nodes to search, each leading to the passage.
        error: what failed; None when all went well.
    """

    passage_id: str
    pieces: tuple[IndexNode, ...] = ()
    error: RagError | None = None


class PieceWriter:
    """Writes a summary of each passage and questions that it answers.

    Args:
        llm: the model; called twice for each passage.
        prompts: None: those of this program.
        questions: how many questions.
        workers: passages written at a time.
    """

    def __init__(
        self,
        llm: LLM,
        *,
        prompts: Prompts | None = None,
        questions: int = QUESTIONS,
        workers: int = 4,
    ) -> None:
        self._llm = llm
        self._prompts = (prompts or load_prompts()).pieces
        self._questions = questions
        self._workers = workers

    def __call__(self, passages: Sequence[BaseNode]) -> Iterator[WrittenPieces]:
        """Yield what was written of each passage, in order; a failed call spoils no other."""
        with ThreadPoolExecutor(self._workers, "pieces") as executor:
            yield from executor.map(self._write, passages)

    def _write(self, passage: BaseNode) -> WrittenPieces:
        try:
            summary = _summary(self._ask(passage, self._prompts.summary_system))
            reply = self._ask(passage, self._prompts.questions_system)
        except RagError as error:
            return WrittenPieces(passage.node_id, error=error)
        if not isinstance(passage, TextNode):
            raise TypeError(f"{type(passage).__name__} is no passage")
        written = {summary: "summary"} if summary else {}
        # Small models give a question as the summary too: one text is one piece.
        for text in parse_list(reply.text, self._questions, cut=reply.cut):
            written.setdefault(text, "question")
        pieces = (piece_of(passage, text, {"piece": what}) for text, what in written.items())
        return WrittenPieces(passage.node_id, tuple(pieces))

    def _ask(self, passage: BaseNode, system: str) -> Reply:
        text = passage.get_content(metadata_mode=MetadataMode.NONE)
        delimiter = new_delimiter([text])
        words = {"language": language_name(text), "count": self._questions, "fence": delimiter}
        shown = delimited(delimiter, 1, "", text)
        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=fill(system, **words)),
            ChatMessage(
                role=MessageRole.USER, content=fill(self._prompts.user, passages=shown, **words)
            ),
        ]
        reply = chat(self._llm, messages)
        return replace(reply, text=without_delimiter(reply.text, delimiter, [text]))


def _summary(reply: Reply) -> str:
    """Return the whole sentences of a summary; of one that was cut in its first, what there is."""
    text = " ".join(reply.text.split())
    cut = reply.cut or len(text) > MAX_SUMMARY_CHARACTERS
    text = text[:MAX_SUMMARY_CHARACTERS]
    spans = sentence_spans(text)
    return text[: spans[-1][0]].rstrip() if cut and len(spans) > 1 else text
