import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.schema import Document, MetadataMode, NodeRelationship, NodeWithScore

from pipelines.documents import read_pdf
from pipelines.sentence_window import SentenceWindowParser
from pipelines.text import count_tokens
from tests.support.pdfs import make_pdf

TEN = " ".join(f"Sentence number {word} is here." for word in "abcdefghij")


def test_a_window_is_a_span_of_the_document_and_verbatim():
    """Case 19: windows are spans, so that overlapping ones can merge without a copy."""
    nodes = SentenceWindowParser()([Document(text=TEN)])
    assert len(nodes) == 10
    windows = [TEN[n.metadata["window_start"] : n.metadata["window_end"]] for n in nodes]
    assert windows[0] == TEN[: nodes[3].end_char_idx]
    assert windows[5] == TEN[nodes[2].start_char_idx : nodes[8].end_char_idx]
    assert windows[9] == TEN[nodes[6].start_char_idx :]


@pytest.mark.parametrize("window", [0, 1, 5])
def test_window_counts_sentences_on_each_side(window):
    nodes = SentenceWindowParser(window=window)([Document(text=TEN)])
    first = nodes[max(0, 5 - window)]
    last = nodes[min(9, 5 + window)]
    assert nodes[5].metadata["window_start"] == first.start_char_idx
    assert nodes[5].metadata["window_end"] == last.end_char_idx


def test_windows_do_not_leave_their_document():
    one, other = Document(text="One sentence."), Document(text="Other sentence.")
    nodes = SentenceWindowParser()([one, other])
    assert [(n.metadata["window_start"], n.metadata["window_end"]) for n in nodes] == [
        (0, 13),
        (0, 15),
    ]


def test_japanese_text_is_many_sentences():
    """Stock SentenceWindowNodeParser makes one node of it."""
    text = "東京は日本の首都です。大阪は商業の街です。富士山は高い。"
    assert len(SentenceWindowParser()([Document(text=text)])) == 3


def test_abbreviations_do_not_end_a_sentence():
    """Stock splits after "Dr.", "Fig." and "e.g."."""
    text = "Dr. Meyer saw it in Fig. 3, e.g. the peak. It was high."
    nodes = SentenceWindowParser()([Document(text=text)])
    assert [node.text for node in nodes] == [text[:42], text[43:]]


def test_a_table_has_no_long_sentences():
    """On reports a third of stock's tokens lie in "sentences" of more than 256 tokens."""
    rows = "".join(
        f"Sales of division {chr(65 + n % 26)} {n * 1000:,} {n * 900:,}\n" for n in range(99)
    )
    nodes = SentenceWindowParser()([Document(text=rows)])
    assert max(count_tokens(node.text) for node in nodes) <= 128
    assert len(nodes) >= 50


def test_sentences_know_pages_source_and_heading(tmp_path):
    pages = [
        "Market Risks\nThe group is exposed to many risks of all kinds. It grew to",
        "$4 million.",
    ]
    document = read_pdf(make_pdf(tmp_path / "a.pdf", pages, labels=["iv", "1"]))
    heading, first, second = SentenceWindowParser()([document])
    assert (first.metadata["pages"], second.metadata["pages"]) == ([1], [1, 2])
    assert second.metadata["page_label"] == "iv"
    assert first.metadata["heading"] == heading.text == "Market Risks"
    assert first.metadata["kind"] == "sentence"
    assert set(first.relationships) == {NodeRelationship.SOURCE}
    assert first.ref_doc_id == document.id_


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["One. ", "二。", "\n\n", "same. ", "same. ", "x "]), max_size=60))
def test_nodes_are_exact_ordered_and_have_ids_of_their_own(parts):
    text = "".join(parts)
    nodes = SentenceWindowParser()([Document(text=text)])
    assert len({node.id_ for node in nodes}) == len(nodes)
    for node in nodes:
        assert node.text == text[node.start_char_idx : node.end_char_idx]
        assert node.metadata["window_start"] <= node.start_char_idx
        assert node.end_char_idx <= node.metadata["window_end"]


def test_a_smaller_limit_cuts_more_and_changes_ids():
    text = "one two three four five six seven eight nine ten " * 8
    long, short = SentenceWindowParser(), SentenceWindowParser(max_tokens=16)
    assert len(short([Document(text=text)])) > len(long([Document(text=text)]))


def test_nodes_carry_what_the_stock_postprocessor_reads_and_no_model_is_shown_it():
    nodes = SentenceWindowParser(window=1)([Document(text=TEN)])
    for node in nodes:
        start, end = node.metadata["window_start"], node.metadata["window_end"]
        assert node.metadata["window"] == TEN[start:end]
        assert node.metadata["original_text"] == node.text
        for mode in (MetadataMode.EMBED, MetadataMode.LLM):
            assert node.get_content(metadata_mode=mode) == node.text
    windows = [node.metadata["window"] for node in nodes]
    replacing = MetadataReplacementPostProcessor(target_metadata_key="window")
    found = replacing.postprocess_nodes([NodeWithScore(node=node) for node in nodes])
    assert [one.node.get_content() for one in found] == windows


def test_nodes_for_an_index_carry_the_span_alone_under_the_same_ids():
    [bare], [whole] = (
        SentenceWindowParser(window_text=text)([Document(text="One here.")])
        for text in (False, True)
    )
    assert bare.node_id == whole.node_id
    assert {"window", "original_text"} & set(bare.metadata) == set()
    assert (bare.metadata["window_start"], bare.metadata["window_end"]) == (0, 9)
