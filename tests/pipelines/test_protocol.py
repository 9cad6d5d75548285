"""What the process that reads sends back is checked before it is believed or allocated."""

import io
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import EncryptedError, RagError, StoreError, TooSlowError
from pipelines.layout import Box
from pipelines.ocr import Ocr
from pipelines.page_choice import PAGE_READERS
from pipelines.page_showing import PageRequest, Pixels, ShownPage
from pipelines.page_states import PAGE_STATES
from pipelines.protocol import (
    ProtocolError,
    Task,
    WorkerAnswer,
    answer_bytes,
    ocr_page_bytes,
    receive_answer,
    receive_shown,
    receive_task,
    task_bytes,
)
from pipelines.quote_places import QuotePlace
from pipelines.readers import Limits, PageText, RawPdf

LIMITS = Limits(pages=3, page_characters=10, characters=20)


def sent(data):
    stream = io.BytesIO(data)

    def read(count):
        assert count <= 1 << 16, f"{count} bytes were about to be allocated"
        found = stream.read(count)
        if len(found) < count:
            raise EOFError
        return found

    return read


def header(**about):
    data = json.dumps(about).encode()
    return b"P" + struct.pack(">I", len(data)) + data


def answer_of(*pages, read_by="pypdf"):
    return WorkerAnswer(
        RawPdf(tuple(PageText("i", text) for text in pages), "A title", "Large"), read_by
    )


def test_pages_come_out_as_they_went_in():
    answer = answer_of("one", "", "二頁目")
    assert receive_answer(sent(b"".join(answer_bytes(answer))), LIMITS) == answer


@pytest.mark.parametrize("name", ["", *PAGE_READERS])
def test_a_page_keeps_the_name_of_its_reader(name):
    answer = WorkerAnswer(RawPdf((PageText("1", "abc", read_by=name),), "", ""), "pypdf")
    assert receive_answer(sent(b"".join(answer_bytes(answer))), LIMITS) == answer


@pytest.mark.parametrize("state", PAGE_STATES)
def test_a_page_keeps_its_state(state):
    answer = WorkerAnswer(RawPdf((PageText("1", "", state),), "", ""), "pypdf")
    assert receive_answer(sent(b"".join(answer_bytes(answer))), LIMITS) == answer


@pytest.mark.parametrize("confidence", [None, 0.0, 0.87, 1.0])
def test_a_page_keeps_the_confidence_of_ocr(confidence):
    answer = WorkerAnswer(RawPdf((PageText("1", "a", "ocr", confidence),), "", ""), "pypdf")
    assert receive_answer(sent(b"".join(answer_bytes(answer))), LIMITS) == answer


def test_each_page_that_ocr_begins_with_is_told_before_the_answer():
    told, answer = [], answer_of("one")
    data = ocr_page_bytes(1, 2) + ocr_page_bytes(2, 2) + b"".join(answer_bytes(answer))
    assert receive_answer(sent(data), LIMITS, lambda *at: told.append(at)) == answer
    assert told == [(1, 2), (2, 2)]
    assert receive_answer(sent(data), LIMITS) == answer


def test_an_error_keeps_its_kind_message_and_hint():
    error = EncryptedError("it is encrypted", hint="give its password")
    received = receive_answer(sent(b"".join(answer_bytes(error))), LIMITS)
    assert isinstance(received, EncryptedError)
    assert (received.message, received.hint) == (error.message, error.hint)


def test_an_error_of_no_known_kind_is_the_nearest_one():
    received = receive_answer(sent(b"".join(answer_bytes(TooSlowError("slow")))), LIMITS)
    assert type(received).__name__ == "DamagedError"


def test_a_task_keeps_all_but_shows_no_password():
    task = Task("pypdf", 3, LIMITS, ("geheim", "日本"), Ocr(("eng", "jpn"), "/share"))
    assert receive_task(sent(task_bytes(task))) == task
    assert "geheim" not in repr(task)


PAGE = struct.pack(">IIBBB", 1, 3, 0, 255, 0) + b"iabc"
TITLES = {"title": "", "largest": "", "read_by": "pypdf"}


@pytest.mark.parametrize(
    "data",
    [
        b"X",
        b"E" + struct.pack(">I", 2**32 - 1),
        b"P" + struct.pack(">I", 3) + b"{{{",
        b"P" + struct.pack(">I", 2) + b"[]",
        b"P" + struct.pack(">I", 40_000) + b"[" * 40_000,
        header(pages=0, **TITLES),
        header(pages=4, **TITLES),
        header(pages="1", **TITLES),
        header(pages=True, **TITLES | {"read_by": "os"}),
        header(pages=1, **TITLES | {"title": "x" * 2000}),
        header(pages=1, **TITLES | {"largest": None}),
        header(pages=1, **TITLES) + struct.pack(">IIBBB", 2**32 - 1, 0, 0, 255, 0),
        header(pages=1, **TITLES) + struct.pack(">IIBBB", 0, 2**32 - 1, 0, 255, 0),
        header(pages=1, **TITLES) + struct.pack(">IIBBB", 0, 11, 0, 255, 0) + b"a" * 11,
        header(pages=3, **TITLES) + (struct.pack(">IIBBB", 0, 10, 0, 255, 0) + b"a" * 10) * 3,
        header(pages=1, **TITLES) + struct.pack(">IIBBB", 0, 2, 0, 255, 0) + b"\xff\xfe",
        header(pages=1, **TITLES) + struct.pack(">IIBBB", 0, 0, len(PAGE_STATES), 255, 0),
        header(pages=1, **TITLES) + struct.pack(">IIBBB", 0, 0, 0, 101, 0),
        header(pages=1, **TITLES) + struct.pack(">IIBBB", 0, 0, 0, 255, len(PAGE_READERS) + 1),
        ocr_page_bytes(1, 4) + header(pages=1, **TITLES) + PAGE,
        ocr_page_bytes(2, 1) + header(pages=1, **TITLES) + PAGE,
        ocr_page_bytes(0, 1) + header(pages=1, **TITLES) + PAGE,
        ocr_page_bytes(1, 1) * 4 + header(pages=1, **TITLES) + PAGE,
        b"E" + struct.pack(">I", 12) + b'{"kind":"x"}',
    ],
)
def test_what_is_no_answer_is_refused_before_it_is_allocated(data):
    with pytest.raises(ProtocolError):
        receive_answer(sent(data), LIMITS)


def test_an_error_of_another_tree_is_refused():
    body = json.dumps({"kind": StoreError.__name__, "message": "m", "hint": ""}).encode()
    with pytest.raises(ProtocolError):
        receive_answer(sent(b"E" + struct.pack(">I", len(body)) + body), LIMITS)


def test_text_that_no_reader_of_ours_gives_is_cleaned():
    page = struct.pack(">IIBBB", 0, 4, 0, 255, 0) + b"a\x00\x1bb"
    received = receive_answer(sent(header(pages=1, **TITLES) + page), LIMITS)
    assert received.raw.pages[0].text == "ab"


@given(st.binary(max_size=200), st.sampled_from([b"", b"P", b"E", header(pages=2, **TITLES)]))
def test_any_bytes_are_an_answer_an_end_or_refused(data, start):
    try:
        received = receive_answer(sent(start + data), LIMITS)
    except (EOFError, ProtocolError):
        return
    assert isinstance(received, (WorkerAnswer, RagError))


def shown_page(pixels=True):
    box = Box(1.0, 2.0, 3.5, 4.0)
    picture = Pixels(2, 1, bytes(range(6))) if pixels else None
    return ShownPage(595.0, 842.0, (QuotePlace((box,), ""), QuotePlace((), "rest")), picture)


@pytest.mark.parametrize("pixels", [True, False])
def test_a_shown_page_arrives_as_it_was_sent(pixels):
    page = shown_page(pixels)
    request = PageRequest(3, ("one", "two"), 1.0 if pixels else 0.0)
    read = sent(b"".join(answer_bytes(page)))
    assert receive_shown(read, request) == page
    with pytest.raises(EOFError):
        read(1)


@pytest.mark.parametrize(
    "change",
    [
        {"size": [1.0]},
        {"size": [float("nan"), 1.0]},
        {"places": []},
        {"places": [{"boxes": [[1, 2, 3]], "rest": ""}] * 2},
        {"places": [{"boxes": [[1, 2, 3, float("inf")]], "rest": ""}] * 2},
        {"places": [{"boxes": [], "rest": 5}] * 2},
        {"pixels": None},
        {"pixels": [10**6, 10**6]},
        {"pixels": [-1, -1]},
        {"pixels": ["2", 1]},
        {"pixels": [0, 5]},
    ],
)
def test_a_shown_page_that_is_malformed_is_refused_before_anything_is_allocated(change):
    about = {
        "size": [595.0, 842.0],
        "places": [{"boxes": [], "rest": ""}, {"boxes": [], "rest": ""}],
        "pixels": [2, 1],
    }
    header = json.dumps(about | change).encode()
    data = b"S" + struct.pack(">I", len(header)) + header + bytes(6)
    with pytest.raises(ProtocolError):
        receive_shown(sent(data), PageRequest(1, ("one", "two"), 1.0))


def test_a_task_for_one_page_arrives_as_it_was_sent():
    request = PageRequest(3, ("one",), 1.5, Ocr(("eng",), "/weights"))
    task = Task("pypdfium2", 5, Limits(), ("secret",), request=request)
    assert receive_task(sent(task_bytes(task))) == task
