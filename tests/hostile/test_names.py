"""Folders with names that are no text, steer terminals, block, or are written in two ways.

Each from the shell and from Python: every good file goes in, and what is printed of it
is what ``--file`` and ``remove`` take.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.schema import Document, IndexNode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from pipelines.errors import NotPdfError
from pipelines.file_names import absolute, base_name, original, printable
from pipelines.regular_files import open_regular
from rag_app.cli.output import Output
from rag_app.index import Index
from tests.support.embedding import HashEmbedding
from tests.support.pdfs import make_pdf

NAMES = (
    b"plain.pdf",
    b"no-utf8-\xff\xfe.pdf",
    "résumé.pdf".encode(),
    "re\u0301sume\u0301.pdf".encode(),
    b"two\nlines.pdf",
    b"\x1b[31mred\x1b[0m.pdf",
    b"\x1b]0;owned\x07title.pdf",
    "annex-\u202efdp.exe.pdf".encode(),
    "\u009b31mc1.pdf".encode(),
    b"tab\there.pdf",
    b" leading and  double .pdf",
    b"-rf.pdf",
    b"--index.pdf",
    b"a*b?[c].pdf",
    b"back\\slash.pdf",
    b"back\\x0aslash.pdf",
    b"back\x0aslash.pdf",
    b"quote'\"$(touch x)`.pdf",
    b"<img src=x onerror=alert(1)>.pdf",
    b"[bold]markup[bold].pdf",
    "報告　第一.pdf".encode(),
    "👩\u200d🔬.pdf".encode(),
    b"n" * 251 + b".pdf",
    b"%s%d{0}.pdf",
    b"upper.PDF",
)
TOPICS = {name: f"topic{number}" for number, name in enumerate(NAMES)}
STEERING = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u202a\u202b\u202d\u202e\u2066"]


def _write(folder: Path) -> dict[str, str]:
    """Write a PDF under every name; return the topic of each by its printed path."""
    folder.mkdir()
    topics = {}
    for name, topic in TOPICS.items():
        made = make_pdf(folder / "made", [f"The {topic} weighs seven tonnes in the north."])
        path = folder / os.fsdecode(name)
        made.rename(path)
        topics[absolute(path)] = topic
    assert len(list(folder.iterdir())) == len(NAMES)
    return topics


def _write_bad(folder: Path) -> Iterator[socket.socket]:
    """Put what is no regular file beside them, all named like PDFs."""
    folder = folder.resolve()
    os.mkfifo(folder / "pipe.pdf")
    (folder / "folder.pdf").mkdir()
    (folder / "dangling.pdf").symlink_to(folder / "nowhere")
    (folder / "loop.pdf").symlink_to(folder / "loop.pdf")
    (folder / "to-pipe.pdf").symlink_to(folder / "pipe.pdf")
    (folder / "device.pdf").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("odd/s.pdf")
        yield listening


BAD = ("pipe.pdf", "dangling.pdf", "loop.pdf", "to-pipe.pdf", "device.pdf", "s.pdf")


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, dict[str, str]]]:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    folder = Path("odd")
    topics = _write(folder)
    for _ in _write_bad(folder):
        yield folder, topics


def _is_plain(text: str, *, lines: bool = True) -> bool:
    return not any(char in text for char in STEERING if not (lines and char in "\n"))


@pytest.mark.usefixtures("place")
def test_folder_of_odd_names_from_the_shell_every_good_file_is_in_and_can_be_named(
    rag, names
) -> None:
    folder, topics = names
    done = rag("ingest", folder, "--json")
    files = {file["file"]: file for file in done.json["files"]}
    assert done.code == 0
    assert {name for name, file in files.items() if file["status"] == "added"} == topics.keys()
    failed = {base_name(name): file for name, file in files.items() if file["status"] == "failed"}
    assert failed.keys() == set(BAD)
    assert all(file["error"] and file["hint"] for file in failed.values())
    for name, topic in topics.items():
        for given in (name, base_name(name)):
            found = rag("search", f"Which {topic}?", f"--file={given}", "--json")
            assert found.code == 0, found.err
            [result] = found.json["results"]
            assert (result["file"], topic in result["text"]) == (base_name(name), True)
    for number, name in enumerate(topics):
        removed = rag("remove", "--json", "--", name if number % 2 else base_name(name))
        assert (removed.code, removed.json["removed"]) == (0, [name])
    assert rag("info", "--json").json["sources"] == []


@pytest.mark.usefixtures("place")
def test_whatever_is_printed_of_odd_names_steers_no_terminal_and_stays_on_its_line(
    rag, names
) -> None:
    folder, topics = names
    ingested = rag("ingest", folder)
    assert ingested.out.count("\nadded") + ingested.out.startswith("added") == len(topics)
    named = folder / os.fsdecode(b"two\nlines.pdf")
    outputs = [
        ingested,
        rag("info"),
        rag("search", "Which topic4 weighs seven tonnes?"),
        rag("explain", "Which topic5 weighs seven tonnes?"),
        rag("ask", "How much does the topic6 weigh?"),
        rag("ask", "How much does the topic4 weigh?", named),
        rag("ingest", folder / "missing\x1b[2J\n.pdf"),
        rag("search", "x", "--file", "missing\x1b[2J\n.pdf"),
        rag("remove", "missing\x1b[2J\n.pdf"),
        rag("remove", named),
    ]
    for done in outputs:
        assert _is_plain(done.out), done.out
        assert _is_plain(done.err), done.err
    assert "two\\x0alines.pdf" in outputs[2].out
    assert outputs[-1].out == "removed odd/two\\x0alines.pdf\n"
    for done in outputs[6:9]:
        assert (done.code, done.err.count("\n")) == (1, 1)
        assert "missing\\x1b[2J\\x0a.pdf" in done.err
    for command in (("info",), ("search", "topic4"), ("ask", "How much does the topic6 weigh?")):
        assert _is_plain(rag(*command, "--json").out)


def test_folder_of_odd_names_from_python_every_good_file_is_in_and_can_be_filtered(
    names, tmp_path
) -> None:
    folder, topics = names
    with Index.create(tmp_path / "index", embed_model=HashEmbedding()) as index:
        report = index.ingest(folder)
        assert {one.file for one in report.files if one.status == "added"} == topics.keys()
        assert {base_name(one.file) for one in report.failed} == set(BAD)
        for name, topic in topics.items():
            raw = original(name)
            # What one file's name is printed as may be the name of another.
            for value in (name, name if raw in topics else raw):
                wanted = MetadataFilters(filters=[MetadataFilter(key="file_path", value=value)])
                [found] = index.as_retriever(filters=wanted).retrieve(topic)
                assert topic in found.node.get_content()
        again = index.ingest(*(original(name) for name in topics))
        assert {one.status for one in again.files} == {"unchanged"}
        assert index.remove(*(Path(original(name)) for name in topics)).unknown == ()
        assert index.info(verify=True).findings == ()


def test_names_in_the_other_composition_find_the_only_file_there_is(tmp_path) -> None:
    (tmp_path / "in").mkdir()
    make_pdf(tmp_path / "in" / "re\u0301sume\u0301.pdf", ["Seven tonnes in the north."])
    with Index.create(tmp_path / "index", embed_model=HashEmbedding()) as index:
        index.ingest(tmp_path / "in")
        for operator, value in (
            ("==", "résumé.pdf"),
            ("in", ["résumé.pdf"]),
            ("contains", "résum"),
            ("text_match", "résum"),
            ("text_match_insensitive", "RÉSUM"),
            ("any", ["résum"]),
            ("all", ["résum", "pdf"]),
            ("!=", "x.pdf"),
        ):
            one = MetadataFilter(key="file_name", value=value, operator=operator)
            found = index.as_retriever(filters=MetadataFilters(filters=[one])).retrieve("tonnes")
            assert len(found) == 1, operator
        assert len(index.remove("résumé.pdf").removed) == 1


def test_file_that_becomes_a_pipe_before_it_is_opened_is_refused_without_waiting(
    tmp_path, monkeypatch
) -> None:
    path = make_pdf(tmp_path / "x.pdf", ["Text."])
    opened = os.open

    def swap(name, *arguments):
        Path(name).unlink()
        os.mkfifo(name)
        return opened(name, *arguments)

    monkeypatch.setattr("pipelines.regular_files.os.open", swap)
    with pytest.raises(NotPdfError, match="named pipe"):
        open_regular(path)


def test_what_is_no_regular_file_is_refused_by_its_kind(names) -> None:
    folder, _ = names
    for name, kind in (
        ("pipe.pdf", "named pipe"),
        ("to-pipe.pdf", "named pipe"),
        ("folder.pdf", "folder"),
        ("device.pdf", "device"),
        ("s.pdf", "socket"),
    ):
        with pytest.raises(NotPdfError, match=kind):
            open_regular(folder / name)


def test_paths_that_the_system_refuses_are_failed_and_stop_no_other(tmp_path) -> None:
    good = make_pdf(tmp_path / "good.pdf", ["Seven tonnes."])
    bad = ["", "nul\0.pdf", "lone\ud800.pdf", "x" * 300 + ".pdf", tmp_path / "none.pdf"]
    bad += [f"{good}/below.pdf"]
    with Index.create(tmp_path / "index", embed_model=HashEmbedding()) as index:
        report = index.ingest(*bad, good)
    assert [one.status for one in report.files] == ["failed"] * len(bad) + ["added"]
    assert all(one.error and one.hint for one in report.failed)


def test_folder_that_may_not_be_looked_into_is_named_and_the_others_go_in(
    tmp_path, monkeypatch
) -> None:
    (tmp_path / "in" / "closed").mkdir(parents=True)
    make_pdf(tmp_path / "in" / "good.pdf", ["Seven tonnes."])
    scandir = os.scandir

    def refuse(path):
        if os.fspath(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr("os.scandir", refuse)  # whoever runs the tests may read everything
    with Index.create(tmp_path / "index", embed_model=HashEmbedding()) as index:
        report = index.ingest(tmp_path / "in")
    assert [one.status for one in report.files] == ["added", "failed"]
    assert "Permission denied" in report.failed[0].error


class _Raises:
    def __str__(self) -> str:
        raise RuntimeError("no text of me")


def test_documents_with_what_utf8_and_json_cannot_hold_go_in_or_fail_alone(tmp_path) -> None:
    lone = "lone \udcff"
    ring: dict[str, object] = {}
    ring["self"] = ring
    given = [
        Document(text="The good one weighs seven tonnes.", id_="good"),
        Document(text=f"Surrogate {lone} in text.", id_=f"id {lone}"),
        Document(text="Odd keys.", metadata={lone: 1, "nested": {lone: [lone, {lone: lone}]}}),
        Document(text="Mixed keys.", metadata={"deep": {1: "a", "b": {None: 2, (1, 2): 3}}}),
        Document(text="Odd file.", metadata={"file_name": f"{lone}\n.pdf", "file_path": Path("x")}),
        Document(text="Not finite.", metadata={"score": float("nan")}),
        Document(text="Empty id.", id_=""),
    ]
    failing = [
        Document(text="Rings.", id_="ring", metadata={"ring": ring}),
        Document(text="Raises.", id_="raises", metadata={"x": _Raises()}),
        Document(text="\udcff", id_="empty"),
    ]
    with Index.create(tmp_path / "index", embed_model=HashEmbedding()) as index:
        report = index.ingest(given, failing)
        statuses = [one.status for one in report.files]
        assert statuses == ["added"] * len(given) + ["failed"] * len(failing)
        assert [one.file for one in report.failed] == ["ring", "raises", "empty"]
        json.dumps(report.to_dict()).encode()
        assert index.info(verify=True).findings == ()
        assert (
            index.remove(*(one.file for one in report.files if one.status == "added")).unknown == ()
        )


def test_nodes_with_odd_ids_and_texts_go_in_and_one_without_text_fails_alone(tmp_path) -> None:
    lone = "lone \udcff"
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"source {lone}")}
    passage = TextNode(id_=lone, text=f"Cats {lone} purr.", relationships=source)
    passage.metadata = {lone: {lone: lone}}
    nodes = [
        passage,
        IndexNode(id_=f"piece {lone}", text="What do cats do?", index_id=lone),
        TextNode(id_="good", text="Dogs bark."),
        TextNode(id_="empty", text="\udcff"),
    ]
    with Index.create(
        tmp_path / "index", embed_model=HashEmbedding(), pipelines=("hybrid", "multi_vector")
    ) as index:
        report = index.ingest(nodes)
        assert [one.status for one in report.files] == ["added", "added", "failed"]
        assert "no text" in report.failed[0].error
        assert index.info(verify=True).findings == ()


def test_index_in_a_folder_that_is_no_utf8_is_made_merged_and_asked(tmp_path) -> None:
    odd = tmp_path / os.fsdecode(b"index\xff\n")
    pdf = make_pdf(tmp_path / "a.pdf", ["Seven tonnes in the north."])
    model = HashEmbedding()
    with Index.create(odd, embed_model=model) as index:
        index.ingest(pdf)
    with Index.merge([odd], into=tmp_path / "merged", embed_model=model) as merged:
        [found] = merged.as_retriever().retrieve("tonnes")
        assert found.node.metadata["origin"] == "index\\xff\\x0a"


def test_progress_on_a_terminal_prints_names_that_steer_nothing(names, monkeypatch) -> None:
    from rag_app.cli.progress import watch
    from rag_app.cli.watching import IngestView

    class Terminal:
        encoding = "utf-8"

        def __init__(self) -> None:
            self.written: list[str] = []

        def write(self, text: str) -> int:
            self.written.append(text)
            return len(text)

        def flush(self) -> None: ...

        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "dumb")  # the bar itself then writes no sequence
    _, topics = names
    stderr = Terminal()
    out = Output(Terminal(), stderr, json=False, quiet=False)  # type: ignore[arg-type]
    view = IngestView(out, Path("index"))
    with watch(out) as view.watch:
        for name in topics:
            view.progress(name, "read", 1, 2)
    assert "\x1b]0" not in "".join(stderr.written)
    assert "\u202e" not in "".join(stderr.written)


def test_real_process_reads_a_folder_of_odd_names_and_prints_json(names, tmp_path) -> None:
    folder, topics = names
    code = (
        "import sys; import rag_app.index as i; from tests.support.embedding import HashEmbedding;"
        "i.load_embedding = lambda *_: HashEmbedding(); from rag_app.cli.app import run;"
        "sys.exit(run(sys.argv[1:]))"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code, "ingest", folder, "--json", "--index", tmp_path / "i"],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": root, "HOME": str(tmp_path)},
        check=False,
    )
    files = json.loads(done.stdout.decode("utf-8"))["files"]
    assert {one["file"] for one in files if one["status"] == "added"} == topics.keys()
    assert printable(done.stdout.decode()).count("\\x1b") == done.stdout.decode().count("\\x1b")


@pytest.mark.usefixtures("place")
def test_paths_that_the_system_refuses_are_one_line_from_the_shell(rag) -> None:
    for name in ("x" * 300 + ".pdf", "loop.pdf/below.pdf", "lone\udcff.pdf"):
        for command in (("ingest", name), ("ask", "Which crane?", name)):
            done = rag(*command)
            assert (done.code, done.err.count("\n")) == (1, 1), (command, done.err)
            assert "bug" not in done.err


@pytest.mark.usefixtures("place")
def test_index_of_an_odd_name_from_the_shell_is_used_and_printed_as_an_escape(rag, pdfs) -> None:
    odd = os.fsdecode(b"in\x1b[31m\ndex\xff")
    done = [
        rag("ingest", pdfs, "--index", odd),
        rag("info", "--index", odd, "--verify"),
        rag("merge", odd, "--into", f"{odd}2"),
        rag("search", "seven tonnes", "--index", odd, "--index", f"{odd}2"),
        rag("info", "--index", odd, "--json"),
    ]
    missing = rag("remove", "none.pdf", "--index", odd)
    assert [one.code for one in (*done, missing)] == [0, 0, 0, 0, 0, 1]
    for one in (*done, missing):
        assert _is_plain(one.out + one.err), one
    for one in (*done[:3], missing):
        assert "in\\x1b[31m\\x0adex\\xff" in one.out + one.err
    assert missing.err.count("\n") == 1
    assert rag("info", "--index", f"{odd}none").code == 1
