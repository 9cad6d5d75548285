import shutil

import pytest
from llama_index.core.schema import Document, MetadataMode
from pypdf import PdfReader, PdfWriter

from pipelines.documents import (
    READERS,
    Limits,
    adopt,
    content_hash,
    document_of,
    page_map,
    read_pdf,
    reader_fingerprint,
    retitled,
)
from pipelines.errors import (
    DamagedError,
    NoTextError,
)
from pipelines.ocr import find_ocr
from pipelines.page_map import pages_of
from pipelines.readers import PageText, RawPdf
from pipelines.reading import ReadPdf, read_data
from pipelines.structure import structure_of
from tests.support.pdfs import make_pdf

readers = pytest.mark.parametrize("reader", READERS)
SPLIT = ["The report of 2018. Revenue of the group grew to", "$4.2 million in the north. It fell."]


@readers
def test_a_sentence_over_a_page_break_is_one_and_on_both_pages(tmp_path, reader):
    """Case 12."""
    document = read_pdf(make_pdf(tmp_path / "report.pdf", SPLIT), reader=reader)
    sentences = [document.text[a:b] for a, b in structure_of(document.text).sentences]
    assert "Revenue of the group grew to\n$4.2 million in the north." in sentences
    start, end = structure_of(document.text).sentences[1]
    assert [page.number for page in pages_of(page_map(document), start, end)] == [1, 2]


@readers
def test_a_japanese_sentence_over_a_page_break_has_no_gap(tmp_path, reader):
    """Case 12."""
    pages = ["この製品の保証期間は、お買い上げの日か", "ら二年間とします。次の文です。"]
    document = read_pdf(make_pdf(tmp_path / "manual.pdf", pages), reader=reader)
    assert "お買い上げの日から二年間とします。" in document.text


@readers
def test_physical_page_and_printed_label_are_both_kept(tmp_path, reader):
    """Case 13."""
    labels = ["i", "ii", "1", "2", "A-1"]
    pages = [f"Text of page {label}." for label in labels]
    document = read_pdf(make_pdf(tmp_path / "book.pdf", pages, labels=labels), reader=reader)
    found = page_map(document)
    assert [(page.number, page.label) for page in found] == list(enumerate(labels, start=1))
    assert [document.text[page.start : page.end] for page in found] == pages
    assert [page.raw.strip() for page in found] == pages


def test_pages_without_labels_are_labelled_by_their_number(tmp_path):
    document = read_pdf(make_pdf(tmp_path / "plain.pdf", ["One.", "Two."]))
    assert [page.label for page in page_map(document)] == ["1", "2"]


@readers
def test_a_document_with_some_empty_pages_is_read(tmp_path, reader):
    path = make_pdf(tmp_path / "mixed.pdf", ["Text of one.", "", "Text of three."], scanned=(2,))
    pages = page_map(read_pdf(path, reader=reader))
    assert [page.number for page in pages if not page.raw.strip()] == [2]


def test_a_document_says_which_reader_was_wanted_and_which_one_read_it(tmp_path, monkeypatch):
    def broken(data, password, limits):
        raise DamagedError("it is damaged")

    monkeypatch.setattr("pipelines.reading.READERS", READERS | {"pypdfium2": broken})
    path = make_pdf(tmp_path / "odd.pdf", ["Some text."])
    raw, read_by = read_data(path.read_bytes(), "pypdfium2", (), Limits())
    document = document_of(ReadPdf(path, raw, content_hash(path), "pypdfium2", read_by))
    assert document.metadata["reader"] == reader_fingerprint("pypdfium2")
    assert document.metadata["read_by"] == reader_fingerprint("pypdf")


def test_same_bytes_are_the_same_document_at_any_path(tmp_path):
    path = make_pdf(tmp_path / "a.pdf", ["Some text."])
    copy = tmp_path / "b.pdf"
    shutil.copy(path, copy)
    one, other = read_pdf(path), read_pdf(copy)
    assert one.id_ == other.id_ == content_hash(path) == content_hash(path.read_bytes())
    assert one.text == other.text


def test_metadata_eats_nothing_of_what_is_embedded_or_read(tmp_path):
    document = read_pdf(make_pdf(tmp_path / "a.pdf", ["Some text."]))
    for mode in (MetadataMode.EMBED, MetadataMode.LLM):
        assert document.get_content(metadata_mode=mode) == "Some text."


@readers
@pytest.mark.parametrize(
    ("options", "title"),
    [
        ({"title": "Annual Report of Acme"}, "acme 2018 10K, Annual Report of Acme"),
        ({"title": "0000078003-22-000027"}, "acme 2018 10K"),
        ({"heading": "Acme Corporation"}, "acme 2018 10K, Acme Corporation"),
        ({"title": "untitled", "heading": "Acme Report"}, "acme 2018 10K, Acme Report"),
        ({}, "acme 2018 10K"),
        ({"title": "2018 acme"}, "acme 2018 10K"),
    ],
)
def test_title_is_the_stem_and_what_page_one_confirms(tmp_path, reader, options, title):
    text = "The report tells of acme and its sales in 2018.\nIt has many words of plain type.\n" * 3
    path = make_pdf(tmp_path / "acme_2018_10K.pdf", [text], **options)
    assert read_pdf(path, reader=reader).metadata["title"] == title


@pytest.mark.parametrize(
    "own", [{}, {"title": "Annual Report of Acme"}, {"heading": "Acme Report"}]
)
@pytest.mark.parametrize(
    "name", ["globex_2019.pdf", "acme_report.pdf", "Annual-Report-of-Acme.pdf"]
)
def test_title_of_a_renamed_file_is_the_one_it_would_have_had(tmp_path, own, name):
    path = make_pdf(tmp_path / "tmp_17.pdf", ["The Annual Report of Acme."], **own)
    before = read_pdf(path).metadata
    moved = path.rename(tmp_path / name)
    assert retitled(before, str(moved)) == read_pdf(moved).metadata["title"]


def test_title_that_the_old_name_said_comes_back_under_another_name(tmp_path):
    path = make_pdf(tmp_path / "annual_report.pdf", ["The Annual Report."], title="Annual Report")
    before = read_pdf(path).metadata
    assert before["title"] == "annual report"
    assert retitled(before, "/x/zanzibar.pdf") == "zanzibar, Annual Report"


def test_title_of_a_users_document_stays_whatever_it_is_called():
    document = adopt(Document(text="Cats.", metadata={"title": "Mine", "own_title": "Other"}))
    assert retitled(document.metadata, "/x/b.pdf") == "Mine"


def test_document_without_text_is_refused_with_its_reason():
    for text in ("", " \n", "\u200b", "\ud800"):
        with pytest.raises(NoTextError, match="has no text"):
            adopt(Document(text=text))


def test_letter_spaced_lines_of_a_given_document_are_written_together_unless_it_has_pages():
    spaced = "A N N U A L  R E P O R T\nof 2024"
    assert adopt(Document(text=spaced)).text == "ANNUAL  REPORT\nof 2024"
    labelled = adopt(Document(text=spaced, metadata={"page_label": "3"}))
    assert page_map(labelled)[0].raw == labelled.text == "ANNUAL  REPORT\nof 2024"
    mapped = [{"number": 1, "label": "1", "start": 0, "end": len(spaced), "raw": spaced}]
    assert adopt(Document(text=spaced, metadata={"page_map": mapped})).text == spaced


def test_adopted_documents_keep_their_id_or_get_one_of_their_content():
    assert adopt(Document(text="x", id_="mine")).id_ == "mine"
    one, other = adopt(Document(text="x")), adopt(Document(text="x"))
    assert one.id_ == other.id_ == one.metadata["content_hash"]
    assert adopt(Document(text="x", metadata={"year": 2018})).id_ != one.id_
    assert adopt(Document(text="x", metadata={"file_path": "/a/b"})).id_ == one.id_


def test_an_adopted_document_is_a_clean_copy():
    given = Document(text="a\x00b\r\nc \ud800", metadata={"year": 2018})
    taken = adopt(given)
    assert taken.text == "ab\nc "
    assert given.metadata == {"year": 2018}
    assert taken.metadata["year"] == 2018
    assert page_map(taken) == []


def test_a_page_label_makes_an_adopted_document_one_page():
    taken = adopt(Document(text="Some text.", metadata={"page_label": "7", "file_name": "a_b.pdf"}))
    assert [(page.number, page.label, page.raw) for page in page_map(taken)] == [
        (7, "7", "Some text.")
    ]
    assert taken.metadata["title"] == "a b"


def test_a_document_of_ours_keeps_its_pages_when_adopted(tmp_path):
    document = read_pdf(make_pdf(tmp_path / "a.pdf", SPLIT))
    taken = adopt(document)
    assert taken is not document
    assert (taken.id_, taken.text, taken.metadata) == (
        document.id_,
        document.text,
        document.metadata,
    )


def test_a_rotated_and_reordered_file_is_read_page_by_page(tmp_path):
    path = make_pdf(tmp_path / "a.pdf", ["First page text.", "Second page text."])
    writer = PdfWriter()
    for page in reversed(PdfReader(path).pages):
        writer.add_page(page.rotate(90))
    turned = tmp_path / "turned.pdf"
    writer.write(turned)
    assert read_pdf(turned).text.split() == ["Second", "page", "text.", "First", "page", "text."]


def read_with(path, states, ocr):
    """Return a file whose pages are in these states."""
    pages = tuple(
        PageText(str(n), "" if state == "image" else "Text.", state, {"ocr": 0.9}.get(state))
        for n, state in enumerate(states, 1)
    )
    return ReadPdf(path, RawPdf(pages, "", ""), "hash", "pypdfium2", "pypdfium2", ocr)


def test_pages_that_ocr_read_are_kept_with_the_engine_and_its_confidence(tmp_path):
    ocr = find_ocr("on")
    document = document_of(read_with(tmp_path / "x.pdf", ["text", "ocr", "image"], ocr))
    assert document.metadata["ocr_pages"] == {
        "engine": ocr.fingerprint(),
        "confidence": {"2": 0.9},
    }
    assert document.metadata["page_states"] == {"image": [3]}
    assert "ocr_pages" in document.excluded_embed_metadata_keys


@pytest.mark.parametrize(("states", "wanted"), [(["text", "empty"], "on"), (["image"], "off")])
def test_a_file_that_ocr_had_no_part_in_says_nothing_of_it(tmp_path, states, wanted):
    read = read_with(tmp_path / "x.pdf", states, find_ocr(wanted))
    assert "ocr_pages" not in document_of(read).metadata
