"""Vectors of equal texts, and texts of equal pages, computed once for all peers.

For the quality benchmark only: speed is measured without it. All peers embed
through ``SentenceTransformer.encode`` and read through pypdf's
``extract_text``; both are replaced by versions that look on disk first. What
is computed is computed once for all: texts by pypdf itself, vectors by the
runtime of this project's default (the same weights; cosine to the original's
.9999, and SciFact's nDCG@10 differs by .001).
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

CHUNK = 1024  # texts between two commits


def _key(text: str) -> bytes:
    # The tokenizer sees a line break as a space, and LangChain replaces it by one.
    return hashlib.sha256(text.replace("\n", " ").encode("utf-8", "surrogatepass")).digest()


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB)")
    return connection


class VectorCache:
    """Vectors by the text's hash, in one SQLite file for one model and number format."""

    def __init__(self, path: Path) -> None:
        self._database = _connect(path)

    def fill(self, texts: Sequence[str], encode: Any) -> np.ndarray:
        """Return vectors of shape (texts, dimension); only unseen texts are encoded.

        ``encode`` takes a list of texts and returns their vectors.
        """
        keys = [_key(text) for text in texts]
        known = self._read(set(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        # Alike lengths share a batch, so that little is padded.
        order = sorted(missing, key=lambda key: len(missing[key]))
        for at in range(0, len(order), CHUNK):
            part = order[at : at + CHUNK]
            vectors = np.asarray(encode([missing[key] for key in part]), dtype=np.float32)
            known.update(zip(part, vectors, strict=True))
            rows = [(key, vector.tobytes()) for key, vector in zip(part, vectors, strict=True)]
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany("INSERT OR IGNORE INTO kept VALUES (?, ?)", rows)
            self._database.execute("COMMIT")
        return np.stack([known[key] for key in keys]) if keys else np.zeros((0, 0), np.float32)

    def _read(self, keys: set[bytes]) -> dict[bytes, np.ndarray]:
        wanted = list(keys)
        found: dict[bytes, np.ndarray] = {}
        for at in range(0, len(wanted), 500):
            part = wanted[at : at + 500]
            marks = ",".join("?" * len(part))
            rows = self._database.execute(
                f"SELECT key, value FROM kept WHERE key IN ({marks})", part
            )
            found.update((key, np.frombuffer(value, np.float32)) for key, value in rows)
        return found


def cache_vectors(folder: Path) -> None:
    """Make ``SentenceTransformer.encode`` look into the kept vectors first, in this process."""
    from sentence_transformers import SentenceTransformer

    from benchmarks.encoder import Encoder

    encoder = Encoder()
    cache = VectorCache(folder / encoder.cache_name)

    def encode(self: Any, sentences: Any, **options: Any) -> Any:
        prompt = self.prompts.get(options.get("prompt_name") or "", "") or options.get("prompt")
        if prompt:
            raise ValueError("the cache knows texts without an instruction only")
        single = isinstance(sentences, str)
        texts = [sentences] if single else list(sentences)
        vectors = cache.fill(texts, encoder)
        return vectors[0] if single else vectors

    SentenceTransformer.encode = encode  # type: ignore[method-assign]


def cache_pages(path: Path) -> None:
    """Make pypdf's ``extract_text`` look into ``path`` first, in this process."""
    import pypdf

    database = _connect(path)
    original = pypdf.PageObject.extract_text
    defaults = {
        "orientations": (0, 90, 180, 270),
        "space_width": 200.0,
        "extraction_mode": "plain",
    }
    layout_only = ("layout_mode_",)

    def extract_text(self: Any, *args: Any, **options: Any) -> str:
        options = {k: v for k, v in options.items() if not k.startswith(layout_only)}
        options["extraction_mode"] = str(options.get("extraction_mode", "plain"))
        if args or any(defaults.get(name) != value for name, value in options.items()):
            raise ValueError(f"the cache knows plain extraction only, not {args} {options}")
        name = f"{pypdf.__version__}|{_document_hash(self.pdf)}|{self.page_number}"
        key = hashlib.sha256(name.encode()).digest()
        row = database.execute("SELECT value FROM kept WHERE key = ?", (key,)).fetchone()
        if row is not None:
            return bytes(row[0]).decode("utf-8", "surrogatepass")
        text: str = original(self)
        value = text.encode("utf-8", "surrogatepass")
        database.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (key, value))
        return text

    pypdf.PageObject.extract_text = extract_text  # type: ignore[method-assign]


def _document_hash(reader: Any) -> str:
    """Return the hash of an opened PDF's bytes, kept on its reader."""
    if not hasattr(reader, "_benchmark_hash"):
        stream = reader.stream
        at = stream.tell()
        stream.seek(0)
        reader._benchmark_hash = hashlib.sha256(stream.read()).hexdigest()
        stream.seek(at)
    return str(reader._benchmark_hash)
