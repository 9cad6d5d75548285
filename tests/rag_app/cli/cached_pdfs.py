"""What the tests of cached indexes share: the cache, a session, and what was asked."""

from __future__ import annotations

import sys
from pathlib import Path

from rag_app.cached.folders import CachedIndex, IndexCache
from rag_app.cli.output import Output
from rag_app.cli.session import Session
from rag_app.index import Index
from rag_app.settings import load_settings

VALVE_QUESTION = "What is the lead time of the valve?"
CRANE_QUESTION = "Which class of licence must the operator of the crane hold?"
ANSWER = 9  # texts of an answer that may be embedded: its sentences


def cache() -> IndexCache:
    """Return the cache of the test's settings."""
    return IndexCache.of(load_settings())


def merged() -> CachedIndex:
    """Return the one cached index that is of several files."""
    (entry,) = [entry for entry in cache().entries() if len(entry.files) > 1]
    return entry


def merged_path() -> Path:
    """Return where it lies."""
    return cache().root / merged().key / "index"


def databases() -> list[Path]:
    """Return the databases of all cached indexes."""
    return sorted(cache().root.rglob("index.sqlite"))


def here() -> Session:
    """Return a session of this process that says nothing."""
    return Session(load_settings(), Output(sys.stdout, sys.stderr, json=False, quiet=True))


def cited(done) -> list[str]:
    """Return the files that an answer cites, best first."""
    return [citation["file"] for citation in done.json["citations"]]


def opened(monkeypatch) -> list[Path]:
    """Return a list that grows with each index that is opened."""
    paths: list[Path] = []
    plain = Index.open.__func__

    def spy(cls, path, **options):
        paths.append(Path(path))
        return plain(cls, path, **options)

    monkeypatch.setattr(Index, "open", classmethod(spy))
    return paths
