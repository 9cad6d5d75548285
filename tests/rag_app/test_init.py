"""What is public, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rag_app
from pipelines import errors

NAMES = [
    *("Answer", "AnswerSentence", "Arm", "Citation", "Index", "IndexInfo", "IngestReport"),
    *("JoinedIndex", "Quote", "RetrieverOptions", "Settings", "Strategy"),
    *("aask", "ask", "evaluate", "load_settings"),
]


def test_public_names_are_these_and_all_errors() -> None:
    of_errors = [name for name, value in vars(errors).items() if _is_error(value)]
    assert rag_app.__all__ == sorted([*NAMES, *of_errors])


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, errors.RagError)


@pytest.mark.parametrize("name", rag_app.__all__)
def test_public_name_when_asked_for_exists_and_says_what_it_is(name: str) -> None:
    public = getattr(rag_app, name)
    assert public.__name__ == name
    assert public.__doc__


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
