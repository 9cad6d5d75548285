"""What is public, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rag_app


def test_public_names_are_exactly_these() -> None:
    assert rag_app.__all__ == ["Index", "RagError", "Settings", "load_settings"]


@pytest.mark.parametrize("name", rag_app.__all__)
def test_public_name_when_asked_for_exists(name: str) -> None:
    assert getattr(rag_app, name).__name__ == name


def test_unknown_name_when_asked_for_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        rag_app.Nothing  # noqa: B018


def test_import_rag_app_pulls_in_no_heavy_library() -> None:
    code = (
        "import sys, rag_app; "
        "print([m for m in ('llama_index', 'torch', 'numpy', 'openvino') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
