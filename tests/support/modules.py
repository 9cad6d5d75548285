"""What a module imports, seen from a new process."""

from __future__ import annotations

import subprocess
import sys


def imported_by(module: str) -> set[str]:
    """Return the top-level packages in a new process after importing a module."""
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())
