"""A whole content is read back as it was written, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from pipelines.errors import IndexDamagedError
from rag_app.store.sqlite.exporting import export_content, export_text
from rag_app.store.sqlite.node_reader import NodeReader
from rag_app.store.sqlite.row_cache import RowCache
from tests.rag_app.store.sqlite.conftest import CATS, SUMS


def exported(sql, export=export_content):
    return export(sql, SUMS, 1, NodeReader(sql, SUMS, RowCache()))


def test_a_content_comes_back_with_nodes_vectors_terms_and_names(tables):
    found = exported(tables)
    assert found.names == CATS.names
    assert found.document.text == CATS.document.text
    assert {n.node_id: n.text for n in found.nodes} == {n.node_id: n.text for n in CATS.nodes}
    assert found.terms == CATS.terms
    ids, matrix = CATS.vectors["child-128"]
    again, read = found.vectors["child-128"]
    assert np.array_equal(read[[again.index(one) for one in ids]], matrix)
    assert found.sentences is not None
    assert found.sentences.starts.tolist() == CATS.sentences.starts.tolist()


def test_the_text_alone_comes_without_vectors_and_terms(tables):
    found = exported(tables, export_text)
    assert (found.document.text, dict(found.vectors), dict(found.terms)) == (
        *(CATS.document.text, {}, {}),
    )


@pytest.mark.parametrize("export", [export_content, export_text])
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE blocks SET text = replace(text, 'Cats', 'Cows') WHERE content = 1",
        "DELETE FROM nodes WHERE node = 1",
        "UPDATE names SET name = '/other.pdf' WHERE content = 1",
        "DELETE FROM pages WHERE content = 1 AND position = 1",
        "UPDATE contents SET title = 'Another title' WHERE content = 1",
        "UPDATE contents SET origin = 'another index' WHERE content = 1",
    ],
)
def test_a_damaged_content_is_not_exported(tables, damage, export):
    tables.execute(damage)
    with pytest.raises(IndexDamagedError):
        exported(tables, export)


def test_damaged_vectors_leave_the_text_to_be_exported(tables):
    tables.execute("UPDATE vectors SET matrix = zeroblob(length(matrix))")
    with pytest.raises(IndexDamagedError):
        exported(tables)
    assert exported(tables, export_text).document.text == CATS.document.text
