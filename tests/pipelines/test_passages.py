import pytest
from llama_index.core.schema import (
    Document,
    IndexNode,
    MetadataMode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

from pipelines.child_parent import passages
from pipelines.errors import ConfigError


def passage(text, source=None, **fields):
    relationships = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source)} if source else {}
    return TextNode(text=text, relationships=relationships, **fields)


def test_passages_of_one_source_make_one_document_with_exact_spans():
    nodes = [passage("One.", "doc"), passage("Two.", "other"), passage("Three.", "doc")]
    found = passages(nodes)
    assert [document.id_ for document, _ in found] == ["doc", "other"]
    for document, made in found:
        assert isinstance(document, Document)
        assert all(document.text[n.start_char_idx : n.end_char_idx] == n.text for n in made)
        assert {n.ref_doc_id for n in made} == {document.id_}
    assert found[0][0].text == "One.\n\nThree."


def test_pieces_lead_to_their_passage_and_carry_its_pages():
    parent = passage("Table of sales.", id_="p1", metadata={"page_label": "7", "year": 2018})
    piece = IndexNode(text="Which division sold most?", index_id="p1")
    ((document, (taken, leads)),) = passages([piece, parent])
    assert document.id_ == taken.id_ == "p1"
    assert leads.index_id == "p1"
    assert leads.start_char_idx is None
    assert (taken.metadata["kind"], leads.metadata["kind"]) == ("passage", "piece")
    assert taken.metadata["pages"] == leads.metadata["pages"] == [7]
    assert taken.metadata["year"] == 2018
    assert leads.get_content(metadata_mode=MetadataMode.EMBED) == piece.text


def test_made_up_ids_give_way_to_ids_of_the_content():
    def make():
        parent = passage("Some text.")
        return passages([parent, IndexNode(text="A piece.", index_id=parent.id_)])

    (first, nodes), (again, same) = *make(), *make()
    assert first.id_ == again.id_
    assert [n.id_ for n in nodes] == [n.id_ for n in same]
    assert nodes[1].index_id == nodes[0].id_


def test_the_same_piece_given_twice_is_one():
    parent = passage("Some text.", id_="p1")
    again = [IndexNode(text="Who reads it?", index_id="p1") for _ in range(2)]
    other = IndexNode(text="Who wrote it?", index_id="p1")
    ((_, nodes),) = passages([parent, *again, other])
    assert [node.text for node in nodes] == ["Some text.", "Who reads it?", "Who wrote it?"]


def test_equal_texts_of_two_sources_are_two_passages():
    (_, (one,)), (_, (other,)) = passages([passage("Same.", "a"), passage("Same.", "b")])
    assert one.id_ != other.id_


def test_another_piece_is_another_content():
    def digest(*texts):
        nodes = [passage("Text.", id_="p"), *(IndexNode(text=t, index_id="p") for t in texts)]
        return passages(nodes)[0][0].metadata["content_hash"]

    assert len({digest(), digest("one"), digest("one", "two")}) == 3


def test_inputs_are_not_changed():
    parent = passage("a\x00b", id_="p", metadata={"year": 2018})
    ((_, (taken,)),) = passages([parent])
    assert (parent.text, parent.metadata) == ("a\x00b", {"year": 2018})
    assert taken.text == "ab"


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([IndexNode(text="x", index_id="gone")], "'gone', which is not among"),
        ([TextNode(text=" ", id_="blank")], "blank has no text"),
    ],
)
def test_what_cannot_be_taken_is_an_error(nodes, message):
    with pytest.raises(ConfigError, match=message):
        passages(nodes)
