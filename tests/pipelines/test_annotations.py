"""What was filled in and added to a page."""

import pytest

from pipelines import annotations
from pipelines.annotations import MAX_VALUE_CHARACTERS
from pipelines.errors import TooLargeError
from pipelines.readers import Limits
from pipelines.reading import READERS, read_data
from tests.support.forms import field, pdf_with

LINE = "A plain line of text."


def page_of(given, reader="pypdfium2", **more):
    raw, _ = read_data(pdf_with(given, **more), reader, (), Limits())
    (page,) = raw.pages
    return page


def added(given, **more):
    """Return the lines that annotations add to the text of a page."""
    text = page_of(given, **more).text
    assert text.startswith(LINE)
    return text.removeprefix(LINE).strip().split("\n")


@pytest.mark.parametrize(
    ("annotation", "line"),
    [
        (field(b"Tx", b"given_name", b"/V(Ada)"), "given name: Ada"),
        (field(b"Tx", b"f1_02[0]", b"/TU(Last name:)/V(Lovelace)"), "Last name: Lovelace"),
        (field(b"Tx", b"Text7", b"/V(4.2 bar)"), "4.2 bar"),
        (field(b"Tx", b"city", b"/V<feff6771 4eac>"), "city: 東京"),
        (field(b"Tx", b"notes", b"/V<feff0061000a00070062>"), "notes: a b"),
        (field(b"Ch", b"plan", b"/Ff 131072/Opt[(basic)(full)]/V(full)"), "plan: full"),
        (
            field(b"Ch", b"days", b"/Ff 2097152/Opt[(Mon)(Tue)(Wed)]/V[(Mon)(Wed)]"),
            "days: Mon, Wed",
        ),
        (field(b"Ch", b"code", b"/Ff 131072/Opt[[(1)(one)][(2)(two)]]/V(2)"), "code: two"),
        (b"/Subtype/FreeText/Contents(Seen by the board.)", "Seen by the board."),
        (b"/Subtype/Text/Contents(Check this figure.)", "Check this figure."),
        (b"/Subtype/Highlight/Contents(Important)", "Important"),
        (b"/Subtype/Stamp/Contents(APPROVED 4 May)", "APPROVED 4 May"),
    ],
)
def test_what_a_reader_wrote_is_part_of_the_page(annotation, line):
    assert added([annotation]) == [line]


def box(state, rest=b""):
    on = b"On" if state == b"Off" else state
    look = b"/AP<</N<</%b 20 0 R/Off 20 0 R>>>>/AS/%b/V/%b" % (on, state, state)
    return field(b"Btn", b"terms", look + rest)


EMPTY_FORM = {20: b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 0>>stream\n\nendstream"}


@pytest.mark.parametrize(
    ("annotation", "lines"),
    [
        (box(b"Agree"), ["terms: Agree"]),
        (box(b"On"), ["terms: checked"]),
        (box(b"Off"), [""]),
    ],
)
def test_a_checked_box_says_what_it_stands_for(annotation, lines):
    assert added([annotation], more=EMPTY_FORM) == lines


@pytest.mark.parametrize(
    "annotation",
    [
        field(b"Tx", b"pin", b"/Ff 8192/V(1234)"),
        field(b"Tx", b"note", b"/F 2/V(hidden)"),
        field(b"Tx", b"note", b"/F 32/V(not shown)"),
        field(b"Tx", b"note", b"/V()"),
        field(b"Tx", b"note", b"/V(\\\\)"),
        field(b"Btn", b"send", b"/Ff 65536/MK<</CA(Send)>>"),
        b"/Subtype/Text/F 2/Contents(hidden)",
        b"/Subtype/Link/Contents(a link)/A<</S/URI/URI(http://example.org/)>>",
        b"/Subtype/Popup/Contents(what the note says)",
    ],
)
def test_what_is_hidden_secret_or_says_nothing_is_left_out(annotation):
    assert added([annotation]) == [""]


def test_a_long_text_that_the_page_draws_too_is_said_once():
    shown = b"/Subtype/FreeText/Contents(A plain  line of text.)"
    assert added([shown, field(b"Tx", b"word", b"/V(plain)")]) == ["word: plain"]


def test_a_field_at_two_places_is_said_once():
    twice = field(b"Tx", b"name", b"/V(Ada)")
    assert added([twice, twice]) == ["name: Ada"]


def test_a_page_of_values_alone_has_text():
    page = page_of([field(b"Tx", b"name", b"/V(Ada)")], content=b"")
    assert (page.text, page.state) == ("name: Ada", "text")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("content", "own"), [(b"BT /F1 12 Tf 72 700 Td (Plain text.) Tj ET", "Plain text."), (b"", "")]
)
def test_whatever_reads_the_page_its_values_are_part_of_it(reader, content, own):
    page = page_of([field(b"Tx", b"name", b"/V(Ada)")], reader, content=content)
    assert (page.text.split("\n"), page.state) == (
        [*filter(None, (own,)), *([""] if own else []), "name: Ada"],
        "text",
    )


def test_added_text_counts_towards_the_limits():
    data = pdf_with([field(b"Tx", b"name", b"/V(Ada)")])
    with pytest.raises(TooLargeError, match="page 1 unfolds into 30 characters"):
        read_data(data, "pypdfium2", (), Limits(page_characters=29))


def test_values_are_bounded(monkeypatch):
    long = b"/Subtype/Text/Contents(%b)" % (b"x" * (MAX_VALUE_CHARACTERS + 1))
    assert len(added([long])[0]) == MAX_VALUE_CHARACTERS
    notes = [b"/Subtype/Text/Contents(note %d)" % number for number in range(9)]
    monkeypatch.setattr(annotations, "MAX_ANNOTATIONS", 2)
    assert added(notes) == ["note 0", "note 1"]
    monkeypatch.setattr(annotations, "MAX_PAGE_CHARACTERS", 6)
    assert added(notes) == ["note 0"]


def test_a_page_of_many_fields_is_not_drawn(monkeypatch):
    import pypdfium2.raw as pdfium

    monkeypatch.delattr(pdfium, "FORM_OnAfterLoadPage")
    assert added([field(b"Tx", b"name", b"/V(Ada)")]) == ["name: Ada"]


@pytest.mark.parametrize(
    "given",
    [
        [field(b"Tx", b"a", b"/V(Ada)/Parent 10 0 R")],
        [field(b"Tx", b"a", b"/V(Ada)/Kids[10 0 R]")],
        [
            b"/Subtype/Widget/T(a)/Kids[11 0 R]/Parent 11 0 R",
            b"/Subtype/Widget/T(b)/Kids[10 0 R]/Parent 10 0 R",
        ],
        [b"/Subtype/Widget/FT/Tx/T 10 0 R/V 10 0 R"],
        [b"/Subtype/Text/Contents 10 0 R"],
    ],
)
def test_fields_that_contain_themselves_leave_the_page_as_it_is(given):
    assert page_of(given).text.startswith(LINE)
