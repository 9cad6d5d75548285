"""The kinds of nodes that a pipeline builds, and how they are searched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pipelines.analysers import FURTHER
from pipelines.errors import ConfigError
from rag_app.store.protocol import IndexConfig


class Kinds(NamedTuple):
    """Kinds that get vectors, and kinds whose terms are counted."""

    vectors: tuple[str, ...]
    words: tuple[str, ...]


_HYBRID = Kinds(("child-256",), ("parent",))

PIPELINES: Mapping[str, Kinds] = MappingProxyType(
    {
        "hybrid": _HYBRID,
        "naive": Kinds(("parent",), ()),
        "child_parent": Kinds(("child-128", "child-256", "child-512"), ()),
        "sentence_window": Kinds(("sentence",), ()),
        "bm25": Kinds((), ("parent",)),
        # The strategies of these search all kinds that hybrid does, and more.
        **{name: Kinds(_HYBRID.vectors, (*_HYBRID.words, name)) for name in FURTHER},
        "multi_vector": Kinds((*_HYBRID.vectors, "piece"), (*_HYBRID.words, "piece")),
    }
)


def kinds_of(pipelines: Iterable[str], child_sizes: Sequence[int] | None = None) -> Kinds:
    """Return the kinds that the pipelines build together.

    Args:
        pipelines: names of ``PIPELINES``.
        child_sizes: tokens of the children that may be built; ``None``: 128, 256 and
            512. All pipelines but ``child_parent`` build 256 of these, or all where it is
            not among them.

    Raises:
        ConfigError: a pipeline is unknown, or none was given.
    """
    names = list(pipelines)
    if not names:
        raise ConfigError("no pipeline is named", hint=f"known: {', '.join(PIPELINES)}")
    vectors: dict[str, None] = {}
    words: dict[str, None] = {}
    for name in names:
        if name not in PIPELINES:
            raise ConfigError(
                f"there is no pipeline {name!r}", hint=f"known: {', '.join(PIPELINES)}"
            )
        vectors |= dict.fromkeys(_sized(name, child_sizes))
        words |= dict.fromkeys(PIPELINES[name].words)
    return Kinds(tuple(vectors), tuple(words))


def wanted(config: IndexConfig) -> frozenset[str]:
    """Return what must be built of each content, in the form of ``SourceInfo.built``."""
    return frozenset(
        (
            *config.kinds,
            *(f"{kind}:vectors" for kind in config.vector_kinds),
            *(f"{kind}:words" for kind in config.word_kinds),
        )
    )


def _sized(pipeline: str, sizes: Sequence[int] | None) -> tuple[str, ...]:
    """Replace the children that a pipeline names by those of the given sizes."""
    kinds = PIPELINES[pipeline].vectors
    if sizes is None or not any(kind.startswith("child-") for kind in kinds):
        return kinds
    given = tuple(f"child-{size}" for size in sizes)
    known = tuple(kind for kind in kinds if kind in given)
    children = given if pipeline == "child_parent" else known or given
    return (*children, *(kind for kind in kinds if not kind.startswith("child-")))
