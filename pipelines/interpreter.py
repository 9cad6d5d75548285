"""Starting a process of our own: an isolated interpreter that is told where its code lies.

Nothing in the current folder, in ``PYTHON…`` variables or beside the caller's program runs
in it, and it inherits no key and no password.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from pipelines import __file__ as _package
from pipelines.errors import ConfigError

# What an interpreter may need to find its own libraries and speak the user's language.
_INHERITED = (
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"),
    *("LANG", "LC_ALL", "LC_CTYPE"),
)
_PYTHON = re.compile(r"(python|pypy)[\d.]*[a-z]*(\.exe)?", re.IGNORECASE)

# Finds the package in its own folder (or archive) and nowhere else; the libraries only where
# the interpreter does not find them itself.
_BEGIN = """
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
main, home, *libraries = sys.argv[1:]
sys.path += [folder for folder in libraries if folder not in sys.path]
spec = PathFinder.find_spec("pipelines", [home])
sys.modules["pipelines"] = package = module_from_spec(spec)
spec.loader.exec_module(package)
import_module(main).main()
"""


def isolated_command(module: str, libraries: Sequence[str]) -> list[str]:
    """Return the command that runs ``main()`` of a module of this package in a new interpreter.

    Args:
        module: its full name.
        libraries: third-party packages that it imports, wherever this process finds them.

    Raises:
        ConfigError: no interpreter is found.
    """
    home = str(Path(_package).absolute().parent.parent)
    # -I: neither the current folder nor PYTHON… variables nor the user's site is looked at.
    return [interpreter(), "-I", "-c", _BEGIN, module, home, *library_folders(libraries, home)]


def isolated_environment() -> dict[str, str]:
    """Return the environment for it: what an interpreter needs, and no secret."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def library_folders(libraries: Sequence[str], home: str) -> list[str]:
    """Return the folders that hold these packages, as this process finds them.

    The current folder is never among them, although ``sys.path`` has it in notebooks and under
    ``python -m``, unless it is ``home``, where this package itself is installed.
    """
    try:
        current = os.path.realpath(os.getcwd())  # noqa: PTH109  # Path.cwd() is the same
    except OSError:  # it was removed
        current = ""
    path = [
        entry
        for entry in sys.path
        if Path(entry).is_absolute() and (entry == home or os.path.realpath(entry) != current)
    ]
    folders: dict[str, None] = {}
    for name in libraries:
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.origin and spec.submodule_search_locations:
            folders[str(Path(spec.origin).parent.parent)] = None
    return list(folders)


def interpreter() -> str:
    """Return a Python interpreter; in a frozen or embedding program, not the program itself.

    Raises:
        ConfigError: none is found.
    """
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    beside = [str(Path(prefix, "bin", name)) for prefix in (sys.prefix, sys.base_prefix)]
    for candidate in (sys.executable or "", *beside):
        if _PYTHON.fullmatch(Path(candidate).name) and os.access(candidate, os.X_OK):
            return candidate
    raise ConfigError(
        "no Python interpreter was found to read PDFs with",
        hint=f"neither sys.executable nor {beside[0]} is one: set sys.executable to its path",
    )
