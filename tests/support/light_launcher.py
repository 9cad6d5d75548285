"""``python light_launcher.py LOCK SEEN -m MODULE … | -c CODE``: see ``light``.

Runs in a new process and imports nothing of the project before the rest is hidden.
"""

from __future__ import annotations

import atexit
import os
import runpy
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, distributions
from pathlib import Path
from types import ModuleType
from typing import Any


def normalised(name: str) -> str:
    """Return the name of a distribution as package indexes compare it."""
    return name.lower().replace("_", "-").replace(".", "-")


def named_in(lock: str) -> set[str]:
    """Return the distributions that a lock names, and this project."""
    lines = Path(lock).read_text("utf-8").splitlines()
    return {normalised(line.partition("==")[0].strip()) for line in lines} | {"rag-app"}


def owners() -> dict[str, str]:
    """Return the distribution of every installed module's file."""
    found: dict[str, str] = {}
    for one in distributions():
        folder, name = one.locate_file(""), normalised(one.metadata["Name"])
        found.update((f"{folder}/{file}", name) for file in module_files(one))
    return found


def module_files(one: Distribution) -> list[str]:
    """Return a distribution's modules as its RECORD names them; ``files`` looks at each on disk."""
    rows = (one.read_text("RECORD") or "").splitlines()
    names = (row.partition(",")[0] for row in rows)
    return [name for name in names if name.endswith((".py", ".so"))]


class LockedFinder(PathFinder):
    """Finds what the standard finder finds, without the modules of other distributions."""

    hidden: frozenset[str] = frozenset()

    @classmethod
    def find_spec(cls, *arguments: Any, **named: Any) -> ModuleSpec | None:
        """Return where a module is; None where it is to be absent."""
        spec = super().find_spec(*arguments, **named)
        return None if spec is not None and spec.origin in cls.hidden else spec


def hide_all_but(lock: str, owner_of: dict[str, str]) -> None:
    """Make the modules of all distributions that a lock does not name unimportable."""
    kept = named_in(lock)
    LockedFinder.hidden = frozenset(file for file, owner in owner_of.items() if owner not in kept)
    sys.meta_path[sys.meta_path.index(PathFinder)] = LockedFinder
    names = Distribution.discover

    def discover(**context: Any) -> Any:
        found = names(**context)
        return (one for one in found if normalised(one.metadata["Name"]) in kept)

    Distribution.discover = discover  # type: ignore[method-assign, assignment]


def note_imports(seen: str, owner_of: dict[str, str]) -> None:
    """Add the distributions of the imported modules to a file when the process ends."""
    pid = os.getpid()

    def note() -> None:
        if os.getpid() != pid:
            return
        modules = [one for one in sys.modules.values() if isinstance(one, ModuleType)]
        files = {getattr(one, "__file__", None) or "" for one in modules}
        with Path(seen).open("a", encoding="utf-8") as file:
            file.writelines(f"{owner_of[one]}\n" for one in files if one in owner_of)

    atexit.register(note)


def main(lock: str, seen: str, kind: str, subject: str, *arguments: str) -> None:
    """Run a module or code with the rest hidden."""
    owner_of = owners()
    if seen:
        note_imports(seen, owner_of)
    hide_all_but(lock, owner_of)
    sys.argv = [subject, *arguments]
    if kind == "-m":
        runpy.run_module(subject, run_name="__main__", alter_sys=True)
    else:
        exec(compile(subject, "<light>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    main(*sys.argv[1:])
