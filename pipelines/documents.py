"""PDF file → Document: the whole text, its page map, its content hash."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from llama_index.core.schema import BaseNode, Document

from pipelines.page_map import Page
from pipelines.pages import join_pages
from pipelines.readers import Limits, RawPdf, reader_fingerprint
from pipelines.reading import DEFAULT_READER, READERS, ReadPdf, content_hash, read_file
from pipelines.text import content_words, sanitise, search_terms

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

# Metadata of a Document that only it carries; its nodes do not.
DOCUMENT_KEYS = frozenset({"content_hash", "reader", "read_by", "page_map"})
_OWN_KEYS = ("file_name", "file_path", "title", "content_hash", "reader", "read_by", "page_map")
# What says where a file lies or when it was touched, and not what is in it; the names are
# those that LlamaIndex's readers write.
_NOT_CONTENT = frozenset(
    (
        *("file_name", "file_path", "file_type", "file_size"),
        *("creation_date", "last_modified_date", "last_accessed_date"),
        *("content_hash", "reader", "read_by"),
    )
)
_LONGEST_TITLE = 160


def read_pdf(
    path: str | Path,
    *,
    reader: str = DEFAULT_READER,
    password: str | None = None,
    limits: Limits | None = None,
) -> Document:
    """Return the Document of a PDF; its id is the hash of the file's bytes.

    Args:
        path: the file.
        reader: one of ``READERS``; the other one reads a file that this one cannot.
        password: opens an encrypted file; an empty one is tried without being asked.
        limits: how large a file may unfold.

    Raises:
        ConfigError: there is no such reader.
        ReadError: the file could not be read; its subclass says why.
    """
    return document_of(read_file(Path(path), reader, password, limits))


def document_of(read: ReadPdf) -> Document:
    """Return the Document of what a reader gave for a file."""
    pages = read.raw.pages
    text, spans = join_pages([page.text for page in pages], [page.label for page in pages])
    placed = [
        Page(number, page.label, start, end, page.text)
        for number, (page, (start, end)) in enumerate(zip(pages, spans, strict=True), start=1)
    ]
    metadata = {
        "file_name": read.path.name,
        "file_path": str(read.path),
        "title": title_of(read.path.stem, read.raw),
        "content_hash": read.content_hash,
        "reader": reader_fingerprint(read.reader),
        "read_by": reader_fingerprint(read.read_by),
        "page_map": [asdict(page) for page in placed],
    }
    return hidden_keys(Document(id_=read.content_hash, text=text, metadata=metadata))


def hidden_keys(document: Document) -> Document:
    """Keep our own metadata out of what is embedded and out of what an LLM reads."""
    for keys in (document.excluded_embed_metadata_keys, document.excluded_llm_metadata_keys):
        keys.extend(key for key in _OWN_KEYS if key in document.metadata and key not in keys)
    return document


def title_of(stem: str, raw: RawPdf) -> str:
    """Return the cleaned file stem, and the PDF's own title where page 1 confirms it."""
    name = clean_stem(stem)
    own = raw.title
    if not _words(own) & _words(raw.pages[0].text):
        own = raw.largest
    return _joined(name, own[:_LONGEST_TITLE].strip())


def retitled(title: str, before: Iterable[str], now: Sequence[str]) -> str:
    """Return the title of a file that was renamed: its own one stays, the name in it follows.

    An own title that was left out, because the old name said all of it, stays left out.

    Args:
        title: what :func:`title_of` gave under one of the names ``before``.
        before: names (paths) of the file until now.
        now: its names from now on; the first one gets into the title.
    """
    if any(_after_name(title, name) is not None for name in now):
        return title
    owns = (own for name in before if (own := _after_name(title, name)) is not None)
    own = next(owns, None)
    return title if own is None else _joined(clean_stem(Path(now[0]).stem), own)


def _joined(name: str, own: str) -> str:
    if not own or set(search_terms(own)) <= set(search_terms(name)):
        return name
    return f"{name}, {own}" if name else own


def _after_name(title: str, path: str) -> str | None:
    """Return what follows the file's name in a title; None where it does not begin with it."""
    name = clean_stem(Path(path).stem)
    if title == name:
        return ""
    return title.removeprefix(f"{name}, ") if title.startswith(f"{name}, ") else None


def _words(text: str) -> set[str]:
    """Return the words that can confirm a title: accession numbers and dates cannot."""
    return {word for word in content_words(text) if not any(c.isdigit() for c in word)}


def clean_stem(stem: str) -> str:
    """Return a file's stem as words: "annual-report_2018" → "annual report 2018"."""
    spaced = re.sub(r"[_+]|%20", " ", stem)
    spaced = re.sub(r"(?<=[^\W\d_]{3})-(?=[^\W\d_]{3})", " ", spaced)
    return " ".join(sanitise(spaced).split())


def page_map(document: BaseNode) -> list[Page]:
    """Return the pages of a document in order; none when it has no pages."""
    pages: list[dict[str, Any]] = document.metadata.get("page_map") or []
    return [Page(**page) for page in pages]


def adopt(document: Document) -> Document:
    """Return a copy of a user's Document in our form.

    Its text is sanitised. Its content hash is that of its text and metadata
    (paths and times aside); without an id of its own that hash becomes the id.
    A page map of ours stays; a number in ``page_label`` makes the whole one page.
    """
    if document.metadata.get("reader") and document.metadata.get("content_hash"):
        return document.model_copy(deep=True)
    text = sanitise(document.text)
    metadata = {"file_name": "", "file_path": "", **document.metadata}
    metadata.setdefault("title", clean_stem(Path(str(metadata["file_name"])).stem))
    content = [text, metadata_for_hash(document.metadata)]
    digest = content_hash(json.dumps(content, sort_keys=True, default=str).encode("ascii"))
    metadata |= {
        "content_hash": digest,
        "reader": "",
        "page_map": _adopted_pages(document, text),
    }
    own_id = document.id_ if "id_" in document.model_fields_set else digest
    return hidden_keys(
        Document(
            id_=own_id,
            text=text,
            metadata=metadata,
            excluded_embed_metadata_keys=list(document.excluded_embed_metadata_keys),
            excluded_llm_metadata_keys=list(document.excluded_llm_metadata_keys),
        )
    )


def metadata_for_hash(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that is content: not where a file lies, nor when it was touched."""
    return {key: value for key, value in metadata.items() if key not in _NOT_CONTENT}


def _adopted_pages(document: Document, text: str) -> list[dict[str, Any]]:
    known = document.metadata.get("page_map")
    if known and text == document.text:
        return [dict(page) for page in known]
    label = str(document.metadata.get("page_label", ""))
    if not label.isdecimal():
        return []
    return [asdict(Page(int(label), label, 0, len(text), text))]
