"""A Python that has what requirements-light.lock names, and nothing else.

Either a real environment (``make light`` names its Python in RAG_LIGHT_PYTHON), or this
one with every other installed module hidden from import.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.light_launcher import normalised

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements-light.lock"

_LAUNCHER = Path(__file__).with_name("light_launcher.py")


def locked(lock: Path) -> dict[str, str]:
    """Return the versions of a lock by normalised name of the distribution."""
    lines = (line.partition("#")[0].strip() for line in lock.read_text("utf-8").splitlines())
    pairs = (line.partition("==") for line in lines if line)
    return {normalised(name): version for name, _, version in pairs}


def run_light(
    *arguments: object, seen: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run ``python ARGUMENTS`` in the light environment.

    Args:
        *arguments: ``-m MODULE …`` or ``-c CODE``.
        seen: file to which the names of the distributions that were imported are added;
            only where this environment plays the light one.
        **variables: of the process; of this one's all but our own.
    """
    real = os.environ.get("RAG_LIGHT_PYTHON")
    # -P: a real environment must run what was installed into it, not the checkout.
    start = [real, "-P"] if real else [sys.executable, "-P", _LAUNCHER, LOCK, seen or ""]
    command = [str(word) for word in (*start, *arguments)]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAG_", "OPENAI_"))}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**kept, **variables}
    )


def is_real() -> bool:
    """Tell whether the tests run against an environment that was really installed."""
    return "RAG_LIGHT_PYTHON" in os.environ
