"""Packages that a light install leaves out: an error of ours with the line that installs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pipelines.errors import NotInstalledError

# What computes an embedding model by torch.
TORCH = ("torch", "transformers", "llama-index-embeddings-huggingface")


def install_line(*packages: str) -> str:
    """Return the command that installs packages in the versions that were tested together."""
    return f"in the clone of rag_app: pip install -c requirements.lock {' '.join(packages)}"


@contextmanager
def needed(by: str, *packages: str, otherwise: str = "") -> Iterator[None]:
    """Run imports that may fail because a package is not installed.

    Args:
        by: what needs them, as the subject of the message.
        *packages: what to install, as a package index calls it.
        otherwise: what can be done instead.

    Raises:
        NotInstalledError: a module was not found; the error names it and says how to get it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        hint = "; or ".join(filter(None, [install_line(*packages), otherwise]))
        raise NotInstalledError(
            f"{by} needs {error.name}, which is not installed", hint=hint
        ) from error
