"""A worker process: reads files, answers with their pages or with what is wrong."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import IO

from pipelines.errors import RagError, ReadError
from pipelines.reading import ReadPdf, read_file


def read_or_error(path: Path, reader: str) -> ReadPdf | RagError:
    """Return what a file is read to, or the error."""
    try:
        return read_file(path, reader)
    except RagError as error:
        return error
    except Exception as error:  # one bad file must not stop the others
        return ReadError(
            f"{path.name}: reading failed: {type(error).__name__}: {error}",
            hint="the file may be damaged: open it in a viewer and save it again",
        )


def serve(tasks: IO[bytes], results: IO[bytes]) -> None:
    """Read what comes in until the input ends."""
    while True:
        try:
            path, reader = pickle.load(tasks)  # noqa: S301  # our own parent wrote it
        except EOFError:
            return
        pickle.dump(read_or_error(Path(path), reader), results, pickle.HIGHEST_PROTOCOL)
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
