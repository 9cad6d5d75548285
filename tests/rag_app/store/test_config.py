"""What an index records of itself, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest

from pipelines.errors import IndexDamagedError, IndexMismatchError
from rag_app.store.config import check_config, dump_config, load_config, with_kinds
from rag_app.store.protocol import IndexConfig
from tests.rag_app.store.make import CONFIG


def test_a_configuration_comes_back_from_json() -> None:
    assert load_config(dump_config(CONFIG)) == CONFIG


def test_only_named_fields_are_written() -> None:
    """Case 23: nothing else, so no key, can get into the index's settings."""
    assert set(json.loads(dump_config(CONFIG))) == {field.name for field in fields(IndexConfig)}


def test_fields_of_a_later_version_are_left_out() -> None:
    raw = json.loads(dump_config(CONFIG)) | {"later": 1}
    assert load_config(json.dumps(raw)) == CONFIG


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"embed_model": "x"}'])
def test_what_does_not_read_is_damaged(text: str) -> None:
    with pytest.raises(IndexDamagedError):
        load_config(text)


def test_another_model_of_the_same_length_names_both_sides() -> None:
    """Case 18."""
    with pytest.raises(IndexMismatchError) as error:
        check_config(CONFIG, replace(CONFIG, embed_model="bge", embed_fingerprint="e" * 64))
    assert "embedding model: 'hash' in the index, 'bge' wanted" in str(error.value)
    assert "weights" in str(error.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dimension": 32}, "length of the vectors: 16 in the index, 32 wanted"),
        ({"text_instruction": "passage: "}, "text instruction"),
        ({"query_instruction": "query: "}, "query instruction"),
        ({"tokenizer": "other"}, "tokenizer"),
        ({"terms": "terms-2"}, "rule for search terms"),
        ({"parent_size": 512}, "parent size: 1024 in the index, 512 wanted"),
        ({"window": 5}, "window"),
    ],
)
def test_what_decides_the_content_may_not_differ(change: dict[str, object], words: str) -> None:
    with pytest.raises(IndexMismatchError, match=words):
        check_config(CONFIG, replace(CONFIG, **change))


def test_number_format_and_kinds_may_differ() -> None:
    check_config(CONFIG, replace(CONFIG, precision="bfloat16", kinds=("parent",)))
    check_config(CONFIG, replace(CONFIG, embed_model="", embed_fingerprint="", dimension=0))


def test_with_kinds_adds_each_once_and_keeps_the_order() -> None:
    more = with_kinds(CONFIG, vectors=["child-512", "child-128"], words=["piece"])
    assert more.vector_kinds == ("child-128", "child-512")
    assert more.word_kinds == ("parent", "piece")
    assert more.kinds == ("parent", "child-128", "child-512", "piece")
    assert more.child_sizes == (128, 512)
    assert with_kinds(more) == more
