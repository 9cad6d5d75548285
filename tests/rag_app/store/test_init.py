"""The store is light: it opens and searches without LlamaIndex, which costs a second to import."""

from __future__ import annotations

import rag_app.store
from tests.support.modules import imported_by


def test_the_store_imports_neither_llamaindex_nor_readers() -> None:
    modules = {name.split(".")[0] for name in imported_by("rag_app.store")}
    assert not modules & {"llama_index", "torch", "pypdf", "pypdfium2", "pydantic", "openvino"}


def test_everything_that_is_public_is_there() -> None:
    assert rag_app.store.__all__ == sorted(rag_app.store.__all__)
    assert all(hasattr(rag_app.store, name) for name in rag_app.store.__all__)
