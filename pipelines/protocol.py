"""The messages between a program and the process that reads PDFs for it.

An answer comes from a process that parses hostile files: it is plain text with lengths
in front, each checked against a limit before anything is allocated, and never unpickled.
A task is one JSON object and the bytes of the file; an answer is the pages, one after
the other, or an error::

    task    = length JSON bytes              {"reader", "passwords", "limits", "size"}; the file
    answer  = "A" O* (E | P | S) ("." | "!") accepted; "!": this process ends now
    O       = "O" number number              OCR begins with this page, of so many
    E       = "E" length JSON                {"kind", "message", "hint"}
    P       = "P" length JSON page*          {"pages", "title", "largest", "read_by"}
    S       = "S" length JSON pixels         {"size", "places", "pixels"}; three bytes a pixel
    page    = length length state sure reader label text   in UTF-8; a byte each for the state,
                                             for the confidence of OCR in percent (255: none), and
                                             for the reader (0: the file's, 1: the first of
                                             PAGE_READERS)
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple, dataclass, field
from typing import Any

from pipelines.cleaning import sanitise
from pipelines.errors import (
    ConfigError,
    DamagedError,
    EmptyFileError,
    EncryptedError,
    NoTextError,
    NotPdfError,
    RagError,
    ReadError,
    TooLargeError,
)
from pipelines.layout import Box
from pipelines.ocr import Ocr
from pipelines.page_choice import PAGE_READERS
from pipelines.page_showing import PageRequest, Pixels, ShownPage
from pipelines.page_states import PAGE_STATES
from pipelines.pictures import MAX_PIXELS
from pipelines.png import CHANNELS
from pipelines.quote_places import MAX_QUOTE_CHARACTERS, QuotePlace
from pipelines.readers import MAX_LABEL_CHARACTERS, MAX_TITLE_CHARACTERS, Limits, PageText, RawPdf
from pipelines.reading import READERS

READY, ACCEPTED, ERROR, PAGES, STAYS, ENDS = b"R", b"A", b"E", b"P", b".", b"!"
SHOWN = b"S"
OCR_PAGE = b"O"
MAX_HEADER_BYTES = 64 << 10
MAX_MESSAGE_CHARACTERS = 1000
MAX_SHOWN_BYTES = 8 << 20
_PAGE_READERS = ("", *PAGE_READERS)  # the first one of a file has no name here
_UTF8_BYTES = 4  # of one character at most
_MAX_REST_CHARACTERS = 20 * MAX_QUOTE_CHARACTERS  # NFKC makes up to 18 of one
_LENGTH, _PAGE, _STEP = struct.Struct(">I"), struct.Struct(">IIBBB"), struct.Struct(">II")
_NOT_BY_OCR, _PERCENT = 255, 100
_KINDS: dict[str, type[RagError]] = {
    kind.__name__: kind
    for kind in (
        *(ConfigError, ReadError, EncryptedError, DamagedError, TooLargeError),
        *(NotPdfError, EmptyFileError, NoTextError),
    )
}
# Returns exactly so many bytes; raises EOFError where the input ends before.
Read = Callable[[int], bytes]
# Told which of how many pages OCR begins with.
OnOcrPage = Callable[[int, int], None]


class ProtocolError(ValueError):
    """An answer is malformed: the process that sent it cannot be trusted any more."""


@dataclass(frozen=True)
class Task:
    """One file to read; its bytes follow.

    Attributes:
        reader: name of the reader.
        size: bytes of the file.
        limits: what it may cost.
        passwords: tried on an encrypted file, after the empty one.
        ocr: what reads its pictures; None: nothing does.
        request: one page is wanted and where quotes stand on it; None: the text of all.
    """

    reader: str
    size: int
    limits: Limits
    passwords: tuple[str, ...] = field(default=(), repr=False)
    ocr: Ocr | None = None
    request: PageRequest | None = None


@dataclass(frozen=True)
class WorkerAnswer:
    """The pages of a file, and the name of the reader that could read it."""

    raw: RawPdf
    read_by: str


def task_bytes(task: Task) -> bytes:
    """Return the header that is sent before the file's bytes."""
    return _framed(asdict(task))


def receive_task(read: Read) -> Task:
    """Return the next task.

    Raises:
        EOFError: there is none.
    """
    (length,) = _LENGTH.unpack(read(_LENGTH.size))
    given = json.loads(read(length))
    limits, passwords = Limits(**given["limits"]), tuple(given["passwords"])
    request = given["request"]
    if request is not None:
        request = PageRequest(
            request["page"], tuple(request["quotes"]), request["scale"], _ocr(request["ocr"])
        )
    return Task(given["reader"], given["size"], limits, passwords, _ocr(given["ocr"]), request)


def _ocr(given: dict[str, Any] | None) -> Ocr | None:
    return None if given is None else Ocr(tuple(given["languages"]), given["folder"])


def ocr_page_bytes(number: int, total: int) -> bytes:
    """Return the message that OCR begins with a page."""
    return OCR_PAGE + _STEP.pack(number, total)


def answer_bytes(answer: WorkerAnswer | ShownPage | RagError) -> Iterator[bytes]:
    """Yield an answer in parts."""
    if isinstance(answer, ShownPage):
        yield from _shown_bytes(answer)
        return
    if isinstance(answer, RagError):
        kind = next(one for one in type(answer).__mro__ if one.__name__ in _KINDS)
        about = {"kind": kind.__name__, "message": answer.message, "hint": answer.hint}
        yield ERROR + _framed({name: text[:MAX_MESSAGE_CHARACTERS] for name, text in about.items()})
        return
    raw = answer.raw
    yield PAGES + _framed(
        {
            "pages": len(raw.pages),
            "title": raw.title,
            "largest": raw.largest,
            "read_by": answer.read_by,
        }
    )
    for page in raw.pages:
        label, text = page.label.encode(), page.text.encode()
        state = PAGE_STATES.index(page.state)
        sure = _NOT_BY_OCR if page.confidence is None else round(_PERCENT * page.confidence)
        reader = _PAGE_READERS.index(page.read_by)
        yield _PAGE.pack(len(label), len(text), state, sure, reader) + label + text


def _shown_bytes(page: ShownPage) -> Iterator[bytes]:
    pixels = page.pixels
    yield SHOWN + _framed(
        {
            "size": [page.width, page.height],
            "places": [
                {"boxes": [astuple(box) for box in place.boxes], "rest": place.rest}
                for place in page.places
            ],
            "pixels": [pixels.width, pixels.height] if pixels is not None else None,
        }
    )
    if pixels is not None:
        yield pixels.data


def receive_shown(read: Read, request: PageRequest) -> ShownPage | RagError:
    """Return what was found of one page; nothing in it is larger than the limits allow.

    Raises:
        EOFError: it ends before its end.
        ProtocolError: it is malformed.
    """
    what = read(1)
    if what == ERROR:
        return _error(_header(read))
    if what != SHOWN:
        raise ProtocolError(f"an answer begins with {what!r}")
    about = _header(read, MAX_SHOWN_BYTES)
    try:
        width, height = map(float, about["size"])
        places = tuple(_place(one) for one in about["places"])
        size = about["pixels"]
        wide, high = size if size is not None else (0, 0)
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError("an answer describes a page wrongly") from error
    wanted = bool(request.scale)
    if len(places) != len(request.quotes) or not all(map(math.isfinite, (width, height))):
        raise ProtocolError("an answer describes a page wrongly")
    if not all(isinstance(side, int) for side in (wide, high)) or wanted != (size is not None):
        raise ProtocolError("an answer describes a picture wrongly")
    if wanted and not (wide > 0 < high and wide * high <= 2 * MAX_PIXELS):
        raise ProtocolError("a picture is larger than the limits allow")
    pixels = Pixels(wide, high, read(CHANNELS * wide * high)) if wanted else None
    return ShownPage(width, height, places, pixels)


def _place(given: dict[str, Any]) -> QuotePlace:
    boxes = tuple(Box(*map(float, box)) for box in given["boxes"])
    rest = given["rest"]
    numbers = [side for box in boxes for side in astuple(box)]
    if not isinstance(rest, str) or len(rest) > _MAX_REST_CHARACTERS:
        raise ValueError("the rest of a quote is too long")
    if not all(map(math.isfinite, numbers)):
        raise ValueError("a rectangle is nowhere")
    return QuotePlace(boxes, rest)


def receive_answer(
    read: Read, limits: Limits, on_ocr_page: OnOcrPage | None = None
) -> WorkerAnswer | RagError:
    """Return an answer; nothing in it is larger than the limits allow.

    Args:
        read: returns the bytes that come.
        limits: those of the file.
        on_ocr_page: called as OCR begins with a page.

    Raises:
        EOFError: it ends before its end.
        ProtocolError: it is malformed.
    """
    what = _after_ocr(read, limits, on_ocr_page)
    if what == ERROR:
        return _error(_header(read))
    if what != PAGES:
        raise ProtocolError(f"an answer begins with {what!r}")
    about = _header(read)
    count = about.get("pages")
    if not isinstance(count, int) or not 0 < count <= limits.pages:
        raise ProtocolError(f"an answer has {count!r} pages")
    read_by = _text(about, "read_by", MAX_MESSAGE_CHARACTERS)
    if read_by not in READERS:
        raise ProtocolError("an answer names an unknown reader")
    title, largest = (_text(about, key, MAX_TITLE_CHARACTERS) for key in ("title", "largest"))
    return WorkerAnswer(RawPdf(tuple(_pages(read, count, limits)), title, largest), read_by)


def _after_ocr(read: Read, limits: Limits, on_ocr_page: OnOcrPage | None) -> bytes:
    """Pass on what is said of OCR; return the first byte of what follows."""
    steps = 0
    while (what := read(1)) == OCR_PAGE:
        number, total = _STEP.unpack(read(_STEP.size))
        steps += 1
        if steps > limits.pages or not 0 < number <= total <= limits.pages:
            raise ProtocolError("an answer counts pages wrongly")
        if on_ocr_page is not None:
            on_ocr_page(number, total)
    return what


def _pages(read: Read, count: int, limits: Limits) -> Iterator[PageText]:
    left = limits.characters
    for _ in range(count):
        label, text, state, sure, reader = _PAGE.unpack(read(_PAGE.size))
        allowed = min(left, limits.page_characters)
        if label > _UTF8_BYTES * MAX_LABEL_CHARACTERS or text > _UTF8_BYTES * allowed:
            raise ProtocolError("a page is larger than the limits allow")
        if state >= len(PAGE_STATES):
            raise ProtocolError("a page is in an unknown state")
        if sure not in (*range(_PERCENT + 1), _NOT_BY_OCR):
            raise ProtocolError("the confidence of a page is no percentage")
        if reader >= len(_PAGE_READERS):
            raise ProtocolError("a page was read by an unknown reader")
        confidence = None if sure == _NOT_BY_OCR else sure / _PERCENT
        given = (_decoded(read(label)), _decoded(read(text)))
        page = PageText(
            *given, PAGE_STATES[state], confidence=confidence, read_by=_PAGE_READERS[reader]
        )
        left -= len(page.text)
        if len(page.text) > allowed:
            raise ProtocolError("a page is larger than the limits allow")
        yield page


def _error(about: dict[str, Any]) -> RagError:
    kind = _KINDS.get(_text(about, "kind", MAX_MESSAGE_CHARACTERS))
    if kind is None:
        raise ProtocolError("an answer names an unknown error")
    message, hint = (_text(about, key, MAX_MESSAGE_CHARACTERS) for key in ("message", "hint"))
    return kind(message, hint=hint)


def _text(about: dict[str, Any], key: str, most: int) -> str:
    text = about.get(key)
    if not isinstance(text, str) or len(text) > most:
        raise ProtocolError(f"the {key} of an answer is not a short text")
    return sanitise(text)


def _header(read: Read, most: int = MAX_HEADER_BYTES) -> dict[str, Any]:
    (length,) = _LENGTH.unpack(read(_LENGTH.size))
    if length > most:
        raise ProtocolError("the header of an answer is too large")
    try:
        about = json.loads(read(length))
    except (ValueError, RecursionError) as error:
        raise ProtocolError("the header of an answer is not JSON") from error
    if not isinstance(about, dict):
        raise ProtocolError("the header of an answer is not an object")
    return about


def _decoded(data: bytes) -> str:
    try:
        return sanitise(data.decode())
    except UnicodeDecodeError as error:
        raise ProtocolError("an answer is not UTF-8") from error


def _framed(value: dict[str, Any]) -> bytes:
    data = json.dumps(value).encode("ascii")
    return _LENGTH.pack(len(data)) + data
