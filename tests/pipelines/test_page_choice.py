"""Each page by the reader that gives the most of it."""

from dataclasses import replace

import pytest

from pipelines import page_choice
from pipelines.errors import DamagedError, TooLargeError
from pipelines.page_choice import (
    MAX_PAGES_WITHOUT_GAIN,
    PAGE_READERS,
    better,
    improved,
    wants,
)
from pipelines.page_reader_names import STAND_IN
from pipelines.readers import Limits, PageText, RawPdf
from pipelines.reading import READERS, read_data, whole
from tests.support.forms import field, pdf_with
from tests.support.page_states import ODD, with_a_damaged_page, without_map
from tests.support.vertical_pdfs import vertical_pdf

COLUMNS = ["あいうえおかきくけこ", "さしすせそたちつてと"]
PLAIN = b"BT /F1 12 Tf 72 700 Td (The valve opens at 4.2 bar.) Tj ET"
TEXT, UNDECODABLE = PageText("1", "Net sales."), PageText("2", "", "undecodable")


def asked_readers(monkeypatch, answer):
    """Put readers in place that note the pages they are asked for."""
    asked = {name: [] for name in PAGE_READERS}

    def reader(name):
        def read(data, password, indices, total):
            for index in indices:
                asked[name].append(index)
                yield answer(name, index)

        return read

    monkeypatch.setattr(page_choice, "PAGE_READERS", {name: reader(name) for name in asked})
    return asked


@pytest.mark.parametrize("first", READERS)
def test_a_page_of_which_a_reader_leaves_text_out_is_read_again(first):
    raw, read_by = read_data(vertical_pdf(COLUMNS, more_pages=[PLAIN]), first, (), Limits())
    assert [page.text for page in raw.pages] == ["\n".join(COLUMNS), "The valve opens at 4.2 bar."]
    assert [page.read_by for page in raw.pages] == [STAND_IN, ""]
    assert [page.label for page in raw.pages] == ["1", "2"]
    assert read_by == first


def test_a_page_with_all_its_text_is_read_once(monkeypatch):
    asked = asked_readers(monkeypatch, lambda name, index: PageText("", "more text"))
    pages = (
        TEXT,
        PageText("2", "", "image"),
        PageText("3", "", "empty"),
        PageText("4", "", "form"),
    )
    raw = RawPdf(pages, "", "")
    assert improved(raw, "pypdfium2", b"", None, Limits()) is raw
    assert not any(asked.values())


def test_a_page_that_no_reader_can_read_stays_and_so_do_the_others(monkeypatch):
    asked = asked_readers(monkeypatch, lambda name, index: PageText("", "", "damaged"))
    raw = RawPdf((TEXT, UNDECODABLE), "", "")
    assert improved(raw, "pypdfium2", b"", None, Limits()).pages == raw.pages
    assert asked == {"pypdfium2": [], STAND_IN: [], "pypdf": [1]}


def test_a_page_that_another_reader_can_read_is_its(monkeypatch):
    asked_readers(monkeypatch, lambda name, index: PageText("", "Prices fell."))
    raw = improved(RawPdf((TEXT, UNDECODABLE), "", ""), "pypdfium2", b"", None, Limits())
    assert raw.pages == (TEXT, PageText("2", "Prices fell.", "text", read_by="pypdf"))


def test_a_page_of_another_reader_keeps_what_was_added_to_it(monkeypatch):
    asked_readers(monkeypatch, lambda name, index: PageText("", "Prices fell."))
    filled = replace(UNDECODABLE, added="name: Ada")
    raw = improved(RawPdf((TEXT, filled), "", ""), "pypdfium2", b"", None, Limits())
    assert (raw.pages[1].text, raw.pages[1].added) == ("Prices fell.", "name: Ada")
    assert whole(raw).pages[1].text == "Prices fell.\n\nname: Ada"


def test_values_on_a_page_that_nothing_can_decode_are_read_and_the_page_is_told_of():
    data = pdf_with([field(b"Tx", b"name", b"/V(Ada)")], content=ODD, more=without_map(3))
    (page,) = read_data(data, "pypdfium2", (), Limits())[0].pages
    assert (page.text, page.state) == ("name: Ada", "undecodable")


def test_a_file_that_pdfium_does_not_open_keeps_its_text(monkeypatch):
    def broken(data, password, total):
        raise DamagedError("it is damaged")
        yield

    monkeypatch.setattr(page_choice, "added_to_pages", broken)
    raw = RawPdf((TEXT,), "", "")
    assert improved(raw, "pypdf", b"", None, Limits()) is raw


def test_a_reader_that_gives_nothing_more_is_not_asked_for_ever(monkeypatch):
    asked = asked_readers(monkeypatch, lambda name, index: replace(UNDECODABLE, label=""))
    raw = RawPdf((TEXT, *[UNDECODABLE] * 100), "", "")
    improved(raw, "pypdfium2", b"", None, Limits())
    assert len(asked["pypdf"]) == MAX_PAGES_WITHOUT_GAIN


def test_a_reader_that_takes_half_of_the_time_is_asked_no_more(monkeypatch):
    asked = asked_readers(monkeypatch, lambda name, index: PageText("", "Prices fell."))
    moments = iter([0.0, 29.0, 31.0])
    monkeypatch.setattr(page_choice.time, "process_time", lambda: next(moments))
    raw = improved(RawPdf((TEXT, *[UNDECODABLE] * 9), "", ""), "pypdfium2", b"", None, Limits())
    assert asked["pypdf"] == [1, 2]
    assert [page.state for page in raw.pages].count("text") == 3


def test_pages_of_a_reader_that_cannot_open_the_file_stay(monkeypatch):
    def broken(data, password, indices, total):
        raise DamagedError("it is damaged")
        yield

    monkeypatch.setattr(page_choice, "PAGE_READERS", {"pypdf": broken})
    raw = RawPdf((TEXT, UNDECODABLE), "", "")
    assert improved(raw, "pypdfium2", b"", None, Limits()) is raw


def test_text_of_another_reader_counts_towards_the_limits(monkeypatch):
    asked_readers(monkeypatch, lambda name, index: PageText("", "x" * 50))
    with pytest.raises(TooLargeError, match="page 2 unfolds into 50"):
        improved(
            RawPdf((TEXT, UNDECODABLE), "", ""), "pypdfium2", b"", None, Limits(page_characters=49)
        )


def test_a_damaged_page_leaves_the_others_in():
    raw, _ = read_data(with_a_damaged_page(), "pypdfium2", (), Limits())
    assert [page.state for page in raw.pages] == ["text", "damaged", "text"]


def test_pages_of_a_file_without_text_are_asked_for_where_something_is_drawn_or_all_is_empty():
    assert not wants(PageText("1", "", "image"), "pypdf")
    for state in ("image", "empty"):
        assert wants(PageText("1", "", state), "pypdf", file_has_text=False)
    assert not wants(PageText("1", "", "form"), "pypdf", file_has_text=False)


@pytest.mark.parametrize(
    ("found", "page", "kept"),
    [
        (PageText("", "a" * 105), PageText("1", "a" * 100), False),
        (PageText("", "a" * 106), PageText("1", "a" * 100), True),
        (PageText("", "a " * 90), PageText("1", "a" * 100), False),
        (PageText("", "", "image"), PageText("1", "", "damaged"), True),
        (PageText("", "", "empty"), PageText("1", "", "damaged"), False),
        (PageText("", "", "damaged"), PageText("1", "", "empty"), True),
    ],
)
def test_a_page_is_taken_from_another_reader_where_it_says_more(found, page, kept):
    assert better(found, page) is kept
