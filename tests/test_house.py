"""How the house is built: each noun once, each module's name in few packages."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_PACKAGES = 2  # that have a module of one name
_BY_CONVENTION = {"__init__", "__main__"}


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


def test_no_module_name_is_in_more_than_two_packages() -> None:
    packages: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        packages[path.stem].append(str(path.parent.relative_to(ROOT)))
    many = {name: where for name, where in packages.items() if len(where) > MOST_PACKAGES}
    assert {name: where for name, where in many.items() if name not in _BY_CONVENTION} == {}
