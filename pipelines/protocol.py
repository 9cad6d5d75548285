"""The messages between a program and the process that reads PDFs for it.

An answer comes from a process that parses hostile files: it is plain text with lengths
in front, each checked against a limit before anything is allocated, and never unpickled.
A task is one JSON object and the bytes of the file; an answer is the pages, one after
the other, or an error::

    task    = length JSON bytes              {"reader", "passwords", "limits", "size"}; the file
    answer  = "A" O* (E | P) ("." | "!")     accepted; "!": this process ends now
    O       = "O" number number              OCR begins with this page, of so many
    E       = "E" length JSON                {"kind", "message", "hint"}
    P       = "P" length JSON page*          {"pages", "title", "largest", "read_by"}
    page    = length length state sure reader label text   in UTF-8; a byte each for the state,
                                             for the confidence of OCR in percent (255: none), and
                                             for the reader (0: the file's, 1: the first of
                                             PAGE_READERS)
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
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
from pipelines.ocr import Ocr
from pipelines.page_choice import PAGE_READERS
from pipelines.page_states import PAGE_STATES
from pipelines.readers import MAX_LABEL_CHARACTERS, MAX_TITLE_CHARACTERS, Limits, PageText, RawPdf
from pipelines.reading import READERS

READY, ACCEPTED, ERROR, PAGES, STAYS, ENDS = b"R", b"A", b"E", b"P", b".", b"!"
OCR_PAGE = b"O"
MAX_HEADER_BYTES = 64 << 10
MAX_MESSAGE_CHARACTERS = 1000
_PAGE_READERS = ("", *PAGE_READERS)  # the first one of a file has no name here
_UTF8_BYTES = 4  # of one character at most
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
    """

    reader: str
    size: int
    limits: Limits
    passwords: tuple[str, ...] = field(default=(), repr=False)
    ocr: Ocr | None = None


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
    ocr = given["ocr"] and Ocr(tuple(given["ocr"]["languages"]), given["ocr"]["folder"])
    limits, passwords = Limits(**given["limits"]), tuple(given["passwords"])
    return Task(given["reader"], given["size"], limits, passwords, ocr)


def ocr_page_bytes(number: int, total: int) -> bytes:
    """Return the message that OCR begins with a page."""
    return OCR_PAGE + _STEP.pack(number, total)


def answer_bytes(answer: WorkerAnswer | RagError) -> Iterator[bytes]:
    """Yield an answer in parts."""
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


def _header(read: Read) -> dict[str, Any]:
    (length,) = _LENGTH.unpack(read(_LENGTH.size))
    if length > MAX_HEADER_BYTES:
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
