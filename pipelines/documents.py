"""PDF file → Document: the whole text, its page map, its content hash."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Any

from llama_index.core.schema import BaseNode, Document

from pipelines.errors import NoTextError
from pipelines.file_names import original, printable, storable
from pipelines.isolated import Reading, passwords, read_file
from pipelines.letter_spacing import joined_letters
from pipelines.ocr import Ocr, wants
from pipelines.page_map import Page
from pipelines.page_reader_names import by_reader
from pipelines.page_states import grouped
from pipelines.pages import join_pages
from pipelines.readers import Limits, RawPdf, reader_fingerprint
from pipelines.reading import DEFAULT_READER, READERS, ReadPdf, content_hash
from pipelines.text import content_words, sanitise, search_terms
from pipelines.user_metadata import storable_metadata

__all__ = [
    "DOCUMENT_KEYS",
    "READERS",
    "Limits",
    "adopt",
    "content_hash",
    "document_of",
    "page_map",
    "read_pdf",
    "reader_fingerprint",
    "retitled",
]

# Metadata that only a Document carries; its nodes do not.
DOCUMENT_KEYS = frozenset(
    {
        *("content_hash", "reader", "read_by", "own_title"),
        *("page_map", "page_states", "page_readers", "ocr_pages"),
    }
)
_OWN_KEYS = ("file_name", "file_path", "title", *sorted(DOCUMENT_KEYS))
# Keys about where a file lies or when it was changed, not about what is in it; LlamaIndex's
# readers write them.
_NOT_CONTENT = frozenset(
    (
        *("file_name", "file_path", "file_type", "file_size"),
        *("creation_date", "last_modified_date", "last_accessed_date"),
        *("content_hash", "reader", "read_by", "own_title"),
        *("page_states", "page_readers", "ocr_pages"),
    )
)
_MAX_TITLE_CHARS = 160

_BLANKS = re.compile(r"[_+]|%20")
_BETWEEN_WORDS = re.compile(r"(?<=[^\W\d_]{3})-(?=[^\W\d_]{3})")


def read_pdf(
    path: str | Path,
    *,
    reader: str = DEFAULT_READER,
    password: str | Sequence[str] | None = None,
    limits: Limits | None = None,
    ocr: Ocr | None = None,
) -> Document:
    """Return the Document of a PDF; its id is the hash of the file's bytes.

    Another process opens the file, so that a bad one cannot crash or fill this one; that
    process is kept for the next file.

    Args:
        path: the file.
        reader: one of ``READERS``; the other one is tried on a file that this one cannot read.
        password: opens an encrypted file; several are tried in turn, after the empty one.
        limits: how much text a file may hold, and what memory and time reading it may take.
        ocr: what reads pages that are pictures (``pipelines.ocr.find_ocr``); ``None``: nothing.

    Raises:
        ConfigError: there is no such reader.
        ReadError: the file could not be read; its subclass says why.
    """
    reading = Reading(limits or Limits(), passwords(password), ocr)
    return document_of(read_file(Path(path), reader, reading))


def document_of(read: ReadPdf) -> Document:
    """Return the Document of a file that was read."""
    pages = read.raw.pages
    text, spans = join_pages([page.text for page in pages], [page.label for page in pages])
    own = own_title(read.raw)
    placed = [
        Page(number, page.label, start, end, page.text)
        for number, (page, (start, end)) in enumerate(zip(pages, spans, strict=True), start=1)
    ]
    metadata: dict[str, Any] = {
        "file_name": printable(read.path.name),
        "file_path": printable(read.path),
        "title": title_of(read.path.stem, own),
        "own_title": own,
        "content_hash": read.content_hash,
        "reader": reader_fingerprint(read.reader),
        "read_by": reader_fingerprint(read.read_by),
        "page_map": [asdict(page) for page in placed],
    }
    if states := grouped(page.state for page in pages):
        metadata["page_states"] = states
    if read.ocr is not None and any(page.state == "ocr" or wants(page.state) for page in pages):
        metadata["ocr_pages"] = {
            "engine": read.ocr.fingerprint(),
            "confidence": {
                str(number): page.confidence
                for number, page in enumerate(pages, start=1)
                if page.state == "ocr"
            },
        }
    if readers := by_reader(page.read_by for page in pages):
        metadata["page_readers"] = readers
    return hidden_keys(Document(id_=read.content_hash, text=text, metadata=metadata))


def hidden_keys(document: Document) -> Document:
    """Keep our own metadata out of what is embedded and out of what an LLM reads."""
    for keys in (document.excluded_embed_metadata_keys, document.excluded_llm_metadata_keys):
        keys.extend(key for key in _OWN_KEYS if key in document.metadata and key not in keys)
    return document


def own_title(raw: RawPdf) -> str:
    """Return the PDF's own title where page 1 confirms it, else what it shows in large type."""
    own = raw.title if _words(raw.title) & _words(raw.pages[0].text) else raw.largest
    return own[:_MAX_TITLE_CHARS].strip()


def title_of(stem: str, own: str) -> str:
    """Return the cleaned file stem and the file's own title, unless the stem says all of that."""
    name = clean_stem(stem)
    if not own or set(search_terms(own)) <= set(search_terms(name)):
        return name
    return f"{name}, {own}" if name else own


def retitled(metadata: Mapping[str, Any], name: str) -> str:
    """Return the title of a file that has been renamed to ``name`` (a printed path).

    It is the title that the file would have if it were read under this name. A
    user's own Document keeps its title.
    """
    if not metadata.get("reader") or "own_title" not in metadata:
        return str(metadata.get("title", ""))
    return title_of(PurePath(original(name)).stem, str(metadata["own_title"]))


def _words(text: str) -> set[str]:
    """Return the words that can confirm a title: accession numbers and dates cannot."""
    return {word for word in content_words(text) if not any(c.isdigit() for c in word)}


def clean_stem(stem: str) -> str:
    """Return a file's stem as words: "annual-report_2018" → "annual report 2018"."""
    return " ".join(sanitise(_BETWEEN_WORDS.sub(" ", _BLANKS.sub(" ", stem))).split())


def page_map(document: BaseNode) -> list[Page]:
    """Return the pages of a document in order; none when it has no pages."""
    pages: list[dict[str, Any]] = document.metadata.get("page_map") or []
    return [Page(**page) for page in pages]


def adopt(document: Document) -> Document:
    """Return a copy of a user's Document in our form.

    Its text is sanitised, letter-spaced lines of it are written together, its names are
    printable, its metadata storable. Its content
    hash is that of its text and metadata (paths and times aside); without an id of its
    own that hash becomes the id. A page map of ours stays; a number in ``page_label``
    makes the whole one page.

    Raises:
        NoTextError: it has no text.
        ConfigError: its metadata cannot be stored.
    """
    text, given = sanitise(document.text), storable_metadata(document.metadata)
    if not any(char.isprintable() and not char.isspace() for char in text):
        raise NoTextError("it has no text", hint="leave it out, or give its text")
    if text == document.text and given.get("reader") and given.get("content_hash"):
        return document.model_copy(deep=True, update={"metadata": given})
    if not given.get("page_map"):  # whose offsets are those of the text as it is
        text = joined_letters(text)
    metadata = {**given, **printable_names(document.metadata)}
    stem = PurePath(original(metadata["file_name"])).stem
    metadata["title"] = str(given.get("title", clean_stem(stem)))
    content = [text, metadata_for_hash(given)]
    digest = content_hash(json.dumps(content, sort_keys=True).encode("ascii"))
    metadata |= {
        "content_hash": digest,
        "reader": "",
        "page_map": _adopted_pages(document, text),
    }
    own_id = storable(document.id_) if "id_" in document.model_fields_set else ""
    return hidden_keys(
        Document(
            id_=own_id or digest,
            text=text,
            metadata=metadata,
            excluded_embed_metadata_keys=list(document.excluded_embed_metadata_keys),
            excluded_llm_metadata_keys=list(document.excluded_llm_metadata_keys),
        )
    )


def printable_names(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return what a user's metadata says of the file's name and path, in printable form."""
    values = {key: metadata.get(key) for key in ("file_name", "file_path")}
    return {key: "" if one is None else printable(str(one)) for key, one in values.items()}


def metadata_for_hash(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that is content: not where a file lies, nor when it was changed."""
    return {key: value for key, value in metadata.items() if key not in _NOT_CONTENT}


def _adopted_pages(document: Document, text: str) -> list[dict[str, Any]]:
    known = document.metadata.get("page_map")
    if known and text == document.text:
        return [dict(page) for page in known]
    label = str(document.metadata.get("page_label", ""))
    if not label.isdecimal():
        return []
    return [asdict(Page(int(label), label, 0, len(text), text))]
