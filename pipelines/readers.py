"""PDF libraries behind one small interface: the text of a file's pages."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from pipelines.cleaning import sanitise
from pipelines.errors import ConfigError, DamagedError, EncryptedError, TooLargeError
from pipelines.page_states import PageState

# Raise it when the text that we derive of the same file changes: ids, and whether a
# file counts as unchanged, depend on it.
DERIVATION = 7
MAX_TITLE_CHARACTERS = 1000  # 160 of them are shown
MAX_LABEL_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class PageText:
    """One page as a reader returns it.

    Attributes:
        label: the printed label.
        text: sanitised only; ``""`` where the page itself has none that can be read.
        state: whether it has text, and if not, why.
        confidence: how sure OCR is of the text, 0 to 1; ``None``: it did not read it.
        incomplete: whether the reader saw text on it that it cannot give.
        read_by: name of the page reader whose text it is; ``""``: the first one's.
        added: what was filled in and added to the page, by lines; ``whole`` puts it to the text.
        hides_text: whether all its text is such that nobody sees it.
    """

    label: str
    text: str
    state: PageState = "text"
    confidence: float | None = None
    incomplete: bool = False
    read_by: str = ""
    added: str = ""
    hides_text: bool = False

    @property
    def says_something(self) -> bool:
        """Whether any text is on the page, its own or added."""
        return not (self.text + self.added).isspace() and bool(self.text or self.added)


@dataclass(frozen=True)
class RawPdf:
    """One file as a reader returns it.

    Attributes:
        pages: the pages in physical order.
        title: the PDF's own ``/Title``; often missing or an accession number.
        largest: the text in the largest type of page 1; ``""`` where no type stands out.
    """

    pages: tuple[PageText, ...]
    title: str
    largest: str


@dataclass(frozen=True)
class Limits:
    """Limits beyond which a file is refused: a small file can unfold into any amount of text.

    Measured on 48 reports, 86 PDFs that are hard to read and the samples: at most 172 MB
    and 5 seconds. The time follows the size of the file, which a bomb keeps small.

    Attributes:
        pages: maximum pages of one file.
        page_characters: maximum characters of one page.
        characters: maximum characters of one file.
        memory_mb: maximum memory (MB, resident) of the process that reads, not counting
            twice the size of the file.
        seconds: maximum processor time for one file.
        seconds_per_mb: additional processor time for each MB of the file.
        seconds_per_ocr_page: additional processor time for each page that OCR reads.
    """

    pages: int = 20_000
    page_characters: int = 2_000_000
    characters: int = 200_000_000
    memory_mb: int = 1024
    seconds: float = 60.0
    seconds_per_mb: float = 30.0
    seconds_per_ocr_page: float = 120.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (isinstance(value, (int, float)) and 0 < value < float("inf")):
                raise ConfigError(f"the limit {name} = {value!r} is not a positive number")

    def seconds_for(self, size: int) -> float:
        """Return the processor time (seconds) that a file of so many bytes may take."""
        return self.seconds + self.seconds_per_mb * size / 1e6

    def memory_for(self, size: int) -> int:
        """Return the memory (bytes) that reading a file of so many bytes may take."""
        return self.memory_mb * 1_000_000 + 2 * size


class Reader(Protocol):
    """Reads one file with one library."""

    def __call__(self, data: bytes, password: str | None, limits: Limits) -> RawPdf:
        """Return the pages of a PDF.

        An encrypted file is opened with an empty password when none is given.

        Raises:
            EncryptedError: the file needs a password, or another one.
            DamagedError: the library cannot read it, or it exceeds the limits.
        """
        ...


class PageReader(Protocol):
    """Reads single pages of one file with one library."""

    def __call__(
        self, data: bytes, password: str | None, indices: Iterable[int], total: int
    ) -> Generator[PageText]:
        """Yield a page for each index, as it is asked for; the file is opened with the first.

        Args:
            data: the file's bytes.
            password: opens it.
            indices: of the pages, from 0.
            total: pages that the first reader found.

        Raises:
            ReadError: the library cannot open it, or finds another number of pages.
        """
        ...


_TABLE = re.compile(rb"\b(?:xref|trailer)\b")
# The object with which a file begins, and what stands in front of it.
_CATALOG = re.compile(rb"(\d{1,10}) (\d{1,5}) obj\s{0,9}<<[^<>]{0,1000}?/Type\s{0,9}/Catalog\b")


def with_an_end(data: bytes) -> bytes:
    """Return a file that is cut off in its table of objects, with an end in place of it.

    Libraries then look for the objects themselves. A file that ends before its table may lack
    any of them, and stays as it is.
    """
    if not _TABLE.search(data, max(0, data.rfind(b"endobj"))):
        return data
    catalogs = list(_CATALOG.finditer(data))
    trailer = b"trailer\n<</Root %b %b R>>\n" % catalogs[-1].groups() if catalogs else b""
    return data + b"\n" + trailer + b"startxref\n0\n%%EOF\n"


def same_pages(found: int, total: int) -> None:
    """Check that two readers mean the same page by the same number.

    Raises:
        DamagedError: they found different numbers of pages.
    """
    if found != total:
        raise DamagedError(f"one reader finds {total} pages in it, another {found}")


def reader_fingerprint(name: str) -> str:
    """Return a reader's name, its library's version and the version of our derivation.

    A reader that is not called like an installed library has no version but ours.
    """
    # Imported here: the process that reads does not need it, and starts in half the time.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{name}/{version(name)}/{DERIVATION}"
    except PackageNotFoundError:
        return f"{name}/{DERIVATION}"


def needs_password(password: str | None) -> EncryptedError:
    """Return the error for a file that an empty password, or the one given, does not open."""
    if password:
        return EncryptedError("the password given does not open it", hint="check the password")
    return EncryptedError(
        "it is encrypted and needs a password",
        hint="give it with --password, RAG_PDF_PASSWORD or password=…, or save it without one",
    )


def bounded(pages: Iterable[PageText], total: int, limits: Limits) -> Iterator[PageText]:
    """Yield the pages while they stay within the limits.

    Raises:
        DamagedError: there are no pages.
        TooLargeError: they exceed a limit.
    """
    if not total:
        raise DamagedError("it has no pages", hint="save or download it again")
    if total > limits.pages:
        raise TooLargeError(f"it claims {total} pages", hint=f"the limit is {limits.pages}")
    characters = 0
    for number, page in enumerate(pages, start=1):
        own = len(page.text) + len(page.added)
        characters += own
        if own > limits.page_characters or characters > limits.characters:
            raise TooLargeError(
                f"page {number} unfolds into {own} characters, {characters} so far",
                hint=f"the limits are {limits.page_characters} and {limits.characters}",
            )
        yield page


def largest_type(pieces: Iterable[tuple[float, str]], *, longest: int = 200) -> str:
    """Return the text set in the largest type, where it stands out as a title does.

    Args:
        pieces: size of the type and text, in reading order.
        longest: a text of more characters is not a title.
    """
    sized = [(size, text) for size, text in pieces if size > 0]
    if not sized:
        return ""
    largest = max((size for size, text in sized if text.strip()), default=0.0)
    chosen = clean_line("".join(text for size, text in sized if size > 0.95 * largest))
    everything = sum(len(text.split()) for _, text in sized)
    stands_out = len(chosen.split()) < 0.5 * everything or everything <= 20
    return chosen if stands_out and 2 < len(chosen) <= longest else ""


def clean_title(text: str) -> str:
    """Return a PDF's own title on one line, sanitised and cut to the longest title."""
    return clean_line(text)[:MAX_TITLE_CHARACTERS]


def clean_label(text: str) -> str:
    """Return a page's label on one line, sanitised and cut to the longest label."""
    return clean_line(text)[:MAX_LABEL_CHARACTERS]


def clean_line(text: str) -> str:
    """Return a text on one line, sanitised."""
    return " ".join(sanitise(text).split())
