"""Derived files: segments as memory-mapped arrays, never the only copy of anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rag_app.store.segments import Bools, Segment, VectorSegment, WordSegment

__all__ = ["Bools", "open_vectors", "open_words", "try_open"]
S = TypeVar("S", bound=Segment)


def open_vectors(path: Path) -> VectorSegment:
    """Map a file of vectors."""
    raise OSError(path)


def open_words(path: Path) -> WordSegment:
    """Map a file of words."""
    raise OSError(path)


def try_open(opener: Callable[[Path], S], path: Path) -> S | None:
    """Return the segment, or ``None`` when the file is gone or damaged."""
    try:
        return opener(path)
    except OSError:
        return None
