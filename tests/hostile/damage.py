"""Damage to the files of an index, one at a time, and what comes of a question afterwards."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines.errors import RagError
from rag_app.retrieval.retriever import StrategyRetriever
from rag_app.store.protocol import Finding
from rag_app.store.sqlite.schema import DATABASE, DERIVED
from rag_app.store.sqlite.store import create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared, vector

QUESTIONS = ("growth of the valve", "crane licence", "sum of the tower", "章 弁")
ACTS = ("flip", "flip", "flip", "byte", "zeros", "cut", "delete", "swap", "older")


@dataclass(frozen=True)
class Templates:
    """An index, another one of the same form, and the first one as it was before."""

    index: Path
    other: Path
    older: Path


@dataclass
class Tally:
    """What came of each damage; ``violations`` are those that may not be,
    ``wrong`` those of which only verification tells."""

    outcomes: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def make_templates(folder: Path) -> Templates:
    """Make the indexes; the last writer of each was killed, so that a log is beside them."""
    paths = Templates(folder / "index", folder / "other", folder / "older")
    _written(paths.index, "A", range(4), kill=True)
    shutil.copytree(paths.index, paths.older)
    _written(paths.index, "A", range(4, 6), kill=True)
    _written(paths.other, "B", range(6), kill=True)
    return paths


def _written(folder: Path, mark: str, numbers: range, *, kill: bool) -> None:
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert status == 0
        return
    code = 1
    try:
        store = open_store(folder) if folder.exists() else create_store(folder, CONFIG)
        with store.writer() as writer:
            for number in numbers:
                writer.put(_content(mark, number))
        reader = store.snapshot()
        reader.__enter__()  # a reader is there: the log stays
        with store.writer() as writer:
            writer.put(_content(mark, 90 + len(numbers)))
        code = 0
    finally:
        os._exit(code)


def _content(mark: str, number: int) -> Any:
    words = ("valve", "crane", "tower", "licence", "growth", "sum", "弁", "章")
    pages = [
        ". ".join(
            f"The {words[(number + page + at) % 8]} {mark}{number}-{page}-{at} costs ${at}.{page}"
            for at in range(8)
        )
        + "."
        for page in range(3)
    ]
    return prepared(f"/{number}.pdf", pages, metadata={"year": 2000 + number})


def answers(folder: Path) -> list[Any]:
    """Return all that an index answers: passages with their metadata, raw pages, documents."""
    found: list[Any] = []
    with open_store(folder) as store:
        retriever = StrategyRetriever(store, "bm25", strict=True)
        for question in QUESTIONS:
            found += [_shown(hit.node, hit.score) for hit in retriever.retrieve(question)]
        with store.snapshot() as snapshot:
            for question in QUESTIONS:
                hits = snapshot.search_vectors("child-128", vector(question), 5)
                nodes = snapshot.nodes([hit.node_id for hit in hits])
                found += [_shown(nodes[hit.node_id], hit.score) for hit in hits]
        with store.snapshot() as snapshot:
            for source in snapshot.sources():
                pages = snapshot.pages(source.document_id)
                found.append((source.names, source.title, [repr(page) for page in pages]))
    return found


def _shown(node: Any, score: float | None) -> tuple[Any, ...]:
    return node.node_id, node.get_content(), repr(node.metadata), score


def files_of(folder: Path) -> list[str]:
    """Return the files of an index: database, logs, lock, derived files."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def damage(folder: Path, templates: Templates, rng: random.Random) -> str:
    """Damage one file; return what was done."""
    files = files_of(folder)
    weights = [8 if file == DATABASE else 3 if file.endswith("-wal") else 1 for file in files]
    (file,) = rng.choices(files, weights)
    act = rng.choice(ACTS)
    path = folder / file
    if act == "delete":
        path.unlink()
        return f"{file} deleted"
    if act in ("swap", "older"):
        source = templates.other if act == "swap" else templates.older
        others = _alike(source, file)
        if others:
            shutil.copyfile(rng.choice(others), path)
        return f"{file} swapped ({act})"
    data = bytearray(path.read_bytes())
    if act == "cut" or not data:
        path.write_bytes(data[: rng.randrange(len(data) + 1)])
        return f"{file} cut"
    at = rng.randrange(len(data))
    if act == "flip":
        data[at] ^= 1 << rng.randrange(8)
    elif act == "byte":
        data[at] = rng.randrange(256)
    else:
        data[at : at + 512] = bytes(len(data[at : at + 512]))
    path.write_bytes(data)
    return f"{file} {act} at {at}"


def _alike(folder: Path, file: str) -> list[Path]:
    """Return the files of another index that stand where this one does."""
    if not file.startswith(f"{DERIVED}/"):
        return [folder / file] if (folder / file).exists() else []
    how = Path(file).name.split("-")[0]
    return sorted((folder / DERIVED).glob(f"{how}-*"))


def run(place: Path, seeds: Sequence[int]) -> Tally:
    """Damage a copy of the index once per seed, and look at what it answers."""
    templates = make_templates(place)
    expected = answers(_copied(templates.index, place / "sound"))
    tally = Tally()
    for seed in seeds:
        folder = _copied(templates.index, place / f"work-{seed}")
        what = damage(folder, templates, random.Random(seed))
        outcome = judge(folder, expected)
        tally.outcomes[outcome] += 1
        if outcome in ("wrong, not found", "raw exception"):
            tally.violations.append(f"seed {seed}: {what}: {outcome}")
        elif outcome == "wrong, found":
            tally.wrong.append(f"seed {seed}: {what}")
        shutil.rmtree(folder, ignore_errors=True)
    return tally


def _copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target


def judge(folder: Path, expected: list[Any]) -> str:
    """Return what came of a damage."""
    try:
        same = answers(folder) == expected
    except RagError as error:
        return "refused, says what to do" if error.hint else "raw exception"
    except Exception as error:
        return f"raw exception: {error!r}"[:13]
    try:
        with open_store(folder) as store:
            findings = store.verify()
    except RagError:
        findings = ["refused"]  # type: ignore[list-item]
    except Exception:
        return "raw exception"
    if same:
        return "as before, found" if findings else "as before"
    return "wrong, found" if findings else "wrong, not found"


def verifications_beside_a_writer(folder: Path, runs: int) -> list[tuple[Finding, ...]]:
    """Verify an index again and again while another process replaces documents in it.

    Returns:
        What each verification found; nothing where it gave no false alarm.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(write)
            os.set_blocking(read, False)
            _write_until_closed(folder, read)
            code = 0
        finally:
            os._exit(code)
    os.close(read)
    try:
        with open_store(folder) as store:
            found = [tuple(store.verify()) for _ in range(runs)]
    finally:
        os.close(write)
        _, status = os.waitpid(child, 0)
    assert status == 0
    return found


def _write_until_closed(folder: Path, pipe: int) -> None:
    rng = random.Random(1)
    with open_store(folder) as store:
        while True:
            with store.writer() as writer:
                writer.put(_content("C", rng.randrange(6)))
            try:
                if os.read(pipe, 1) == b"":
                    return
            except BlockingIOError:
                continue
