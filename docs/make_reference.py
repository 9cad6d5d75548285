"""Writes the reference of all public names: ``make docs`` puts it into ``docs/api``."""

from __future__ import annotations

import sys
from pathlib import Path

import pdoc

import rag_app


def write(folder: Path) -> None:
    """Write a page with every public name."""
    for name in rag_app.__all__:
        setattr(rag_app, name, getattr(rag_app, name))  # they are imported when asked for
    pdoc.render.configure(docformat="google")
    pdoc.pdoc("rag_app", output_directory=folder)


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/api"))
