"""What a PDF library gives us, behind one small interface: the text of a file's pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Protocol

from pipelines.errors import DamagedError, EncryptedError, TooLargeError
from pipelines.text import sanitise

# Raise it when the text that we derive of the same file changes: ids, and whether a
# file counts as unchanged, depend on it.
DERIVATION = 2


@dataclass(frozen=True, slots=True)
class PageText:
    """What a reader gives for one page: its printed label, and its text, sanitised only."""

    label: str
    text: str


@dataclass(frozen=True)
class RawPdf:
    """What a reader gives for one file.

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
    """Beyond these a file is refused: a small file can unfold into any amount of text.

    Attributes:
        pages: the most pages of one file.
        page_characters: the most characters of one page.
        characters: the most characters of one file.
    """

    pages: int = 20_000
    page_characters: int = 2_000_000
    characters: int = 200_000_000


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


def reader_fingerprint(name: str) -> str:
    """Return a reader's name, its library's version and the version of our derivation."""
    return f"{name}/{version(name)}/{DERIVATION}"


def needs_password(password: str | None) -> EncryptedError:
    """Return the error for a file that an empty password, or the one given, does not open."""
    if password:
        return EncryptedError("the password given does not open it", hint="check the password")
    return EncryptedError(
        "it is encrypted and needs a password", hint="give its password, or save it without one"
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
        characters += len(page.text)
        if len(page.text) > limits.page_characters or characters > limits.characters:
            raise TooLargeError(
                f"page {number} unfolds into {len(page.text)} characters, {characters} so far",
                hint=f"the limits are {limits.page_characters} and {limits.characters}",
            )
        yield page


def largest_type(pieces: Iterable[tuple[float, str]], *, longest: int = 200) -> str:
    """Return the text set in the largest type, where it stands out as a title does.

    Args:
        pieces: size of the type and text, in reading order.
        longest: what has more characters than this is not a title.
    """
    sized = [(size, text) for size, text in pieces if size > 0]
    if not sized:
        return ""
    largest = max((size for size, text in sized if text.strip()), default=0.0)
    chosen = clean_line("".join(text for size, text in sized if size > 0.95 * largest))
    everything = sum(len(text.split()) for _, text in sized)
    stands_out = len(chosen.split()) < 0.5 * everything or everything <= 20
    return chosen if stands_out and 2 < len(chosen) <= longest else ""


def clean_line(text: str) -> str:
    """Return a text on one line, sanitised."""
    return " ".join(sanitise(text).split())
