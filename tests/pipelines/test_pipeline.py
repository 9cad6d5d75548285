"""Our parsers inside LlamaIndex's own machinery, and untouched by its global state."""

import pytest
from llama_index.core import Settings
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import Document, MetadataMode

from pipelines.child_parent import ChildParentParser
from pipelines.documents import read_pdf
from pipelines.sentence_window import SentenceWindowParser
from tests.support.embedding import HashEmbedding
from tests.support.pdfs import make_pdf

TEXT = (
    "Results\nNet sales grew because volumes were higher. Prices were flat.\n\n東京は首都です。"
    * 20
)
PARSERS = [ChildParentParser(child_sizes=(128,)), SentenceWindowParser()]


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: type(parser).__name__)
def test_a_stock_ingestion_pipeline_runs_the_parser(parser):
    pipeline = IngestionPipeline(transformations=[parser, HashEmbedding()])
    nodes = pipeline.run(documents=[Document(text=TEXT, id_="d")])
    assert [node.id_ for node in nodes] == [
        node.id_ for node in parser([Document(text=TEXT, id_="d")])
    ]
    assert all(node.embedding for node in nodes)
    assert all(node.get_content(metadata_mode=MetadataMode.EMBED) == node.text for node in nodes)


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: type(parser).__name__)
def test_a_parser_survives_being_written_and_read(parser):
    again = type(parser).from_dict(parser.to_dict())
    assert again.to_dict() == parser.to_dict()


def test_a_parser_takes_nodes_of_another_parser():
    parents = ChildParentParser(child_sizes=())([Document(text=TEXT)])
    sentences = SentenceWindowParser()(parents)
    assert {node.ref_doc_id for node in sentences} == {parent.id_ for parent in parents}
    first = parents[0]
    assert sentences[0].text == first.text[sentences[0].start_char_idx : sentences[0].end_char_idx]


class Untouchable:
    """Anything asked of it fails."""

    def __getattr__(self, name):
        raise AssertionError(f"global state was asked for {name}")

    def __call__(self, *args, **kwargs):
        raise AssertionError("global state was called")


def test_global_settings_decide_nothing(tmp_path, monkeypatch):
    path = make_pdf(tmp_path / "a.pdf", ["Net sales grew. Prices fell."] * 3)

    def ids():
        documents = [read_pdf(path), Document(text=TEXT)]
        return [node.id_ for parser in PARSERS for node in parser(documents)]

    before = ids()
    for name in ("_llm", "_embed_model", "_node_parser", "_tokenizer", "_callback_manager"):
        monkeypatch.setattr(Settings, name, Untouchable(), raising=True)
    import llama_index.core as core

    monkeypatch.setattr(core, "global_tokenizer", Untouchable())
    assert ids() == before
