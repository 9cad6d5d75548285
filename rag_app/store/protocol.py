"""What retrieval and ingestion need of a store, and nothing else.

An engine (SQLite in a folder today; Postgres or Qdrant for those who outgrow
one machine) implements :class:`Store`, :class:`Snapshot` and :class:`Writer`.
The tests in ``tests/rag_app/store`` run against these protocols.

Terms: a *kind* names a set of nodes made by one rule (``parent``,
``child-128``, ``sentence``, ``piece``). A *passage* is what is read; every
searched node leads to one: a child to its parent, a piece to its parent, a
parent or a sentence to itself. Depth and k count passages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

from pipelines.page_map import Page
from rag_app.store.array_types import Vector

if TYPE_CHECKING:  # LlamaIndex costs a second to import; a store opens without it
    from llama_index.core.schema import BaseNode, Document
    from llama_index.core.vector_stores.types import MetadataFilters

    from pipelines.noted_sentences import NotedSentences

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
    child_sizes: tuple[int, ...] = (128, 256)
    window: int = 3
    kinds: tuple[str, ...] = ("parent", "child-128", "child-256")
    vector_kinds: tuple[str, ...] = ("child-128", "child-256")
    word_kinds: tuple[str, ...] = ("parent",)
    analysers: tuple[tuple[str, str], ...] = ()


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
        nodes: how many nodes it has of each kind.
        bytes: size of what was read.
        reader: fingerprint of the reader that derived the text.
        origin: name of the index that it was merged from (``""``: ingested here).
        metadata: the user's own document metadata.
        fingerprint: what, beside the bytes, decides that it is unchanged.
        built: what was built of it: ``"parent"``, ``"parent:words"``, ``"child-128:vectors"``.
        length: length of the derived text, in characters.
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
    sentences: NotedSentences | None = None
    fingerprint: str = ""
    built: frozenset[str] | None = None
    bytes: int = 0
    origin: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that verification found wrong.

    Attributes:
        check: the link or the checksum that does not hold.
        message: what is wrong, and of which file.
        hint: the command that repairs it.
    """

    check: str
    message: str
    hint: str = ""


@runtime_checkable
class Snapshot(Protocol):
    """A reader's view of exactly one generation."""

    @property
    def generation(self) -> int:
        """The generation that this snapshot sees; each commit raises it."""
        ...

    @property
    def config(self) -> IndexConfig:
        """The configuration in this generation."""
        ...

    def search_vectors(
        self, kind: str, query: Vector, depth: int, within: Selection | None = None
    ) -> list[Hit]:
        """Return the ``depth`` best passages by cosine, each by its best node of ``kind``.

        Exact over all rows; scores fall; equal scores are ordered by passage id.
        """
        ...

    def search_words(
        self, kind: str, terms: Sequence[str], depth: int, within: Selection | None = None
    ) -> list[Hit]:
        """Return the ``depth`` best passages by BM25; only those with a term, scores above 0."""
        ...

    def document_frequencies(self, kind: str, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return how many nodes of ``kind`` have terms counted, and how many hold each term."""
        ...

    def select(
        self, filters: MetadataFilters | None = None, *, scripts: Collection[str] | None = None
    ) -> Selection:
        """Return the passages that the filters keep and whose script is one of ``scripts``.

        Keys: ``page`` (any page of the passage), ``page_label``, ``file_name``,
        ``file_path`` (any name of the content), ``document_id``, ``title``,
        ``script``, ``origin`` and the keys of the user's own document metadata.

        Raises:
            FilterError: a key is unknown (the error names the known ones), or a
                value cannot be compared with the operator given.
        """
        ...

    def scripts(self) -> Mapping[str, int]:
        """Return how many passages there are of each script."""
        ...

    def nodes(self, node_ids: Sequence[str]) -> dict[str, BaseNode]:
        """Return fresh copies of the nodes (text, metadata, relationships), by id."""
        ...

    def spans(self, node_ids: Sequence[str]) -> dict[str, NodeSpan]:
        """Return where nodes lie that say what their document says there, by id.

        Nodes with a text or pages of their own are left out.
        """
        ...

    def children(self, passage_id: str, kind: str | None = None) -> list[BaseNode]:
        """Return fresh copies of the nodes that lead to a passage, by position."""
        ...

    def text(self, document_id: str, start: int, end: int) -> str:
        """Return characters ``start`` to ``end`` of a document's derived text."""
        ...

    def sentences(self, document_id: str, start: int, end: int) -> NotedSentences | None:
        """Return the sentences that begin within a span of the derived text.

        None: nobody noted them when the document was written.
        """
        ...

    def pages(self, document_id: str, start: int = 0, end: int | None = None) -> list[Page]:
        """Return the pages that overlap a span of the document, with their raw text."""
        ...

    def page_spans(self, document_id: str, start: int, end: int) -> list[Page]:
        """Return the pages that overlap a span of the document, without their raw text."""
        ...

    def sources(self) -> list[SourceInfo]:
        """Return what the index holds, by first name."""
        ...

    def source(self, content_hash: str) -> SourceInfo | None:
        """Return one content, or ``None`` when the index does not hold it."""
        ...

    def find(self, name: str) -> SourceInfo | None:
        """Return the content that was given under this name, or ``None``."""
        ...

    def is_empty(self) -> bool:
        """Tell whether the index holds no content."""
        ...

    def names(self) -> list[str]:
        """Return every name of every content, sorted."""
        ...

    def document(self, content_hash: str) -> Document:
        """Return the Document of a content as it was read: text, page map, metadata.

        Raises:
            KeyError: the index does not hold it.
        """
        ...

    def export(self, content_hash: str) -> Prepared:
        """Return all of one content as it was put: what a merge writes elsewhere.

        Raises:
            KeyError: the index does not hold it.
        """
        ...

    def has_kind(self, kind: str, how: How) -> bool:
        """Tell whether nodes of this kind were built to be searched in this way."""
        ...

    def incomplete(self, kind: str, how: How) -> list[str]:
        """Return the content hashes for which this kind is still to be built."""
        ...


class Writer(Protocol):
    """The one writer of an index; each method is one transaction."""

    def put(self, prepared: Prepared) -> Literal["added", "replaced"]:
        """Write one file whole: what any of its names pointed at before loses that name."""
        ...

    def extend(self, prepared: Prepared) -> None:
        """Add nodes, vectors and terms to a content that is here; what it has stays.

        Nodes whose id is here already are not written again, nor are vectors
        or terms of a kind that has them. ``prepared.names`` are not looked at.

        Raises:
            KeyError: the index does not hold this content.
        """
        ...

    def configure(self, config: IndexConfig) -> None:
        """Record another configuration (more kinds).

        Raises:
            IndexMismatchError: it would change more than kinds and number format.
        """
        ...

    def add_name(self, content_hash: str, name: str, *, origin: str = "") -> None:
        """Record one more name of a content that is already here.

        Another content that had this name loses it, and goes when it was its last.

        Raises:
            KeyError: the index does not hold this content.
        """
        ...

    def rename(self, names: Mapping[str, Sequence[str]]) -> None:
        """Call contents (by hash) by these names and no others, all at once.

        Names may go from one of them to another; what else had one loses it, and goes
        when it was its last. A title that begins with an old name begins with the
        first new one.

        Raises:
            KeyError: the index does not hold one of them; nothing is renamed.
        """
        ...

    def remove(self, names: Iterable[str]) -> int:
        """Take names away; content that has none left goes with all its nodes.

        Returns how many contents were removed; names that are not known are passed over.
        """
        ...


@dataclass(frozen=True)
class Lost:
    """A content that is not whole.

    Attributes:
        names: what it was called, as far as that reads.
        content_hash: its hash (``""``: it does not read).
        reason: what is damaged.
    """

    names: tuple[str, ...]
    content_hash: str
    reason: str


class Salvaged(Protocol):
    """A new index with all that is whole of a damaged one."""

    @property
    def store(self) -> Store:
        """The new index; what is added to it will be in the repaired one."""
        ...

    @property
    def stripped(self) -> Sequence[str]:
        """First names of contents with text and nodes, of which the rest is to be made again."""
        ...

    @property
    def lost(self) -> Sequence[Lost]:
        """What is not in it."""
        ...


class Store(Protocol):
    """An index on its engine."""

    @property
    def path(self) -> Path:
        """Where the index lies."""
        ...

    @property
    def config(self) -> IndexConfig:
        """The configuration as last seen by this process."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open a view of the newest generation for one query."""
        ...

    def writer(
        self, *, timeout: float = 30.0, on_wait: Callable[[str], None] | None = None
    ) -> AbstractContextManager[Writer]:
        """Become the writer, waiting ``timeout`` seconds for another one.

        Leaving builds the derived files once. ``on_wait`` is told, once and in
        words, when another process writes.

        Raises:
            IndexLockedError: another process still writes.
            IndexReadOnlyError: the index may not be written here.
        """
        ...

    def verify(self) -> list[Finding]:
        """Check every link of the index and return what is wrong (nothing: ``[]``)."""
        ...

    def repair_files(self) -> tuple[str, ...]:
        """Build damaged derived files anew from the database; return which."""
        ...

    def salvaged(self) -> AbstractContextManager[Salvaged]:
        """Yield a new index with all that is whole of this one; leaving puts it in its place.

        Nobody else writes meanwhile. After an error the index is as it was.
        """
        ...

    def close(self) -> None:
        """Close all connections; the last writer leaves no write-ahead log behind."""
        ...
