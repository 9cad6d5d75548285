"""Strategies as data: which arms search, and how their rankings become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Literal, get_args

from pipelines.analysers import FURTHER
from pipelines.errors import ConfigError, FusionError
from rag_app import bounds
from rag_app.bounds import shown
from rag_app.store.protocol import How

Fusion = Literal["rrf", "convex", "max"]
DEFAULT_GLOSSARY = ("accounting",)


@dataclass(frozen=True)
class Arm:
    """One way to rank passages.

    >>> Arm("vectors", "child-256").name
    'vectors:child-256'

    Attributes:
        how: ``vectors`` (cosine to the question) or ``words`` (BM25).
        kind: the nodes it searches; each leads to the passage that is read. Words of a
            kind that names a further analyser are the terms that it makes of the parents.
        weight: its share in the fusion; 0 is the same as leaving the arm out.
    """

    how: How
    kind: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.how not in get_args(How):
            raise ConfigError(
                f"an arm searches by {self.how!r}", hint='"vectors" or "words" are possible'
            )
        if not self.kind or not isinstance(self.kind, str):
            raise ConfigError("an arm names no kind of nodes", hint='for example "child-128"')
        if not bounds.WEIGHT.hold(self.weight):
            raise FusionError(
                f"the weight of {self.name} is {shown(self.weight)}",
                hint=f"it must be {bounds.WEIGHT}",
            )

    @property
    def name(self) -> str:
        """Return the name that evidence and explanations carry: ``vectors:child-128``."""
        return f"{self.how}:{self.kind}"


@dataclass(frozen=True)
class Strategy:
    """A named composition of arms.

    >>> strategy = Strategy("twice", (Arm("words", "parent", 2.0), Arm("vectors", "child-128")))
    >>> strategy.needs_vectors, [arm.name for arm in strategy.arms]
    (True, ['words:parent', 'vectors:child-128'])

    Attributes:
        name: what ``--strategy`` and error messages call it.
        arms: what searches; two arms differ in ``how`` or ``kind``.
        fusion: ``rrf`` (by ranks), ``convex`` (by scores scaled to 0…1) or ``max``
            (by the highest raw score: arms of one ``how`` only).
        fusion_k: the k of reciprocal rank fusion.
        depth: how many passages each arm ranks, at least as many as are asked for.
        prefer_documents: prefer the documents that the question names.
        prefer_tables: prefer passages with tables where the question asks for a quantity.
        glossary: names of glossaries, or files, with what documents print for words of the
            question; ``("none",)``: none.
        rerank: what chooses from the first passages, as :class:`rag_app.settings.Settings`
            has it; empty: nothing.
        rerank_depth: how many passages it chooses from, ``depth`` at most.
        rerank_fused: whether its order is fused with that of the arms by ranks, in place of
            replacing it.
    """

    name: str
    arms: tuple[Arm, ...]
    fusion: Fusion = "rrf"
    fusion_k: float = 10.0
    depth: int = 50
    prefer_documents: bool = True
    prefer_tables: bool = True
    glossary: tuple[str, ...] = DEFAULT_GLOSSARY
    rerank: str = ""
    rerank_depth: int = 30
    rerank_fused: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", tuple(self.arms))
        self._check_glossary()
        if not self.arms:
            raise ConfigError(f"the strategy {self.name!r} has no arms", hint="give it one or more")
        if len({arm.name for arm in self.arms}) != len(self.arms):
            raise ConfigError(f"the strategy {self.name!r} has one arm twice")
        if not any(arm.weight for arm in self.arms):
            raise FusionError(
                f"all weights of the strategy {self.name!r} are 0",
                hint="give one arm a weight above 0",
            )
        if not bounds.WEIGHT.hold(self.fusion_k):
            raise FusionError(
                f"fusion_k of {self.name!r} is {shown(self.fusion_k)}",
                hint=f"it must be {bounds.WEIGHT}",
            )
        for name, count in (("depth", self.depth), ("rerank_depth", self.rerank_depth)):
            if not bounds.DEPTH.hold(count):
                raise ConfigError(
                    f"{name} of {self.name!r} is {shown(count)}", hint=f"it must be {bounds.DEPTH}"
                )
        for name in ("prefer_documents", "rerank_fused"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(
                    f"{name} of {self.name!r} is {shown(getattr(self, name))}",
                    hint="true or false",
                )
        if not isinstance(self.rerank, str):
            raise ConfigError(
                f"rerank of {self.name!r} is {self.rerank!r}",
                hint='a text: "cross-encoder:NAME", "package.module:NAME"',
            )
        self._check_fusion()

    def _check_glossary(self) -> None:
        names = self.glossary
        listed = isinstance(names, (list, tuple))
        if not listed or not all(isinstance(name, str) for name in names):
            raise ConfigError(
                f"glossary of {self.name!r} is {names!r}",
                hint='a list of names or files: ["accounting", "./mine.json"], or ["none"]',
            )
        object.__setattr__(self, "glossary", tuple(names))

    def _check_fusion(self) -> None:
        if self.fusion not in get_args(Fusion):
            raise ConfigError(
                f"fusion of {self.name!r} is {self.fusion!r}",
                hint=f"possible: {', '.join(get_args(Fusion))}",
            )
        if self.fusion == "max" and len({arm.how for arm in self.arms}) > 1:
            raise FusionError(
                f"the strategy {self.name!r} compares cosines with BM25 scores",
                hint='use fusion "rrf" or "convex" for arms of both kinds',
            )

    @property
    def needs_vectors(self) -> bool:
        """Tell whether any arm that counts searches by vectors."""
        return any(arm.how == "vectors" and arm.weight for arm in self.arms)


def _vectors(*kinds: str) -> tuple[Arm, ...]:
    return tuple(Arm("vectors", kind) for kind in kinds)


# Children of 128 tokens beside them cost as much again to embed and find nothing more
# (README, "How well it finds").
_HYBRID = (*_vectors("child-256"), Arm("words", "parent"))

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        strategy.name: strategy
        for strategy in (
            Strategy("hybrid", _HYBRID),
            Strategy("naive", _vectors("parent"), fusion="max"),
            Strategy("child_parent", _vectors("child-128", "child-256", "child-512"), fusion="max"),
            Strategy("sentence_window", _vectors("sentence"), fusion="max"),
            Strategy("bm25", (Arm("words", "parent"),), fusion="max"),
            *(
                Strategy(one.name, (*_HYBRID, Arm("words", one.name, one.weight)))
                for one in FURTHER.values()
            ),
            Strategy("multi_vector", (*_vectors("piece"), Arm("words", "piece"), *_HYBRID)),
        )
    }
)

_PIPELINES = {
    ("vectors", "parent"): "naive",
    ("vectors", "child-128"): "child_parent",
    ("vectors", "child-256"): "hybrid",
    ("words", "parent"): "hybrid",
    **{("words", name): name for name in FURTHER},
    ("vectors", "child-512"): "child_parent",
    ("vectors", "sentence"): "sentence_window",
    ("vectors", "piece"): "multi_vector",
    ("words", "piece"): "multi_vector",
}


def pipeline_of(arm: Arm) -> str | None:
    """Return the ``--pipeline`` that builds what an arm searches, or None when none does."""
    return _PIPELINES.get((arm.how, arm.kind))


def get_strategy(
    strategy: str | Strategy, presets: Mapping[str, Mapping[str, Any]] | None = None
) -> Strategy:
    """Return a strategy by its name: a preset of the user's, else one of ours.

    Raises:
        ConfigError: no strategy has this name, or the preset is wrong.
    """
    if isinstance(strategy, Strategy):
        return strategy
    if presets and strategy in presets:
        return strategy_from_dict(strategy, presets[strategy])
    if strategy in STRATEGIES:
        return STRATEGIES[strategy]
    known = [*STRATEGIES, *(presets or ())]
    close = get_close_matches(strategy, known, n=1)
    raise ConfigError(
        f"there is no strategy {strategy!r}",
        hint=(f"did you mean {close[0]!r}? " if close else "") + f"known: {', '.join(known)}",
    )


def strategy_from_dict(name: str, preset: Mapping[str, Any]) -> Strategy:
    """Return the strategy that a preset of the configuration file describes.

    Keys are the attributes of :class:`Strategy`; ``base`` names one of ours whose
    attributes hold where the preset is silent. An arm is a table with the
    attributes of :class:`Arm`.

    Raises:
        ConfigError: an unknown key (the error names the allowed ones), or a wrong value.
    """
    allowed = {field.name for field in fields(Strategy)} - {"name"}
    _check_keys(f"preset {name!r}", preset, allowed | {"base"})
    values = dict(preset)
    if "arms" in values:
        if not isinstance(values["arms"], (list, tuple)):
            raise ConfigError(
                f"arms of preset {name!r} is {shown(values['arms'])}", hint="give a list of tables"
            )
        values["arms"] = tuple(_arm_from_dict(name, arm) for arm in values["arms"])
    base = values.pop("base", None)
    try:
        if base is not None:
            return replace(get_strategy(base), name=name, **values)
        return Strategy(name, **{"arms": (), **values})
    except TypeError as error:
        raise ConfigError(f"preset {name!r} has a value of a wrong type: {error}") from error


def _arm_from_dict(name: str, arm: Any) -> Arm:
    if not isinstance(arm, Mapping):
        raise ConfigError(
            f"an arm of preset {name!r} is {arm!r}",
            hint='an arm is a table such as {how = "vectors", kind = "child-128", weight = 1.0}',
        )
    _check_keys(f"an arm of preset {name!r}", arm, {field.name for field in fields(Arm)})
    return Arm(**{"how": "", "kind": "", **arm})


def _check_keys(what: str, given: Mapping[str, Any], allowed: set[str]) -> None:
    unknown = sorted(set(given) - allowed)
    if unknown:
        raise ConfigError(
            f"{what} has the unknown key {', '.join(unknown)}",
            hint=f"allowed: {', '.join(sorted(allowed))}",
        )
