from __future__ import annotations

from llama_index.core.schema import TextNode

from rag_app.retrieval.evidence import joined_evidence


def test_evidence_of_several_copies_is_joined_on_a_new_node():
    copies = [TextNode(id_="a", text="x", metadata={"matched": [{"arm": arm}]}) for arm in "vw"]
    joined = joined_evidence(copies)
    assert [match["arm"] for match in joined.metadata["matched"]] == ["v", "w"]
    assert [len(copy.metadata["matched"]) for copy in copies] == [1, 1]
    assert joined_evidence(copies[:1]) is copies[0]
    plain = TextNode(text="x")
    assert "matched" not in joined_evidence([plain, plain]).metadata
