"""Every pattern of ours takes linear time, on inputs that are made to attack it.

Each pattern is used as the code uses it (``match``, ``search``, ``sub`` …) on runs of what
its own repeats accept, alone, in pairs, behind what stands before them, with and without an
end that does not fit, and on a list of the usual suspects.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType

import pytest

import pipelines
import rag_app
from rag_app.answer.written.delimiters import DelimiterFilter
from tests.support.growth import MAX_GROWTH, growth, seconds

SIZE = 8_000
NOTHING_SECONDS = 0.04  # a quadratic pattern takes many times as long at this size
BAD = "\x00"
USUAL = (
    *(".", "a", "9", " ", "\n", "\t", "-", "_", "'", '"', "(", ")", "[", "]", "<", "/", ":", "%"),
    *("あ", "ア", "漢", "。", "、", "「", "１", "　", "é", "\u0301", "#", "*", "`", "|", "=", "@"),
    *("a ", "9,", "9.", "a.", "a-", "-\n", " \n", "\n\n", "A.", "1 ", "a_", "</", "[1]", "(1)"),
)
PACKAGES = (pipelines, rag_app)
SOURCES = {
    path: path.read_text(encoding="utf-8")
    for package in PACKAGES
    for path in Path(package.__path__[0]).rglob("*.py")
}
METHODS = ("match", "fullmatch", "search", "sub", "split", "findall", "finditer")


def modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def patterns_in(value: object, module: str) -> Iterator[re.Pattern[str]]:
    """Yield the patterns of a constant or of a class of a module; one of bytes as one of text."""
    if isinstance(value, re.Pattern):
        yield value if isinstance(value.pattern, str) else as_text(value)
    elif isinstance(value, type) and value.__module__ == module:
        held = tuple(one for name, one in vars(value).items() if not name.startswith("__"))
        yield from patterns_in(held, module)
    elif isinstance(value, dict):
        yield from patterns_in(tuple(value.values()), module)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for one in value:
            yield from patterns_in(one, module)


def as_text(pattern: re.Pattern[bytes]) -> re.Pattern[str]:
    flags = (pattern.flags & ~re.LOCALE) | re.ASCII
    return re.compile(pattern.pattern.decode("latin-1"), flags)


def found_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns by each place that holds them: where they are made, or imported."""
    found = {}
    for module in modules():
        for name, value in vars(module).items():
            for number, pattern in enumerate(patterns_in(value, module.__name__)):
                found[f"{module.__name__}.{name}[{number}]"] = pattern
    # Made for the word of each prompt.
    found["rag_app.answer.written.delimiters (made)"] = DelimiterFilter("word-4f2a", [])._mark
    return found


def places_of(found: dict[str, re.Pattern[str]]) -> dict[str, list[str]]:
    """Return the places of equal patterns, by the first of them."""
    places: dict[tuple[str, int], list[str]] = {}
    for where, pattern in found.items():
        places.setdefault((pattern.pattern, pattern.flags), []).append(where)
    return {equal[0]: equal for equal in places.values()}


FOUND = found_patterns()
PLACES = places_of(FOUND)
PATTERNS = {where: FOUND[where] for where in PLACES}


@cache
def texts_of(module: str) -> list[str]:
    """Return the sources of a module and of those that import from it."""
    own = Path(importlib.import_module(module).__file__ or "")
    imports = f"from {module} import "
    return [text for path, text in SOURCES.items() if path == own or imports in text]


def uses_of(where: str) -> list[str]:
    """Return the methods by which the code uses a pattern; some where it cannot be told."""
    methods: set[str] = set()
    for place in PLACES[where]:
        module, _, name = place.partition("[")[0].partition(" ")[0].rpartition(".")
        used = re.compile(rf"\b{name}\.({'|'.join(METHODS)})\b")
        methods.update(found[1] for text in texts_of(module) for found in used.finditer(text))
    return sorted(methods) or ["search", "fullmatch"]


def sample(tree: object, choice: int) -> str:
    """Return a short text that a part of a pattern accepts, nearly."""
    made = []
    for op, value in tree:  # type: ignore[attr-defined]
        if op is codes.LITERAL:
            made.append(chr(value))
        elif op is codes.NOT_LITERAL:
            made.append("a" if value != ord("a") else "b")
        elif op is codes.ANY:
            made.append("a")
        elif op is codes.IN:
            made.append(_member(value, choice))
        elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            made.append(sample(value[2], choice) * max(value[0], 1))
        elif op is codes.SUBPATTERN:
            made.append(sample(value[3], choice))
        elif op is codes.ATOMIC_GROUP:
            made.append(sample(value, choice))
        elif op is codes.BRANCH:
            made.append(sample(value[1][choice % len(value[1])], choice))
    return "".join(made)


def _member(members: list[tuple[object, object]], choice: int) -> str:
    by_category = {
        codes.CATEGORY_DIGIT: "7", codes.CATEGORY_WORD: "b", codes.CATEGORY_SPACE: " ",
        codes.CATEGORY_NOT_DIGIT: "c", codes.CATEGORY_NOT_WORD: "-", codes.CATEGORY_NOT_SPACE: "d",
    }  # fmt: skip
    if members[0][0] is codes.NEGATE:
        return "q"
    op, value = members[choice % len(members)]
    if op is codes.CATEGORY:
        return by_category[value]
    return chr(value if op is codes.LITERAL else value[0])  # type: ignore[index,call-overload]


def repeats(tree: object, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield what stands before each long repeat of a pattern, and what the repeat accepts."""
    for op, value in tree:  # type: ignore[attr-defined]
        if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            if value[1] > 40:
                yield from ((before, sample(value[2], choice)) for choice in range(3))
            yield from repeats(value[2], before)
        elif op is codes.SUBPATTERN:
            yield from repeats(value[3], before)
        elif op is codes.ATOMIC_GROUP:
            yield from repeats(value, before)
        elif op in (codes.ASSERT, codes.ASSERT_NOT):
            yield from repeats(value[1], before)
        elif op is codes.BRANCH:
            yield from itertools.chain.from_iterable(repeats(one, before) for one in value[1])
        before += sample([(op, value)], 0)


def attacks(pattern: re.Pattern[str]) -> list[Callable[[int], str]]:
    """Return functions from a size to a text of about that size."""
    found = list(repeats(parser.parse(pattern.pattern, pattern.flags & ~re.TEMPLATE)))
    units = dict.fromkeys(unit for _, unit in found if unit)
    texts: dict[tuple[str, str, str], None] = {}
    for unit in (*units, *USUAL):
        texts |= dict.fromkeys([("", unit, ""), ("", unit, BAD)])
    for before, unit in found:
        texts[before, unit, BAD] = None
        if before:
            texts["", before + unit, BAD] = None
    for one, other in itertools.permutations(list(units)[:4], 2):
        texts["", one + other, BAD] = None
    made = [_run(*text) for text in texts if text[1]]
    made += [_halves(a, b) for a, b in itertools.permutations(list(units)[:4], 2)]
    return made


def _run(before: str, unit: str, end: str) -> Callable[[int], str]:
    return lambda size: before + unit * (size // len(unit)) + end


def _halves(one: str, other: str) -> Callable[[int], str]:
    return lambda size: one * (size // 2 // len(one)) + other * (size // 2 // len(other)) + BAD


def use_of(pattern: re.Pattern[str], method: str) -> Callable[[str], object]:
    if method == "sub":
        return lambda text: pattern.sub("", text)
    if method == "finditer":
        return lambda text: sum(1 for _ in pattern.finditer(text))
    used: Callable[[str], object] = getattr(pattern, method)
    return used


def is_linear(pattern: re.Pattern[str], method: str, make: Callable[[int], str]) -> bool:
    work = use_of(pattern, method)
    if seconds(work, make(SIZE)) < NOTHING_SECONDS:
        return True
    # From an eighth on: an exponential pattern must not get far.
    return growth(work, make, SIZE // 8) < MAX_GROWTH


@pytest.mark.parametrize("where", sorted(PATTERNS))
def test_a_pattern_takes_linear_time_on_what_attacks_it(where: str) -> None:
    pattern = PATTERNS[where]
    for method in uses_of(where):
        for make in attacks(pattern):
            assert is_linear(pattern, method, make), (method, make(40), pattern.pattern)


@pytest.mark.parametrize("quadratic", [r"\d+x", r" +$", r"(?:a|b)+c"])
def test_a_quadratic_pattern_is_noticed(quadratic: str) -> None:
    pattern = re.compile(quadratic)
    assert not all(is_linear(pattern, "search", make) for make in attacks(pattern))


def test_the_patterns_of_every_package_are_found() -> None:
    assert {where.split(".")[0] for where in PATTERNS} == {"pipelines", "rag_app"}
    assert len(PATTERNS) > 60


def test_a_pattern_is_used_as_the_modules_that_hold_it_use_it() -> None:
    assert uses_of("pipelines.letter_spacing._SPACED[0]") == ["finditer", "search", "sub"]
    assert uses_of("pipelines.page_states._LETTER_OR_DIGIT[0]") == ["match"]


def test_patterns_of_bytes_and_of_classes_are_found() -> None:
    class Holder:
        one = re.compile(rb"\d+x")
        more = (("a", re.compile("b")),)

    found = patterns_in(Holder, Holder.__module__)
    assert [pattern.pattern for pattern in found] == [r"\d+x", "b"]


def test_no_pattern_is_hidden_in_a_call() -> None:
    """What is no constant of a module is not found above."""
    hidden = [
        f"{path.name}:{node.lineno}"
        for path, text in SOURCES.items()
        for function in ast.walk(ast.parse(text))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in (*METHODS, "compile", "subn")
        and path.name != "delimiters.py"
    ]
    assert hidden == []
