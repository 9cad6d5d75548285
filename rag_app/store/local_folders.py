"""Folders on this machine: their size, and removing those that are empty."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path


def remove_folders(made: Sequence[Path]) -> None:
    """Remove folders (inmost first) that are empty."""
    with contextlib.suppress(OSError):
        for folder in made:
            folder.rmdir()


def folder_bytes(folder: Path) -> int:
    """Return the size of all files in a folder, in bytes; vanished files count 0."""
    total = 0
    for place, _, files in os.walk(folder):  # passes over a folder that has gone
        for name in files:
            with contextlib.suppress(FileNotFoundError):
                total += Path(place, name).lstat().st_size
    return total
