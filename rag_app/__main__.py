"""``python -m rag_app`` is ``rag``."""

from __future__ import annotations

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # "python -m" searches the current folder first: a json.py that lies beside the PDFs would
    # be run. What is imported from here on is not sought there, unless we lie there ourselves.
    _current = sys.path.pop(0)
    if __file__.startswith(_current + "/"):
        sys.path.append(_current)

import os
from typing import NoReturn

_INTERRUPTED = (129, 130, 143)  # by SIGHUP, SIGINT, SIGTERM


def main() -> int:
    """Run the command line; return the exit code."""
    from rag_app.cli.signals import code_of, handled, words_of

    with handled():
        try:
            from rag_app.cli.streams import prepare_streams

            prepare_streams()
            from rag_app.cli.app import run

            code = run(sys.argv[1:])
        except KeyboardInterrupt as error:
            # Interrupted while modules were still being imported.
            sys.stderr.write(f"{words_of(error)}\n")
            code = code_of(error)
        _end_if_interrupted(code)
    return code


def _end_if_interrupted(code: int) -> None:
    if code in _INTERRUPTED:
        # A worker may still wait for a server: joining it would look as if Ctrl-C did nothing.
        sys.stderr.flush()
        os._exit(code)


def script() -> NoReturn:
    """Run the command line and exit."""
    sys.exit(main())


if __name__ == "__main__":
    script()
