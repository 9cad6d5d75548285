"""A user's inputs → files, Documents and ready passages, each with a name."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from llama_index.core.schema import BaseNode, Document

from pipelines.documents import adopt, content_hash
from pipelines.errors import ConfigError, RagError
from pipelines.file_names import absolute, printable, storable
from pipelines.passages import PassageGroup, groups_of
from pipelines.regular_files import status
from rag_app.store import is_index, own_folders

Input = str | Path | Document | BaseNode


@dataclass(frozen=True)
class Item:
    """One thing to ingest.

    Attributes:
        name: absolute path of a file, or id of a Document, in printable form.
        path: the file; ``None`` for a Document.
        document: the Document; ``None`` for a file.
        ready: passages and pieces that the user made of a Document.
        error: why it cannot be ingested (``""``: it can).
        hint: how to correct that.
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
            ReadError: it is not a regular file.
            OSError: the file cannot be read.
        """
        if self.path is not None:
            return content_hash(self.path)
        if self.document is None:
            raise ValueError(f"{self.name} is neither a file nor a Document")
        return str(self.document.metadata["content_hash"])

    @property
    def size(self) -> int:
        """Bytes of the file (0: it no longer exists), or of the Document's text."""
        if self.path is not None:
            try:
                return self.path.stat().st_size
            except OSError:
                return 0
        return len(self.document.text.encode()) if self.document is not None else 0


@dataclass(frozen=True)
class Inputs:
    """All items to ingest, and the folders among the inputs.

    Attributes:
        skipped: files below the folders that are not PDFs, by their ending.
    """

    items: list[Item] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def expand(given: Iterable[Input | Iterable[Input]]) -> Inputs:
    """Return one item per file, Document and group of passages, without repetitions, in order.

    An input that cannot be ingested is an item with an error: it does not stop others.

    Raises:
        ConfigError: an input is neither a path nor a node; a piece points nowhere.
    """
    found = Inputs()
    nodes: list[BaseNode] = []
    for thing in _flat(given):
        if isinstance(thing, (str, Path)):
            _add_path(thing, found)
        elif isinstance(thing, Document):
            found.items.append(_adopted(thing))
        elif isinstance(thing, BaseNode):
            nodes.append(thing)
        else:
            raise ConfigError(
                f"{type(thing).__name__} cannot be ingested",
                hint="give paths of PDF files or folders, Documents, or nodes",
            )
    found.items.extend(map(_passages, groups_of(nodes) if nodes else ()))
    unique = {item.name: item for item in reversed(found.items)}
    return Inputs(list(reversed(unique.values())), found.folders, found.skipped)


def pdfs_below(
    folder: Path, failed: Callable[[OSError], None] | None = None
) -> tuple[list[Path], Counter[str]]:
    """Return the files below a folder that are named as PDFs, sorted, and counts of the others.

    Hidden files and the files of an index are skipped. Counts are by ending.

    Args:
        folder: where to look; folders that are links are skipped.
        failed: called with each folder that cannot be read.
    """
    found: list[Path] = []
    others: Counter[str] = Counter()
    for place, folders, files in os.walk(folder, onerror=failed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        of_index = is_index(Path(place))
        if of_index:
            folders[:] = [name for name in folders if name not in own_folders()]
        for name in sorted(files):
            if name.startswith("."):
                continue
            if (ending := Path(name).suffix.lower()) == ".pdf":
                found.append(Path(place, name))
            elif not of_index:
                others[ending] += 1
    return found, others


def _adopted(document: Document) -> Item:
    name = printable(storable(document.id_))
    try:
        adopted = adopt(document)
    except RagError as error:
        return Item(name, error=error.message, hint=error.hint)
    except Exception as error:  # whatever the values in it do when they are written down
        return _unusable(name, error)
    return Item(printable(adopted.id_), document=adopted)


def _passages(group: PassageGroup) -> Item:
    name = printable(storable(group.name))
    try:
        document, ready = group.adopted()
    except RagError as error:
        return Item(name, error=error.message, hint=error.hint)
    except Exception as error:
        return _unusable(name, error)
    return Item(printable(document.id_), document=document, ready=ready)


def _unusable(name: str, error: Exception) -> Item:
    why = f"it cannot be stored: {type(error).__name__}: {error}"
    return Item(name, error=why, hint="give plain values: texts, numbers, lists of them")


def _add_path(given: str | Path, found: Inputs) -> None:
    if not str(given):
        error = "an empty name is not a path"
        found.items.append(Item('""', error=error, hint="give . for the current folder"))
        return
    name, path = absolute(given), Path(os.path.abspath(given))  # noqa: PTH100  # links stay
    try:
        is_folder = stat.S_ISDIR(status(path).st_mode)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and not os.path.lexists(path)
        why = "there is no such file" if missing else str(error.strerror)
        found.items.append(Item(name, error=why, hint="check the path"))
        return
    if is_folder:
        _add_folder(path, found)
    else:
        found.items.append(Item(name, path=path))


def _add_folder(folder: Path, found: Inputs) -> None:
    closed: list[OSError] = []
    below, others = pdfs_below(folder, closed.append)
    found.skipped.update(others)
    found.folders.append(folder)
    found.items.extend(Item(printable(file), path=file) for file in below)
    for error in closed:
        why, hint = f"{error.strerror}: what is in it was left out", "check its permissions"
        found.items.append(Item(absolute(error.filename), error=why, hint=hint))
    if not below and not closed:
        found.items.append(Item(printable(folder), error="there is no PDF in this folder"))


def _flat(given: Iterable[Input | Iterable[Input]]) -> Iterable[Input]:
    for thing in given:
        if isinstance(thing, (list, tuple)):
            yield from thing
        else:
            yield thing  # type: ignore[misc]  # the list case is handled above
