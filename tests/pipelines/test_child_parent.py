from dataclasses import asdict
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
    TokenTextSplitter,
)
from llama_index.core.schema import (
    Document,
    IndexNode,
    MetadataMode,
    NodeRelationship,
    TransformComponent,
)

from pipelines.child_parent import ChildParentParser, header_of
from pipelines.documents import page_map, read_pdf
from pipelines.errors import ConfigError
from pipelines.page_map import Page
from pipelines.pages import join_pages
from pipelines.text import count_tokens
from tests.support.pdfs import make_pdf

SENTENCE = "Net sales of division {} grew by {} percent because volumes were higher, as planned. "
ENGLISH = "".join(
    SENTENCE.format(n, n * 7 % 13) + ("\n\n" if n % 5 == 0 else "") for n in range(150)
)
JAPANESE = "".join(f"第{n}事業部の売上高は、前年より{n * 7 % 13}％増加した。" for n in range(150))
PARTS = st.sampled_from(
    [
        "Word ",
        "word. ",
        "\n\n",
        "\n",
        "日本語の文。",
        "、",
        "1,234 ",
        "Heading\n",
        "x" * 50,
        "  ",
        "😀",
    ]
)
TEXTS = st.lists(PARTS, max_size=120).map("".join)
small = partial(ChildParentParser, parent_size=64, child_sizes=(16, 32))


def by_kind(nodes, kind):
    return [node for node in nodes if node.metadata["kind"] == kind]


@pytest.mark.parametrize("text", [ENGLISH, JAPANESE])
def test_parents_and_children_end_at_sentence_ends(text):
    nodes = ChildParentParser(parent_size=512)([Document(text=text)])
    assert all(node.text[-1] in ".。" for node in nodes)
    assert len(by_kind(nodes, "parent")) >= 5


def test_default_kinds_come_parents_first():
    nodes = ChildParentParser()([Document(text=ENGLISH)])
    kinds = list(dict.fromkeys(node.metadata["kind"] for node in nodes))
    assert kinds == ["parent", "child-128", "child-256", "child-512"]


@pytest.mark.parametrize("text", [ENGLISH, JAPANESE])
def test_no_piece_is_a_crumb(text):
    nodes = ChildParentParser()([Document(text=text)])
    assert min(count_tokens(node.text) for node in by_kind(nodes, "child-128")) >= 32


def test_sentence_ends_come_before_commas():
    text = "はじめに、次に、そして、終わりに述べる。" * 3 + "長い文は、読点で、区切られる" * 2
    nodes = small()([Document(text=text)])
    first = by_kind(nodes, "child-32")[0]
    assert first.text.endswith("。")


@settings(max_examples=60)
@given(TEXTS)
def test_nodes_are_exact_spans_and_levels_tile_the_text(text):
    nodes = small()([Document(text=text)])
    for node in nodes:
        assert text[node.start_char_idx : node.end_char_idx] == node.text == node.text.strip()
    parents = by_kind(nodes, "parent")
    tiles(text, (0, len(text)), parents, 64)
    for parent in parents:
        span = (parent.start_char_idx, parent.end_char_idx)
        for size in (16, 32):
            children = [n for n in by_kind(nodes, f"child-{size}") if n.index_id == parent.id_]
            tiles(text, span, children, size)


def tiles(text, span, nodes, size):
    at = span[0]
    for node in nodes:
        assert at <= node.start_char_idx < node.end_char_idx
        assert not text[at : node.start_char_idx].strip()
        assert count_tokens(node.text) <= size or len(node.text) == 1
        at = node.end_char_idx
    assert not text[at : span[1]].strip()


@settings(max_examples=40)
@given(TEXTS)
def test_ids_are_distinct_and_the_same_each_time(text):
    nodes = small()([Document(text=text)])
    ids = [node.id_ for node in nodes]
    assert len(set(ids)) == len(ids)
    assert [node.id_ for node in small()([Document(text=text)])] == ids


def test_ids_do_not_depend_on_other_levels():
    ids = {}
    for sizes in [(128,), (128, 256), (256, 128, 512)]:
        nodes = ChildParentParser(child_sizes=sizes)([Document(text=ENGLISH)])
        ids[sizes] = {
            kind: [n.id_ for n in by_kind(nodes, kind)] for kind in ("parent", "child-128")
        }
    assert ids[(128,)] == ids[(128, 256)] == ids[(256, 128, 512)]


def test_ids_depend_on_bytes_and_not_on_paths(tmp_path):
    path = make_pdf(tmp_path / "a.pdf", ["One sentence. Another one."])
    (tmp_path / "sub").mkdir()
    copy = tmp_path / "sub" / "other name.pdf"
    copy.write_bytes(path.read_bytes())
    other = make_pdf(tmp_path / "c.pdf", ["One sentence. Another one."], title="Another file")
    ids = [[n.id_ for n in ChildParentParser()([read_pdf(p)])] for p in (path, copy, other)]
    assert ids[0] == ids[1]
    assert not set(ids[0]) & set(ids[2])


def test_a_child_never_shares_its_parents_id_though_it_has_its_text():
    parent, *children = ChildParentParser()([Document(text="Short.")])
    assert {child.text for child in children} == {parent.text}
    assert len({parent.id_, *(child.id_ for child in children)}) == 4


def test_children_are_index_nodes_that_point_at_their_parent(tmp_path):
    path = make_pdf(tmp_path / "a.pdf", ["One sentence.", "Another one."], labels=["i", "1"])
    document = read_pdf(path)
    parent, child = ChildParentParser(child_sizes=(128,))([document])
    assert isinstance(child, IndexNode)
    assert not isinstance(parent, IndexNode)
    assert child.index_id == child.relationships[NodeRelationship.PARENT].node_id == parent.id_
    assert set(child.relationships) == {NodeRelationship.SOURCE, NodeRelationship.PARENT}
    assert set(parent.relationships) == {NodeRelationship.SOURCE}
    assert parent.ref_doc_id == child.ref_doc_id == document.id_
    assert parent.metadata["pages"] == child.metadata["pages"] == [1, 2]
    assert parent.metadata["page_label"] == "i"
    assert parent.metadata["file_name"] == "a.pdf"
    assert parent.metadata["script"] == "latin"


def test_metadata_is_not_embedded_and_the_llm_reads_file_and_page():
    document = Document(text="Some text.", metadata={"file_name": "a.pdf", "author": "x" * 5_000})
    parent, child = ChildParentParser(parent_size=16, child_sizes=(16,))([document])
    assert parent.metadata["author"] == "x" * 5_000
    for node in (parent, child):
        assert node.get_content(metadata_mode=MetadataMode.EMBED) == "Some text."
        seen = node.get_content(metadata_mode=MetadataMode.LLM)
        assert "a.pdf" in seen
        assert "xxx" not in seen


def test_nodes_share_no_metadata_object():
    parent, child = ChildParentParser(child_sizes=(128,))([Document(text="Some text.")])
    parent.metadata["pages"].append(99)
    assert child.metadata["pages"] == []


def test_header_is_title_and_nearest_heading():
    text = "Market Risks\nThe group is exposed to the risks that follow in this chapter of it.\n"
    (parent,) = ChildParentParser(child_sizes=())([Document(text=text, metadata={"title": "10-K"})])
    assert header_of(parent) == header_of(parent.metadata) == "10-K, Market Risks"
    assert "10-K" not in parent.text


@pytest.mark.parametrize(
    "splitter",
    [
        SentenceSplitter(chunk_size=100, chunk_overlap=20),
        SentenceSplitter(chunk_size=100, chunk_overlap=0),
        TokenTextSplitter(chunk_size=100, chunk_overlap=10),
        SentenceWindowNodeParser.from_defaults(),
        HierarchicalNodeParser.from_defaults(chunk_sizes=[512, 128]),
    ],
    ids=lambda splitter: type(splitter).__name__,
)
@pytest.mark.parametrize("text", [ENGLISH, "The same words again. " * 300])
def test_any_splitter_of_llamaindex_may_make_the_parents(splitter, text):
    """Stock offsets are wrong for repeated text with overlap; ours are exact."""
    nodes = ChildParentParser(parent_splitter=splitter, child_sizes=(32,))([Document(text=text)])
    assert all(text[n.start_char_idx : n.end_char_idx] == n.text for n in nodes)
    assert len({n.id_ for n in nodes}) == len(nodes)
    assert nodes[0].metadata["kind"] == "parent"


def test_a_splitter_for_the_children_names_their_kind_by_the_size():
    parser = ChildParentParser(
        child_sizes=(100,), child_splitter=SentenceSplitter(chunk_size=60, chunk_overlap=0)
    )
    nodes = parser([Document(text=ENGLISH)])
    assert {n.metadata["kind"] for n in nodes} == {"parent", "child-100"}
    assert all(ENGLISH[n.start_char_idx : n.end_char_idx] == n.text for n in nodes)


def test_one_child_splitter_for_many_sizes_is_an_error():
    with pytest.raises(ConfigError, match="child_sizes"):
        ChildParentParser(child_splitter=SentenceSplitter())([Document(text="x")])


class Shouting(TransformComponent):
    def __call__(self, nodes, **kwargs):
        return [Document(text=node.text.upper()) for node in nodes]


def test_a_splitter_that_changes_the_text_is_an_error_that_says_so():
    with pytest.raises(ConfigError, match=r"Shouting changes the text.*only cuts"):
        ChildParentParser(parent_splitter=Shouting())([Document(text="Some text.")])


@pytest.mark.parametrize(
    "options", [{"parent_size": 1}, {"child_sizes": (128, 128)}, {"child_sizes": (4,)}]
)
def test_sizes_that_cannot_be_are_refused_at_construction(options):
    with pytest.raises(ValueError, match="size"):
        ChildParentParser(**options)


@pytest.mark.parametrize("text", ["", "  \n\n "])
def test_a_document_without_text_has_no_nodes(text):
    assert ChildParentParser()([Document(text=text)]) == []


def test_pages_of_a_node_are_those_it_overlaps(tmp_path):
    pages = [f"Sentence {n} ends here. Another sentence of this page." for n in range(1, 40)]
    document = read_pdf(make_pdf(tmp_path / "a.pdf", pages))
    found = page_map(document)
    for node in ChildParentParser(parent_size=128)([document]):
        expected = [
            page.number
            for page in found
            if page.start < node.end_char_idx and node.start_char_idx < page.end
        ]
        assert node.metadata["pages"] == expected
        assert node.metadata["page_label"] == str(expected[0])


@pytest.mark.parametrize("length", [4, 16, 30, 57])
def test_a_child_begins_with_its_page_though_the_child_before_is_short(length):
    """What stands at the top of a page says what the page is about."""
    pages = [
        "Report 1\n" + "The ferry sailed north in calm weather again. " * length + "It came back.",
        "Income statement\n" + "Tickets sold 1,204 1,188\n" * 30,
    ]
    text, spans = join_pages(pages, ["1", "2"])
    rows = [
        asdict(Page(n, str(n), start, end, page))
        for n, ((start, end), page) in enumerate(zip(spans, pages, strict=True), start=1)
    ]
    document = Document(text=text, metadata={"page_map": rows})
    children = [
        node
        for node in ChildParentParser(child_sizes=(128,))([document])
        if node.metadata["kind"] == "child-128"
    ]
    assert any(child.text.startswith("Income statement") for child in children)
    assert all(len(child.metadata["pages"]) == 1 for child in children)
