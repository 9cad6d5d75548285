"""A store of each engine; a test that takes ``new_store`` runs against the protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_app.store.protocol import IndexConfig, Store
from rag_app.store.sqlite import derived
from rag_app.store.sqlite.store import create_store, open_store
from tests.rag_app.store.make import CONFIG

ENGINES = {"sqlite": (create_store, open_store)}
NewStore = Callable[..., Store]


@pytest.fixture(scope="session", autouse=True)
def quantised_short_lists() -> Iterator[None]:
    """Let the small indexes of these tests be searched by quantised vectors, as large ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived, "MIN_QUANTISED_ROWS", 8)
        yield


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new_store(engine: str, tmp_path: Path) -> Iterator[NewStore]:
    """Make stores in the test's folder; they are closed at its end."""
    made: list[Store] = []

    def new(name: str = "index", config: IndexConfig = CONFIG, *, reopen: bool = False) -> Store:
        create, open_ = ENGINES[engine]
        store = open_(tmp_path / name) if reopen else create(tmp_path / name, config)
        made.append(store)
        return store

    yield new
    for store in made:
        store.close()


@pytest.fixture
def store(new_store: NewStore) -> Store:
    return new_store()
