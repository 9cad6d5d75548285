"""Writers and readers at once; every answer is checked. Shared with the benchmark.

Writers put, change and remove files of their own. Each version of a file says
in every sentence which file and which version it is, so that a reader can tell
a half-written file, a mixture of two versions, and a hit on what is not there.
"""

from __future__ import annotations

import os
import select
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pipelines.errors import IndexLockedError
from rag_app.store.protocol import Prepared, Snapshot
from rag_app.store.sqlite.store import SqliteStore, create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared, vector

FILES = 5  # per writer
SENTENCES = 3


def content(writer: int, file: int, version: int) -> Prepared:
    mark = f"w{writer}f{file}"
    pages = [
        " ".join(f"common {mark} {mark}v{version} p{page}s{n}." for n in range(SENTENCES))
        for page in range(1 + version % 3)
    ]
    return prepared(f"/{mark}.pdf", pages)


Goes = Callable[[int], bool]
"""Tells from what a process has done so far whether it goes on."""


def write(path: Path, number: int, goes: Goes) -> int:
    """Put, change and remove files in runs of a few; return how many runs were made."""
    rng = np.random.default_rng([number, os.getpid()])
    runs = version = 0
    with open_store(path) as store:
        while goes(runs):
            try:
                with store.writer(timeout=30) as writer:
                    for nth in range(int(rng.integers(1, 4))):
                        version += 1
                        file = int(rng.integers(FILES))
                        if nth and rng.random() < 0.3:
                            writer.remove([f"/w{number}f{file}.pdf"])
                        else:
                            writer.put(content(number, file, version))
            except IndexLockedError:
                continue
            runs += 1
            time.sleep(float(rng.random()) * 0.02)  # lets the other one in
    return runs


def read(path: Path, goes: Goes, *, reopen: bool) -> int:
    """Ask and check as long as it goes on; return how many snapshots were checked."""
    count, last = 0, -1
    store = open_store(path)
    while goes(count):
        if reopen:
            store.close()
            store = open_store(path)
        with store.snapshot() as snapshot:
            assert snapshot.generation >= last, "time went backwards"
            last = snapshot.generation
            check(snapshot)
        count += 1
    store.close()
    return count


def check(snapshot: Snapshot) -> None:
    """Raise AssertionError when anything in the snapshot is not of one generation."""
    sources = snapshot.sources()
    parents = {}
    for source in sources:
        document = snapshot.document(source.content_hash)
        mark = source.names[0][1:-4]
        (version,) = {word for word in document.text.split() if word.startswith(f"{mark}v")}
        assert source.nodes["parent"] == source.pages
        assert source.nodes["child-128"] == source.pages * SENTENCES
        parents[source.document_id] = (mark, version)
    total = sum(source.pages for source in sources)
    count, frequencies = snapshot.document_frequencies("parent", ["common"])
    assert (count, frequencies["common"]) == (total, total)
    words = snapshot.search_words("parent", ["common"], 1000)
    near = snapshot.search_vectors("child-128", vector("common"), 1000)
    assert {hit.passage_id for hit in words} == {hit.passage_id for hit in near}
    assert len(words) == total
    nodes = snapshot.nodes([hit.passage_id for hit in words])
    assert len(nodes) == total
    for node in nodes.values():
        mark, version = parents[node.ref_doc_id or ""]
        assert f"common {mark} {version} " in node.text
        hits = snapshot.search_words("parent", [version], 50)
        assert node.node_id in {hit.passage_id for hit in hits}


def spawn(work: Callable[[], int]) -> tuple[int, int]:
    """Run in a forked child; return its id and the pipe on which it tells its count."""
    readable, writable = os.pipe()
    child = os.fork()
    if child:
        os.close(writable)
        return child, readable
    status = 1
    try:
        os.write(writable, str(work()).encode())
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def contest(
    path: Path, writes: Goes, *, writers: int = 2, readers: int = 4
) -> tuple[list[int], list[int]]:
    """Let writers and readers at one index: those read, once at least, until these have ended.

    Args:
        path: the index; it is made.
        writes: tells a writer from the runs that it has made whether to make another.
        writers: how many processes write.
        readers: how many read.

    Returns the exit status of each process (0: nothing was wrong), and how many
    runs each writer made and snapshots each reader checked.
    """
    create_store(path, CONFIG).close()
    ended, ends = os.pipe()  # reads as ended once no writer holds its other end

    def reads(count: int) -> bool:
        return count == 0 or not select.select([ended], [], [], 0)[0]

    def write_alone(number: int) -> int:
        os.close(ended)
        return write(path, number, writes)

    children = [spawn(lambda n=n: write_alone(n)) for n in range(writers)]
    os.close(ends)
    children += [spawn(lambda n=n: read(path, reads, reopen=n % 2 == 1)) for n in range(readers)]
    os.close(ended)
    counts = [int(os.read(pipe, 32) or b"0") for _, pipe in children]
    for _, pipe in children:
        os.close(pipe)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child, _ in children], counts


def generations(path: Path) -> int:
    store: SqliteStore
    with open_store(path) as store, store.snapshot() as snapshot:
        return snapshot.generation
