"""Splitters of LlamaIndex as exact spans."""

import pytest
from llama_index.core.schema import TextNode, TransformComponent

from pipelines.errors import ConfigError
from pipelines.splitters import splitter_spans

TEXT = "One two three. One two three. Four five six. One two three. "


class Chunks(TransformComponent):
    """Returns given chunks, whatever it is given."""

    chunks: list[str]

    def __call__(self, nodes, **kwargs):
        return [TextNode(text=chunk) for chunk in self.chunks]


def test_spans_of_a_splitter_are_verbatim_in_order_and_within_the_part():
    chunks = ["One two three. ", " two three. Four five", "six. One "]
    spans = splitter_spans(Chunks(chunks=chunks), TEXT, (15, len(TEXT)))
    assert spans == [(15, 29), (19, 39), (40, 48)]
    assert [TEXT[low:high] for low, high in spans] == [chunk.strip() for chunk in chunks]


def test_repeated_chunks_are_found_one_after_the_other():
    spans = splitter_spans(Chunks(chunks=["One two three."] * 3), TEXT, (0, len(TEXT)))
    assert [low for low, _ in spans] == [0, 15, 45]


def test_empty_chunks_are_left_out():
    assert splitter_spans(Chunks(chunks=["", " ", "Four"]), TEXT, (0, len(TEXT))) == [(30, 34)]


def test_a_splitter_that_changes_the_text_is_refused_with_the_chunk():
    with pytest.raises(ConfigError, match="Chunks changes the text: 'ONE TWO'"):
        splitter_spans(Chunks(chunks=["ONE TWO"]), TEXT, (0, len(TEXT)))
