"""A worker process: reads paths, answers with what they were parsed to."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import IO

from rag_app.ingest.workers import parse_here


def serve(tasks: IO[bytes], results: IO[bytes]) -> None:
    """Parse what comes in until the input ends."""
    while True:
        try:
            path, chunking = pickle.load(tasks)  # noqa: S301  # our own parent wrote it
        except EOFError:
            return
        pickle.dump(parse_here(Path(path), chunking), results, pickle.HIGHEST_PROTOCOL)
        results.flush()


def main() -> None:
    """Run as a worker: results go to what was stdout, stray prints to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin.buffer, results)


if __name__ == "__main__":
    main()
