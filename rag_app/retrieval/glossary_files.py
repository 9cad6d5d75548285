"""Glossaries: those of this program by name, others from a file, which is not trusted.

A file is JSON in UTF-8::

    {
      "about": "What our service reports print.",
      "terms": {"downtime": ["unplanned outage", "hours out of service"]},
      "statements": {"service log": ["record of works", "hours of operation"]}
    }

``terms`` and ``statements`` are both searched as they are; the two may overlap in a question
("operating cash flow" is a term, and "cash flow" in it names a statement).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from pipelines.errors import ConfigError, NotPdfError
from pipelines.file_names import printable
from pipelines.regular_files import open_regular
from pipelines.text import sanitise
from rag_app.config_file import is_glossary_file
from rag_app.retrieval.glossary import (
    MAX_TERM_CHARS,
    MIN_TERM_CHARS,
    SORTS,
    Glossary,
    GlossaryTerm,
    Sort,
    folded,
)

NONE = "none"
MAX_GLOSSARY_BYTES = 1 << 20
MAX_TERMS = 10_000
MAX_PRINTS = 20
MAX_PRINT_CHARS = 200
_FOLDER = resources.files("rag_app") / "glossaries"
_KEYS = ("about", *SORTS)
_END = ".json"


def shipped_names() -> list[str]:
    """Return the names of the glossaries of this program."""
    return sorted(
        file.name.removesuffix(_END) for file in _FOLDER.iterdir() if file.name.endswith(_END)
    )


def load_glossaries(names: Iterable[str]) -> tuple[Glossary, ...]:
    """Return glossaries by name or file, each once; ``none`` alone is none.

    Raises:
        ConfigError: no glossary has this name, or a file is none.
    """
    distinct = list(dict.fromkeys(names))
    if NONE in distinct and len(distinct) > 1:
        raise ConfigError(
            f"glossary is {NONE} and {', '.join(n for n in distinct if n != NONE)}",
            hint=f"give {NONE} alone, or glossaries",
        )
    return tuple(_load(name) for name in distinct if name != NONE)


def _load(name: str) -> Glossary:
    return glossary_of_file(Path(name)) if is_glossary_file(name) else _shipped(name)


@lru_cache(maxsize=16)
def _shipped(name: str) -> Glossary:
    if name not in shipped_names():
        raise ConfigError(
            f"there is no glossary {printable(name)!r}",
            hint=f"known: {', '.join(shipped_names())}; {NONE}; or a file, written ./{name}{_END}",
        )
    text = (_FOLDER / f"{name}{_END}").read_text(encoding="utf-8")
    return parse_glossary(text, name, f"the glossary {name}")


def glossary_of_file(path: Path) -> Glossary:
    """Read a glossary from a file.

    Raises:
        ConfigError: it does not read, or is larger, longer or of another form than a glossary.
    """
    where = f"the glossary {printable(path)}"
    try:
        with open_regular(path.expanduser()) as file:
            data = file.read(MAX_GLOSSARY_BYTES + 1)
        if len(data) > MAX_GLOSSARY_BYTES:
            raise ConfigError(f"{where} is larger than {MAX_GLOSSARY_BYTES} bytes", hint=_HINT)
        text = data.decode("utf-8-sig")
    except NotPdfError as error:
        raise ConfigError(f"{where} does not read: {error.message}", hint=_HINT) from None
    except (OSError, RuntimeError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{where} does not read: {reason}", hint=_HINT) from error
    return parse_glossary(text, printable(path.stem), where)


_HINT = "it must be JSON in UTF-8, of the form of rag_app/glossaries/accounting.json"


def parse_glossary(text: str, name: str, where: str) -> Glossary:
    """Return the glossary that a JSON text holds.

    Args:
        text: of untrusted origin.
        name: what it will be called.
        where: what errors call it.

    Raises:
        ConfigError: it is no glossary; says what of it is wrong.
    """
    try:
        values = json.loads(text, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigError(f"{where} does not read: {reason}", hint=_HINT) from None
    if not isinstance(values, dict):
        raise ConfigError(f"{where} holds no object", hint=_HINT)
    unknown = sorted(set(values) - set(_KEYS))
    if unknown:
        raise ConfigError(
            f"{where} has the unknown key {_shown(unknown[0])}", hint=f"allowed: {', '.join(_KEYS)}"
        )
    entries = {sort: _entries(values.get(sort, {}), name, sort, where) for sort in SORTS}
    count = sum(map(len, entries.values()))
    if not 0 < count <= MAX_TERMS:
        raise ConfigError(f"{where} has {count} terms", hint=f"1 to {MAX_TERMS} are possible")
    return Glossary(name, entries["terms"], entries["statements"])


def _without_twins(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"{_shown(key)} is there twice")
        values[key] = value
    return values


def _entries(values: Any, name: str, sort: Sort, where: str) -> Mapping[str, GlossaryTerm]:
    if not isinstance(values, dict):
        raise ConfigError(f"{sort} of {where} is {_shown(values)}", hint="an object is possible")
    found: dict[str, GlossaryTerm] = {}
    for given, prints in values.items():
        term = folded(sanitise(given))
        place = f"{_shown(given)} in {sort} of {where}"
        if not MIN_TERM_CHARS <= len(term) <= MAX_TERM_CHARS:
            raise ConfigError(
                f"{place} has {len(term)} characters",
                hint=f"a term has {MIN_TERM_CHARS} to {MAX_TERM_CHARS}",
            )
        if term in found:
            raise ConfigError(f"{place} is there twice", hint="upper and lower case are the same")
        found[term] = GlossaryTerm(name, sort, term, _prints(prints, place))
    return found


def _prints(values: Any, place: str) -> tuple[str, ...]:
    hint = f"give a list of 1 to {MAX_PRINTS} texts of at most {MAX_PRINT_CHARS} characters"
    if not isinstance(values, list) or not 0 < len(values) <= MAX_PRINTS:
        raise ConfigError(f"what is printed for {place} is {_shown(values)}", hint=hint)
    texts = []
    for value in values:
        text = " ".join(sanitise(value).split()) if isinstance(value, str) else ""
        if not 0 < len(text) <= MAX_PRINT_CHARS:
            raise ConfigError(f"what is printed for {place} holds {_shown(value)}", hint=hint)
        texts.append(text)
    return tuple(dict.fromkeys(texts))


_SHOWN_CHARS = 60


def _shown(value: object) -> str:
    text = printable(repr(value))
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
