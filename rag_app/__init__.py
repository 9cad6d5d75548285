"""Question answering over PDFs: passages, their pages, and answers one can check.

>>> from rag_app import Index
>>> index = Index.open("reports")                                    # doctest: +SKIP
>>> print(index.as_query_engine().query("What is the lead time?"))   # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.errors import RagError
    from rag_app.index import Index
    from rag_app.settings import Settings, load_settings

__all__ = ["Index", "RagError", "Settings", "load_settings"]
__version__ = "0.1.0"

_HOME = {
    "Index": "rag_app.index",
    "RagError": "pipelines.errors",
    "Settings": "rag_app.settings",
    "load_settings": "rag_app.settings",
}


def _check_pipelines() -> None:
    """Refuse a stranger's package of the name of ours, which lies beside this one.

    Raises:
        ImportError: another one would be imported; it says which, and what to do.
    """
    import sys
    from importlib.util import find_spec
    from pathlib import Path

    ours = Path(__file__).absolute().parent.parent / "pipelines"
    loaded = sys.modules.get("pipelines")
    spec = loaded.__spec__ if loaded is not None else find_spec("pipelines")
    found = Path(spec.origin) if spec is not None and spec.origin else None
    if found is None or not ours.is_dir() or found.parent.resolve() == ours.resolve():
        return
    stranger = found.parent if found.name.startswith("__init__.") else found
    raise ImportError(
        f"rag_app needs its own package 'pipelines' ({ours}), and {stranger} stands in the way: "
        "rename that one, or let Python search its folder later (python -P does not search "
        "the folder of the script)"
    )


_check_pipelines()


def __getattr__(name: str) -> object:
    # Lazily: `rag --help` must not pay for LlamaIndex, which alone takes over a second.
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
