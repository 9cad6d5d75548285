"""This project's embedding runtime as a process, for the peers of the quality benchmark.

First stdout gets a line with the name of the file that keeps the model's vectors.
Then each line of stdin is a JSON list of texts; for each, stdout gets the number of
bytes that follow (8 bytes, little-endian) and the vectors as float32. The
peers' environment has no runtime of ours, and theirs is four times slower.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

PYTHON = Path(__file__).parents[1] / ".venv" / "bin" / "python"
LENGTH = 8


class Encoder:
    """Asks such a process; it ends with the one that started it."""

    def __init__(self, python: Path = PYTHON) -> None:
        command = [str(python), "-m", "benchmarks.encoder"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[1],
        )
        if self._process.stdout is None:
            raise RuntimeError("the process that embeds has no output")
        self.cache_name = self._process.stdout.readline().decode().strip()

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return vectors of shape (texts, dimension).

        Raises:
            RuntimeError: the process has ended.
        """
        asked, given = self._process.stdin, self._process.stdout
        if asked is None or given is None or self._process.poll() is not None:
            raise RuntimeError("the process that embeds has ended; see its error above")
        asked.write(json.dumps(texts).encode() + b"\n")
        asked.flush()
        size = int.from_bytes(given.read(LENGTH), "little")
        return np.frombuffer(given.read(size), np.float32).reshape(len(texts), -1)


def main() -> None:
    """Embed until stdin ends."""
    from benchmarks.vector_cache import cache_name
    from rag_app.models.embedding.load import describe_embedding, load_embedding
    from rag_app.settings import load_settings

    model = load_embedding(load_settings())
    sys.stdout.buffer.write(f"{cache_name(describe_embedding(model))}\n".encode())
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        vectors = np.asarray(model.get_text_embedding_batch(json.loads(line)), np.float32)
        data = vectors.tobytes()
        sys.stdout.buffer.write(len(data).to_bytes(LENGTH, "little") + data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
