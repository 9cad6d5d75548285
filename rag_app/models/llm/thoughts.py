"""A model's thoughts, separated from its answer while it streams.

Models that reason write their thoughts before the answer, between special tags.
Servers cut them off, pass them on, or drop the opening tag, since it stood in the prompt.
What is shown is the same however the text is cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")
# DeepSeek, Qwen and others; Mistral; Kimi; OpenThinker; Cohere; the channels of gpt-oss.
_OPENING = (
    *(f"<{name}>" for name in _NAMES),
    "[think]",
    "◁think▷",
    "<|begin_of_thought|>",
    "<|start_thinking|>",
    "<|channel|>analysis",
    "<|channel|>commentary",
)
_CLOSING = (
    *(f"</{name}>" for name in _NAMES),
    "[/think]",
    "◁/think▷",
    "<|end_of_thought|>",
    "<|end_thinking|>",
    "<|channel|>final",
    # What is left of "<|end|><|start|>assistant<|channel|>final" without its special tokens.
    "assistantfinal",
)
# They end a thought of gpt-oss; outside of one they mean nothing to a reader.
_CONTROL = (
    "<|end|>",
    "<|call|>",
    "<|return|>",
    "<|message|>",
    "<|start|>assistant",
    "<|begin_of_solution|>",
    "<|end_of_solution|>",
    "<|start_response|>",
    "<|end_response|>",
)
_ENDS_THOUGHT = frozenset((*_CLOSING, "<|end|>", "<|call|>"))
_ALL = (*_OPENING, *_CLOSING, *_CONTROL)
_TAG = re.compile("|".join(map(re.escape, _ALL)), re.IGNORECASE)
_MAX_TAG_CHARACTERS = max(map(len, _ALL))
_BEGUN = frozenset(tag[:length] for tag in _ALL for length in range(1, len(tag)))
# The beginning of a text decides whether it is an answer.
MAX_LEAD_CHARACTERS = 600

IsAnswer = Callable[[str], bool]


def always(_lead: str) -> bool:
    """Take any text for an answer: it is shown as it comes."""
    return True


def never(_lead: str) -> bool:
    """Take no beginning for an answer: the text is shown when it is complete."""
    return False


class ThoughtFilter:
    """A model's text without its thoughts, piece by piece.

    A closing tag without an opening one makes all before it a thought, so that text is
    held back until its beginning can only be an answer, or until it ends.

    Args:
        is_answer: whether the beginning of a text (at most ``MAX_LEAD_CHARACTERS``) can be
            no thought; once true of a beginning, it is true of a longer one.
    """

    def __init__(self, is_answer: IsAnswer) -> None:
        self._is_answer = is_answer
        self._settled = is_answer is always
        self._lead = ""
        self._pending = ""
        self._inside = False
        self._after_thought = False

    def feed(self, delta: str) -> str:
        """Take a piece of the model's text and return what can be shown by now."""
        text = self._pending + delta
        ready = len(text) - _begun(text)
        self._pending = text[ready:]
        return self._shown(text[:ready])

    def close(self) -> str:
        """Return what was held back, at the end of the model's text."""
        last = self._shown(self._pending)
        lead, self._lead, self._pending = self._lead, "", ""
        return lead + last

    def _shown(self, text: str) -> str:
        shown, last = "", 0
        for tag in _TAG.finditer(text):
            shown += self._written(text[last : tag.start()])
            self._begin_or_end(tag.group().casefold())
            last = tag.end()
        return shown + self._written(text[last:])

    def _begin_or_end(self, tag: str) -> None:
        """Begin or end a thought."""
        if tag in _OPENING:
            self._inside = True
        elif self._inside:
            if tag in _ENDS_THOUGHT:
                self._inside, self._after_thought = False, True
        elif tag in _CLOSING and not self._settled:
            self._lead, self._after_thought = "", True

    def _written(self, piece: str) -> str:
        if self._after_thought and not self._inside:
            piece = piece.lstrip()
        if self._inside or not piece:
            return ""
        self._after_thought = False
        if not self._settled:
            return self._held(piece)
        return piece

    def _held(self, piece: str) -> str:
        undecided = len(self._lead) < MAX_LEAD_CHARACTERS
        self._lead += piece
        if not (undecided and self._is_answer(self._lead[:MAX_LEAD_CHARACTERS])):
            return ""
        self._settled = True
        lead, self._lead = self._lead, ""
        return lead


def _begun(text: str) -> int:
    """Return the length of the end of a text that may become a tag."""
    for length in range(min(len(text), _MAX_TAG_CHARACTERS - 1), 0, -1):
        if text[-length:].casefold() in _BEGUN:
            return length
    return 0
