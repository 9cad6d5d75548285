"""What a user gives to be ingested → files, Documents and ready passages, each with a name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from llama_index.core.schema import BaseNode, Document

from pipelines.documents import adopt, content_hash
from pipelines.errors import ConfigError
from pipelines.passages import passages

Input = str | Path | Document | BaseNode


@dataclass(frozen=True)
class Item:
    """One thing to ingest.

    Attributes:
        name: absolute path of a file, or id of a Document.
        path: the file; ``None`` for a Document.
        document: the Document; ``None`` for a file.
        ready: passages and pieces of a Document that the user cut himself.
        error: why it cannot be ingested at all (``""``: it can).
        hint: what to do about it.
    """

    name: str
    path: Path | None = None
    document: Document | None = None
    ready: Sequence[BaseNode] | None = None
    error: str = ""
    hint: str = ""

    def hash(self) -> str:
        """Return the content hash.

        Raises:
            OSError: the file cannot be read.
        """
        if self.path is not None:
            return content_hash(self.path)
        if self.document is None:
            raise ValueError(f"{self.name} is neither a file nor a Document")
        return str(self.document.metadata["content_hash"])

    @property
    def size(self) -> int:
        """Bytes of the file (0: it is gone), or of the Document's text."""
        if self.path is not None:
            try:
                return self.path.stat().st_size
            except OSError:
                return 0
        return len(self.document.text.encode()) if self.document is not None else 0


@dataclass(frozen=True)
class Inputs:
    """All things to ingest, and the folders among what was given."""

    items: list[Item] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)


def expand(given: Iterable[Input | Iterable[Input]]) -> Inputs:
    """Return one item per file, Document and group of passages, none twice, in order.

    Raises:
        ConfigError: something is neither a path nor a node; a piece points nowhere.
    """
    found = Inputs()
    nodes: list[BaseNode] = []
    for thing in _flat(given):
        if isinstance(thing, (str, Path)):
            _add_path(Path(thing), found)
        elif isinstance(thing, Document):
            document = adopt(thing)
            found.items.append(Item(document.id_, document=document))
        elif isinstance(thing, BaseNode):
            nodes.append(thing)
        else:
            raise ConfigError(
                f"{type(thing).__name__} cannot be ingested",
                hint="give paths of PDF files or folders, Documents, or nodes",
            )
    for document, ready in passages(nodes) if nodes else ():
        found.items.append(Item(document.id_, document=document, ready=ready))
    unique = {item.name: item for item in reversed(found.items)}
    return Inputs(list(reversed(unique.values())), found.folders)


def absolute(path: str | Path) -> str:
    """Return the name under which a path is recorded: absolute, links not followed."""
    return os.path.abspath(path)  # noqa: PTH100  # resolve() would follow links


def pdfs_below(folder: Path) -> list[Path]:
    """Return the PDF files below a folder, sorted; hidden files and folders are passed over."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [
            Path(place, name)
            for name in sorted(files)
            if name.lower().endswith(".pdf") and not name.startswith(".")
        ]
    return found


def _add_path(path: Path, found: Inputs) -> None:
    name = absolute(path)
    if path.is_dir():
        found.folders.append(Path(name))
        below = pdfs_below(Path(name))
        if not below:
            found.items.append(Item(name, error="there is no PDF in this folder"))
        found.items.extend(Item(str(file), path=file) for file in below)
    elif path.is_file():
        found.items.append(Item(name, path=Path(name)))
    else:
        found.items.append(Item(name, error="there is no such file", hint="check the path"))


def _flat(given: Iterable[Input | Iterable[Input]]) -> Iterable[Input]:
    for thing in given:
        if isinstance(thing, (list, tuple)):
            yield from thing
        else:
            yield thing  # type: ignore[misc]  # the list case is handled above
