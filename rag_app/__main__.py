"""``python -m rag_app`` is ``rag``."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the command line; return the exit code."""
    try:
        from rag_app.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        # While modules were still being imported.
        sys.stderr.write("interrupted\n")
        code = 130
    if code == 130:
        # A worker may still wait for a server: joining it would look as if Ctrl-C did nothing.
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
