"""The text of a node that is searched, and its counted terms."""

import pytest
from llama_index.core.schema import TextNode

from pipelines.searched import counted_terms, searched_as


def node(kind, text="The valve opens. Valves close."):
    metadata = {"kind": kind, "title": "Pump report", "heading": "Pressure"}
    return TextNode(text=text, metadata=metadata)


@pytest.mark.parametrize(
    ("kind", "searched"), [("passage", "parent"), ("parent", "parent"), ("child-128", "child-128")]
)
def test_a_ready_passage_is_searched_as_the_parents_are(kind, searched):
    assert searched_as(node(kind)) == searched


@pytest.mark.parametrize("kind", ["parent", "passage"])
def test_terms_of_a_passage_include_title_and_heading(kind):
    terms = counted_terms(node(kind))
    assert (terms["valv"], terms["pump"], terms["pressur"]) == (2, 1, 1)


def test_terms_of_other_nodes_are_those_of_their_text():
    assert counted_terms(node("child-128")) == {"valv": 2, "open": 1, "close": 1}
