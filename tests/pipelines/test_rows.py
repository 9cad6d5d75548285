from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import Document, TextNode

from pipelines.child_parent import ChildParentParser, passages
from pipelines.documents import adopt
from pipelines.lines import Kind, classify
from pipelines.rows import MIN_TABLE_ROWS, ROW_SHARE, row_share

TABLE = (
    "Net sales 1,204.5 1,187.2\nCost of sales 804.1 799.0\nGross profit 400.4 388.2\n"
    "Net income 99.8 87.6"
)
PROSE = "The ferries carried more passengers than in the year before, and the pier was mended."


def share(text: str) -> float:
    return row_share(classify(text), (0, len(text)))


def test_rows_alone_are_the_whole_and_prose_has_none():
    assert share(TABLE) == 1.0
    assert share(PROSE) == 0.0
    assert share("") == 0.0


def test_fewer_rows_than_a_table_has_count_nothing():
    few = "\n".join(TABLE.split("\n")[: MIN_TABLE_ROWS - 1])
    assert share(few) == 0.0


def test_the_share_is_of_characters_in_lines_without_the_space_around_them():
    text = f"{PROSE}\n\n{TABLE}"
    rows = len(TABLE.replace("\n", ""))
    assert share(text) == pytest.approx(rows / (rows + len(PROSE)))
    assert share(text.replace("\n", "   \n\n  ")) == pytest.approx(share(text))


def test_a_span_counts_the_lines_that_begin_in_it():
    text = f"{TABLE}\n\n{PROSE}\n\n{TABLE}"
    lines, middle = classify(text), text.index(PROSE)
    assert row_share(lines, (0, middle)) == 1.0
    assert row_share(lines, (middle, middle + len(PROSE))) == 0.0


@given(st.text("ab 1,.\n", max_size=400))
def test_any_text_has_a_share_from_0_to_1(text):
    found = share(text)
    rows = sum(line.kind is Kind.ROW for line in classify(text))
    assert 0.0 <= found <= 1.0
    assert bool(found) == (rows >= MIN_TABLE_ROWS)


def test_parents_that_hold_a_table_carry_its_share_and_children_do_not():
    document = adopt(Document(text=f"{TABLE}\n\n{PROSE}", metadata={"file_name": "a.txt"}))
    parser = ChildParentParser(parent_size=512, child_sizes=(64,))
    parent, *children = parser([document])
    assert parent.metadata[ROW_SHARE] == pytest.approx(share(document.text), abs=1e-3)
    assert ROW_SHARE in parent.excluded_embed_metadata_keys
    assert ROW_SHARE in parent.excluded_llm_metadata_keys
    assert children
    assert not any(ROW_SHARE in child.metadata for child in children)
    [plain, *_] = parser([adopt(Document(text=PROSE))])
    assert ROW_SHARE not in plain.metadata


def test_a_ready_passage_carries_the_share_of_its_own_text_and_no_other():
    nodes = [
        TextNode(id_="table", text=TABLE),
        TextNode(id_="prose", text=PROSE, metadata={ROW_SHARE: 0.9}),
    ]
    made = {node.node_id: node for _, group in passages(nodes) for node in group}
    assert made["table"].metadata[ROW_SHARE] == 1.0
    assert ROW_SHARE not in made["prose"].metadata
