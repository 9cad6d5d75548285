"""Values that a store takes and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from rag_app.store.array_types import Vector

if TYPE_CHECKING:  # LlamaIndex costs a second to import; a store opens without it
    from llama_index.core.schema import BaseNode, Document

    from pipelines.sentence_table import SentenceTable

How = Literal["vectors", "words"]


class Hit(NamedTuple):
    """One passage found by one arm: the best node of it, and that node's score."""

    passage_id: str
    node_id: str
    score: float


class NodeSpan(NamedTuple):
    """Where a node lies: its document, its span there, and the physical numbers of its pages."""

    document_id: str
    start: int
    end: int
    pages: tuple[int, ...]


@dataclass(frozen=True)
class IndexConfig:
    """What decides the content of an index; recorded in it, compared on opening.

    Attributes:
        embed_model: name of the embedding model (``""``: an index without vectors).
        embed_fingerprint: sha256 of the model's weights (``""`` when it has none).
        dimension: length of a vector, in numbers.
        query_instruction, text_instruction: put in front of what is embedded.
        scripts: scripts that the model knows (``("latin",)``; ``("*",)`` = all).
        precision: number format of the runtime; recorded, not part of the identity.
        reader: name of the PDF reader.
        tokenizer: name of the tokenizer that counts tokens.
        terms: fingerprint of the default analyser, which makes search terms of a text.
        parent_size, child_sizes, window: chunking, in tokens (window: sentences each side).
        kinds: kinds of nodes that are built, and further lists of words.
        vector_kinds: kinds that have vectors.
        word_kinds: kinds whose terms are counted, and further lists of words: each a
            rule of its own over the parents.
        analysers: name and fingerprint of each further analyser that made a list of terms.
        row_shares: whether it was noted of all passages how much of them stands in rows.
    """

    embed_model: str
    embed_fingerprint: str
    dimension: int
    query_instruction: str = ""
    text_instruction: str = ""
    scripts: tuple[str, ...] = ("*",)
    precision: str = "float32"
    reader: str = "pypdfium2"
    tokenizer: str = "cl100k_base"
    terms: str = "terms-1"
    parent_size: int = 1024
    child_sizes: tuple[int, ...] = (256,)
    window: int = 3
    kinds: tuple[str, ...] = ("parent", "child-256")
    vector_kinds: tuple[str, ...] = ("child-256",)
    word_kinds: tuple[str, ...] = ("parent",)
    analysers: tuple[tuple[str, str], ...] = ()
    row_shares: bool = False


@dataclass(frozen=True)
class SourceInfo:
    """One content in the index and the names under which it was given.

    Attributes:
        content_hash: what tells one content from another.
        names: paths (or ids of Documents) under which it was given, the first one first.
        document_id: id of its Document, the SOURCE of its nodes.
        title: title of the document.
        pages: how many pages it has (0: a Document without pages).
        pages_without_text: physical numbers of pages that hold no text.
        page_states: the same numbers by the reason (``pipelines.page_states``); ``unknown``
            in an index of an earlier version.
        page_readers: numbers of the pages that another reader than the first one read, by its
            name (``pipelines.page_reader_names``).
        nodes: how many nodes it has of each kind.
        bytes: size of what was read.
        reader: fingerprint of the reader that derived the text.
        origin: name of the index that it was merged from (``""``: ingested here).
        metadata: the user's own document metadata.
        fingerprint: what, beside the bytes, decides that it is unchanged.
        built: what was built of it: ``"parent"``, ``"parent:words"``, ``"child-128:vectors"``.
        length: length of the derived text, in characters.
        ocr_engine: fingerprint of what read, or tried to read, pages that are pictures
            (``""``: nothing did).
        ocr_pages: physical numbers of the pages that it read, each with its confidence, 0 to 1.
    """

    content_hash: str
    names: tuple[str, ...]
    document_id: str
    title: str
    pages: int
    pages_without_text: tuple[int, ...]
    nodes: Mapping[str, int]
    bytes: int
    reader: str
    origin: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    fingerprint: str = ""
    built: frozenset[str] = frozenset()
    length: int = 0
    page_states: Mapping[str, Sequence[int]] = field(default_factory=dict)
    ocr_engine: str = ""
    ocr_pages: Mapping[int, float] = field(default_factory=dict)
    page_readers: Mapping[str, Sequence[int]] = field(default_factory=dict)


class Selection(Protocol):
    """A set of passages; opaque outside its store."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Prepared:
    """One file, parsed and embedded, ready to be written in one transaction.

    ``vectors`` maps a kind to its node ids (in row order) and an array of
    shape (nodes, dimension), unit length. A node whose script the model does
    not know has no row. ``terms`` maps a node id to its counted search terms,
    ``lists`` does so for each further list of words.
    ``sentences`` are those of the text (None: not known).
    ``fingerprint`` is what, beside the bytes, decides that the file is
    unchanged (the reader that was asked for; by default the one that read it).
    ``built`` says what is complete now (see :class:`SourceInfo`; by default all
    that the index's configuration names). ``origin`` and ``origins`` (by name)
    are set by a merge only.
    """

    names: tuple[str, ...]
    document: Document
    nodes: Sequence[BaseNode]
    vectors: Mapping[str, tuple[Sequence[str], Vector]]
    terms: Mapping[str, Mapping[str, int]]
    lists: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    sentences: SentenceTable | None = None
    fingerprint: str = ""
    built: frozenset[str] | None = None
    bytes: int = 0
    origin: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def content_hash(self) -> str:
        """What tells its content from others; its document's id where that has no hash."""
        return str(self.document.metadata.get("content_hash") or self.document.id_)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that verification found wrong.

    Attributes:
        check: the link or checksum that is wrong.
        message: what is wrong, and of which file.
        hint: the command that repairs it.
    """

    check: str
    message: str
    hint: str = ""


@dataclass(frozen=True)
class Lost:
    """A damaged content.

    Attributes:
        names: its names, as far as they can be read.
        content_hash: its hash (``""``: it cannot be read).
        reason: what is damaged.
    """

    names: tuple[str, ...]
    content_hash: str
    reason: str
