"""Several indexes → one: contents are copied as they are, nothing is embedded again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from pipelines.analysers import analyser_of
from pipelines.errors import ConfigError, IndexMismatchError
from rag_app.store.config import differences, joined_analysers, with_kinds
from rag_app.store.opening import drafted_store, open_store
from rag_app.store.protocol import IndexConfig, Prepared, SourceInfo, Store, Writer


@dataclass(frozen=True)
class MergeReport:
    """What a merge did.

    Attributes:
        into: the new index.
        contents: how many contents it holds.
        taken: how many of them came from each index, by name.
        shared: how many contents were in more than one.
    """

    into: Path
    contents: int
    taken: Mapping[str, int]
    shared: int

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``rag merge --json``."""
        return {
            "into": str(self.into),
            "contents": self.contents,
            "taken": dict(self.taken),
            "shared": self.shared,
        }


def merge(
    sources: Mapping[str, Store | Path],
    into: Path,
    *,
    names: Mapping[str, Sequence[str]] | None = None,
) -> MergeReport:
    """Write the contents of all sources into a new index.

    The sources are only read. The same content is held once, with all its names
    and all kinds of nodes that any source has of it. Each content knows from which
    index it came (``origin``). A merge that is stopped leaves no index.

    Args:
        sources: the indexes, by the names that hits will call them; those given as
            paths are open one at a time.
        into: folder of the new index.
        names: what contents (by hash) are called in the new index; others are left
            out, and none has an origin. ``None``: all, as the sources call them.

    Raises:
        ConfigError: no source.
        IndexExistsError: there is an index in ``into`` already.
        IndexMismatchError: models, chunking or tokenizers differ; says which.
        IndexReadOnlyError: the folder cannot be written.
        FolderNotEmptyError: it holds other things; names them.
        IndexUnsafeError: a link stands where a file of the index would be.
    """
    configs = {}
    for name, source in sources.items():
        with _opened(source) as store:
            configs[name] = store.config
    config = merged_config(configs)
    with drafted_store(into, config) as merged, _Copy(merged, names) as copy:
        for name, source in sources.items():
            with _opened(source) as store:
                copy.add(name, store)
    return MergeReport(into, sum(copy.taken.values()), copy.taken, copy.shared)


def merged_config(configs: Mapping[str, IndexConfig]) -> IndexConfig:
    """Return the configuration of an index that holds what all of these hold.

    Raises:
        IndexMismatchError: two of them cannot be in one index; names both, and why.
    """
    if not configs:
        raise ConfigError("there is no index to merge", hint="name two or more")
    names = list(configs)
    # One with vectors decides the model; a lexical index can be merged with any.
    first = next((name for name in names if configs[name].embed_model), names[0])
    merged = configs[first]
    for name in names:
        found = differences(merged, configs[name])
        if found:
            sides = "; ".join(
                f"{what}: {one!r} in {first}, {other!r} in {name}" for what, one, other in found
            )
            raise IndexMismatchError(
                f"{first} and {name} cannot be merged: {sides}",
                hint="ingest the files of one of them again with the settings of the other, "
                "or ask both without merging",
            )
        merged = replace(
            merged,
            analysers=joined_analysers(merged, configs[name]),
            row_shares=merged.row_shares and configs[name].row_shares,
        )
        merged = with_kinds(
            merged, vectors=configs[name].vector_kinds, words=configs[name].word_kinds
        )
    return merged


class _Copy:
    """Copies contents into a new index, each in one transaction."""

    def __init__(self, into: Store, names: Mapping[str, Sequence[str]] | None) -> None:
        self._names = names
        self.taken: dict[str, int] = {}
        self.shared = 0
        self._here: dict[str, SourceInfo] = {}
        self._documents: set[str] = set()
        self._titles: dict[str, str] = {}
        self._stack = contextlib.ExitStack()
        self._writer: Writer = self._stack.enter_context(into.writer())

    def add(self, name: str, store: Store) -> None:
        """Copy one source, as it is in one generation."""
        self.taken[name] = 0
        with store.snapshot() as snapshot:
            for source in snapshot.sources():
                if self._names is not None and source.content_hash not in self._names:
                    continue
                found = self._named(snapshot.export(source.content_hash), name)
                known = self._here.get(source.content_hash)
                if known is None:
                    self._put(source, found)
                    self.taken[name] += 1
                else:
                    self._join(known, found)
                    self.shared += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        """Build the derived files, unless interrupted."""
        self._stack.__exit__(*error)

    def _named(self, found: Prepared, index: str) -> Prepared:
        """Give a content the names that are wanted, or the index's name as their origin."""
        from pipelines.documents import retitled

        if self._names is not None:
            names = tuple(self._names[found.content_hash])
            titled = _with_title(found, retitled(found.document.metadata, names[0]))
            return replace(titled, names=names, origin="", origins={})
        origins = {name: origin or index for name, origin in found.origins.items()}
        return replace(found, origin=found.origin or index, origins=origins)

    def _put(self, source: SourceInfo, found: Prepared) -> None:
        if source.document_id in self._documents:
            # Two users gave one id to different texts.
            mark = found.origin or source.content_hash[:8]
            found.document.id_ = f"{source.document_id} ({mark})"
        self._documents.add(found.document.id_)
        self._here[source.content_hash] = source
        self._titles[source.content_hash] = str(found.document.metadata["title"])
        self._writer.put(found)

    def _join(self, known: SourceInfo, found: Prepared) -> None:
        content_hash = known.content_hash
        if known.reader == found.document.metadata.get("reader"):
            # The same nodes have the same ids: only what is missing is added.
            found = _with_title(found, self._titles[content_hash])
            self._writer.extend(replace(found, built=(found.built or frozenset()) | known.built))
        for name, origin in found.origins.items():
            self._writer.add_name(content_hash, name, origin=origin)


@contextlib.contextmanager
def _opened(source: Store | Path) -> Iterator[Store]:
    if isinstance(source, Path):
        with contextlib.closing(open_store(source)) as store:
            yield store
    else:
        yield source


def _with_title(found: Prepared, title: str) -> Prepared:
    """Give a content another title and count its words again; changes and returns ``found``."""
    from pipelines.searched import counted_terms

    old = found.document.metadata.get("title")
    if title == old:
        return found
    for titled in (found.document, *found.nodes):
        if titled.metadata.get("title") == old:
            titled.metadata["title"] = title
    nodes = {node.node_id: node for node in found.nodes}
    headed = {i for i, node in nodes.items() if node.metadata["kind"] in ("parent", "passage")}
    return replace(
        found,
        terms={
            node_id: counted_terms(nodes[node_id]) if node_id in headed else counts
            for node_id, counts in found.terms.items()
        },
        lists={
            name: {node_id: counted_terms(nodes[node_id], analyser_of(name)) for node_id in counted}
            for name, counted in found.lists.items()
        },
    )
