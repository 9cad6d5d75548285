"""The lock names all that the program and its extras require: it is installed without looking."""

from __future__ import annotations

from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.light import ROOT, locked

LOCK = ROOT / "requirements.lock"
EXTRAS = ("dev", "sudachi", "ocr")


def test_the_lock_satisfies_the_program_its_extras_and_what_these_require() -> None:
    versions, wrong = locked(LOCK), []
    waiting = [Requirement(f"rag_app[{','.join(EXTRAS)}]")]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if (name, frozenset(wanted.extras)) in seen:
            continue
        seen.add((name, frozenset(wanted.extras)))
        known = name in versions and wanted.specifier.contains(versions[name])
        if name != "rag-app" and not known:
            wrong.append(str(wanted))
            continue
        waiting += _required_by(name, ("", *wanted.extras))
    assert wrong == []
    assert len(seen) > 100


def _required_by(name: str, extras: tuple[str, ...]) -> list[Requirement]:
    found = [Requirement(line) for line in requires(name) or ()]
    return [
        one
        for one in found
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras)
    ]
