"""An index's configuration as JSON, and its comparison with a wanted one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from functools import lru_cache
from typing import Any

from pipelines.errors import IndexDamagedError, IndexMismatchError
from rag_app.store.protocol import IndexConfig

_TUPLES = frozenset({"scripts", "child_sizes", "kinds", "vector_kinds", "word_kinds"})

# What may not differ, and its name in messages. The number format is
# not part of a model's identity, and the kinds are a choice per index.
_IDENTITY = {
    "embed_model": "embedding model",
    "embed_fingerprint": "weights of the embedding model",
    "dimension": "length of the vectors",
    "query_instruction": "query instruction",
    "text_instruction": "text instruction",
    "tokenizer": "tokenizer",
    "terms": "rule for search terms",
    "parent_size": "parent size",
    "window": "window",
}


def dump_config(config: IndexConfig) -> str:
    """Return the configuration as JSON: only the named fields, so never a key."""
    return json.dumps(asdict(config), ensure_ascii=False, sort_keys=True)


@lru_cache(maxsize=16)
def load_config(text: str) -> IndexConfig:
    """Read what :func:`dump_config` wrote; unknown fields are left out.

    Raises:
        IndexDamagedError: not JSON, or a field is missing.
    """
    known = {field.name for field in fields(IndexConfig)}
    try:
        raw = json.loads(text)
        values: dict[str, Any] = {
            key: _read(key, value) for key, value in raw.items() if key in known
        }
        return IndexConfig(**values)
    except (ValueError, TypeError, AttributeError) as error:
        raise IndexDamagedError(
            f"the configuration of the index cannot be read: {error}",
            hint="restore the folder from a copy, or remove it and ingest again",
        ) from error


def check_config(stored: IndexConfig, wanted: IndexConfig, *, where: str = "the index") -> None:
    """Accept only what gives the same vectors, chunks and terms as the index holds.

    An index without vectors (``embed_model == ""``) accepts any model, and a
    wanted configuration without a model asks nothing about vectors. So it is with
    a further analyser that only one of the two has.

    Raises:
        IndexMismatchError: names each difference, both sides.
    """
    found = differences(stored, wanted)
    if not found:
        return
    sides = "; ".join(
        f"{what}: {have!r} in the index, {want!r} wanted" for what, have, want in found
    )
    raise IndexMismatchError(
        f"{where} was made with other settings: {sides}",
        hint="open it with the settings it was made with, or ingest into a new index",
    )


def differences(stored: IndexConfig, wanted: IndexConfig) -> list[tuple[str, object, object]]:
    """Return (what, stored value, wanted value) of all that makes two indexes differ."""
    keys: Iterable[str] = _IDENTITY
    if not stored.embed_model or not wanted.embed_model:
        keys = ("tokenizer", "terms", "parent_size", "window")
    found: list[tuple[str, object, object]] = [
        (_IDENTITY[key], getattr(stored, key), getattr(wanted, key))
        for key in keys
        if getattr(stored, key) != getattr(wanted, key)
    ]
    have, want = dict(stored.analysers), dict(wanted.analysers)
    return found + [
        (f"terms by {name}", have[name], want[name])
        for name in have
        if want.get(name, have[name]) != have[name]
    ]


def joined_analysers(*configs: IndexConfig) -> tuple[tuple[str, str], ...]:
    """Return the further analysers of all; of one name they have one fingerprint."""
    return tuple(dict(pair for config in configs for pair in config.analysers).items())


def _read(key: str, value: Any) -> Any:
    if key == "analysers":
        return tuple((str(name), str(fingerprint)) for name, fingerprint in value)
    return tuple(value) if key in _TUPLES else value


def with_kinds(
    config: IndexConfig, *, vectors: Iterable[str] = (), words: Iterable[str] = ()
) -> IndexConfig:
    """Return the configuration with these kinds built as well (order kept, none twice)."""
    vector_kinds = _union(config.vector_kinds, vectors)
    word_kinds = _union(config.word_kinds, words)
    kinds = _union(config.kinds, (*vector_kinds, *word_kinds))
    sizes = {int(kind[6:]) for kind in kinds if kind.startswith("child-")}
    return replace(
        config,
        kinds=kinds,
        vector_kinds=vector_kinds,
        word_kinds=word_kinds,
        child_sizes=tuple(sorted(sizes)),
    )


def _union(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
