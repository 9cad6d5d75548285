"""How the house is built: each noun once, each module's name in few packages, each with tests."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_PACKAGES = 2  # that have a module of one name
_BY_CONVENTION = {"__init__", "__main__"}
# Words that this project once had for what the field has a term for (docs/terms.md).
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_PRIVATE_WORDS = {"vote", "votes", "voted", "keeper", "shelf", "lent", "turns", "silent"}


def modules() -> Iterator[Path]:
    """Every module of both packages."""
    for package in ("rag_app", "pipelines"):
        yield from (ROOT / package).rglob("*.py")


def test_every_module_is_looked_at() -> None:
    assert len(list(modules())) > 150


def test_no_class_name_is_defined_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


_PUBLIC_NAMES = {"silent_scripts"}  # a key of `rag info --json`, which stays


def names_in(source: str) -> Iterator[tuple[int, str]]:
    """Every name that a module defines: classes, functions, arguments, variables, attributes."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield node.lineno, name
            case ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def private_names(source: str) -> set[tuple[int, str]]:
    """The names of a module that hold a private word."""
    return {
        (line, name)
        for line, name in names_in(source)
        if name not in _PUBLIC_NAMES
        and _PRIVATE_WORDS & {word.lower() for word in _WORD.findall(name)}
    }


def test_no_name_is_made_of_a_private_word() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in modules()
        for line, name in private_names(path.read_text(encoding="utf-8"))
    }
    assert found == set()


@pytest.mark.parametrize(
    "source",
    [
        "class Keeper: ...",
        "def f(votes): ...",
        "async def lent(): ...",
        "_SHELF: int = 1",
        "a.voted = 1",
    ],
)
def test_a_private_word_is_found_wherever_a_name_is_given(source: str) -> None:
    assert private_names(source)


def test_no_module_name_is_in_more_than_two_packages() -> None:
    packages: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        packages[path.stem].append(str(path.parent.relative_to(ROOT)))
    many = {name: where for name, where in packages.items() if len(where) > MAX_PACKAGES}
    assert {name: where for name, where in many.items() if name not in _BY_CONVENTION} == {}


def has_behaviour(path: Path) -> bool:
    """Tell whether a module defines a public function, or a public class with a method.

    Constants, protocols and plain dataclasses do nothing that could be tested.
    """
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        if not getattr(node, "name", "_").startswith("_") and any(map(_does_something, inner)):
            return True
    return False


def _does_something(node: ast.AST) -> bool:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return any(
        not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in node.body
    )


def mirror(path: Path) -> Path:
    """Return the test module of a module: ``rag_app/x/y.py`` has ``tests/rag_app/x/test_y.py``."""
    return ROOT / "tests" / path.parent.relative_to(ROOT) / f"test_{path.stem}.py"


def test_every_module_has_its_test_module() -> None:
    untested = [
        str(path.relative_to(ROOT))
        for path in modules()
        if path.stem not in _BY_CONVENTION
        and has_behaviour(path)
        and not (mirror(path).is_file() and "\ndef test_" in _spaced(mirror(path)))
    ]
    assert untested == []


def _spaced(path: Path) -> str:
    """Return the text of a module without indentation: tests may be methods of a class."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line.strip().removeprefix("async ") for line in lines)


def test_data_and_protocols_need_no_tests_and_functions_do(tmp_path: Path) -> None:
    idle = "X = 1\n\n\ndef _own(): return 1\n\n\nclass P:\n    def f(self): ...\n"
    for source, needed in ((idle, False), (idle + "\n\ndef f(): return 1\n", True)):
        (tmp_path / "m.py").write_text(source)
        assert has_behaviour(tmp_path / "m.py") == needed
