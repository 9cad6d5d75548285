"""Values that a store takes and returns."""

from __future__ import annotations

from dataclasses import replace

from tests.rag_app.store.make import prepared


def test_a_document_without_a_content_hash_is_told_from_others_by_its_id() -> None:
    content = prepared("a.pdf", ["Cats sit."])
    assert content.content_hash == content.document.metadata["content_hash"]
    bare = content.document.model_copy(update={"metadata": {}})
    assert replace(content, document=bare).content_hash == content.document.id_
