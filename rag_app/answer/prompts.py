"""Prompts are data: one readable file, replaceable by a setting."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from pipelines.errors import ConfigError
from pipelines.regular_files import read_whole

_FILE = "prompts.toml"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerPrompts(_Part):
    """How an answer is asked for; ``refusal`` is what the model writes when there is none."""

    system: str
    user: str
    refusal: str


class QueryPrompts(_Part):
    """How further search queries are asked for."""

    system: str
    user: str


class OrderingPrompts(_Part):
    """How an order of passages is asked for."""

    system: str
    user: str


class PiecePrompts(_Part):
    """How summaries of and questions to a passage are asked for."""

    summary_system: str
    questions_system: str
    user: str


class Messages(_Part):
    """What the reader is told, by language; ``default`` serves all others."""

    refused: dict[str, str]
    closest: dict[str, str]
    unread_pages: dict[str, str]
    other_language: dict[str, str]
    languages: dict[str, dict[str, str]] = {}
    page_states: dict[str, dict[str, str]] = {}

    def name_of(self, language: str, *, told_in: str) -> str:
        """Return what a language is called in another one; its English name when not known."""
        return self.languages.get(told_in, {}).get(language, language)

    def state_name(self, state: str, *, told_in: str) -> str:
        """Return why a page was not read, in a language or else in the default."""
        words = {**self.page_states.get("default", {}), **self.page_states.get(told_in, {})}
        return words.get(state, state)


# The words that may be filled in, and those without which a prompt is useless.
_PLACES: dict[tuple[str, str], tuple[set[str], set[str]]] = {
    ("answer", "system"): ({"language", "refusal"}, set()),
    ("answer", "user"): ({"fence", "passages", "question"}, {"passages", "question"}),
    ("queries", "system"): ({"count", "language", "question"}, set()),
    ("queries", "user"): ({"count", "language", "question"}, {"question"}),
    ("ordering", "system"): ({"count", "fence", "question"}, set()),
    ("ordering", "user"): (
        {"count", "fence", "passages", "question"},
        {"passages", "question"},
    ),
    ("pieces", "summary_system"): ({"language", "count", "fence"}, set()),
    ("pieces", "questions_system"): ({"language", "count", "fence"}, set()),
    ("pieces", "user"): ({"language", "count", "fence", "passages"}, {"passages"}),
}
# The same of each message.
_MESSAGE_PLACES: dict[str, tuple[set[str], set[str]]] = {
    "refused": (set(), set()),
    "closest": (set(), set()),
    "unread_pages": ({"pages"}, {"pages"}),
    "other_language": ({"question_language", "documents_language"}, set()),
}


class Prompts(_Part):
    """All prompts and messages."""

    answer: AnswerPrompts
    queries: QueryPrompts
    pieces: PiecePrompts
    ordering: OrderingPrompts
    messages: Messages

    @model_validator(mode="after")
    def _places_are_known(self) -> Prompts:
        for (part, name), (allowed, needed) in _PLACES.items():
            _check_places(f"{part}.{name}", getattr(getattr(self, part), name), allowed, needed)
        for name, (allowed, needed) in _MESSAGE_PLACES.items():
            texts: dict[str, str] = getattr(self.messages, name)
            if "default" not in texts:
                raise ValueError(f"messages.{name} has no default")
            for language, text in texts.items():
                _check_places(f"messages.{name}.{language}", text, allowed, needed)
        return self


def load_prompts(path: Path | None = None) -> Prompts:
    """Return the prompts of this program, with those of a file in their place.

    Args:
        path: a TOML file of the same form; it may leave parts out.

    Raises:
        ConfigError: the file does not read, or names a word that is not filled in.
    """
    values = _shipped()
    if path is not None:
        values = _merged(values, _read(path))
    return _validated(values, f"the prompts in {path}")


PromptsSource = Prompts | Mapping[str, Any] | str | os.PathLike[str]


def prompts_of(source: PromptsSource | None, *, below: Prompts | None = None) -> Prompts:
    """Return prompts that somebody gave, over others.

    Args:
        source: ``Prompts`` as they are; a TOML file, or a mapping of its form: what it
            leaves out is as ``below``.
        below: None: those of this program.

    Raises:
        ConfigError: it does not read, or names a word that is not filled in.
    """
    below = below or load_prompts()
    if source is None:
        return below
    if isinstance(source, Prompts):
        return source
    if isinstance(source, Mapping):
        return _validated(_merged(below.model_dump(), source), "prompts")
    path = Path(source)
    return _validated(_merged(below.model_dump(), _read(path)), f"the prompts in {path}")


def fill(template: str, **values: object) -> str:
    """Return a prompt with its words filled in; what is filled in is never read again."""
    return Template(template).substitute({k: str(v) for k, v in values.items()}).strip()


def in_language(texts: Mapping[str, str], language: str) -> str:
    """Return the text for a language, or the default."""
    return texts.get(language, texts["default"])


def _validated(values: Mapping[str, Any], origin: str) -> Prompts:
    try:
        return Prompts.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise ConfigError(
            f"{origin} are wrong: {f'{place}: ' if place else ''}{message}",
            hint=f"take {_FILE} of rag_app/answer as the pattern",
        ) from None


_MAX_PROMPTS_BYTES = 1 << 20


@cache
def _text() -> str:
    return resources.files("rag_app.answer").joinpath(_FILE).read_text(encoding="utf-8")


def _shipped() -> dict[str, Any]:
    return tomllib.loads(_text())


def _read(path: Path) -> dict[str, Any]:
    data = read_whole(path, "the prompts file", _MAX_PROMPTS_BYTES)
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigError(
            f"the prompts file {path} cannot be read: {reason}", hint="it must be TOML in UTF-8"
        ) from error


def _merged(below: dict[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        inner = merged.get(key)
        both = isinstance(inner, dict) and isinstance(value, dict)
        merged[key] = _merged(inner, value) if both and isinstance(inner, dict) else value
    return merged


def _check_places(where: str, text: str, allowed: set[str], needed: set[str]) -> None:
    template = Template(text)
    if not template.is_valid():
        raise ValueError(f"{where} has a $ without a word: write $$ for a dollar sign")
    found = set(template.get_identifiers())
    if found - allowed:
        unknown = ", ".join(sorted(found - allowed))
        raise ValueError(f"{where}: ${unknown} is not filled in; known: {sorted(allowed)}")
    if needed - found:
        raise ValueError(f"{where} lacks ${', $'.join(sorted(needed - found))}")
