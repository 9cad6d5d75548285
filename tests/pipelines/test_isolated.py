"""Files are read by another process: what becomes of them, of it, and of us."""

import io
import os
import select
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from pypdf import PdfWriter

from pipelines import isolated
from pipelines.errors import (
    ConfigError,
    CrashError,
    EncryptedError,
    NoTextError,
    ReadError,
    TooLargeError,
    TooSlowError,
)
from pipelines.isolated import (
    FileNotTaken,
    ReaderProcess,
    Reading,
    Stopper,
    borrowed,
    close_idle,
    passwords,
    read_file,
)
from pipelines.ocr import find_ocr
from pipelines.protocol import Task
from pipelines.readers import Limits
from pipelines.reading import content_hash, read_data
from tests.support.hostile_pdfs import write_bad_pdf
from tests.support.pdfs import make_pdf
from tests.support.scans import scan_of, varied_lines

SMALL = Reading(Limits(memory_mb=300))


def pid_of_the_next():
    with borrowed() as process:
        return process._process.pid


@pytest.fixture
def good(tmp_path):
    return make_pdf(tmp_path / "good.pdf", ["One.", "日本の文。"], labels=["iv", "1"])


@pytest.mark.parametrize("reader", ["pypdfium2", "pypdf"])
def test_a_file_is_what_reading_its_bytes_here_gives(good, reader):
    read = read_file(good, reader)
    assert (read.raw, read.read_by) == read_data(good.read_bytes(), reader, (), Limits())
    assert (read.path, read.reader, read.content_hash) == (good, reader, content_hash(good))


def test_one_process_reads_file_after_file(good):
    read_file(good)
    before = pid_of_the_next()
    for _ in range(3):
        read_file(good)
    assert pid_of_the_next() == before


@pytest.mark.parametrize(
    ("kind", "reading", "error", "reason"),
    [
        ("page label cycle", SMALL, CrashError, r"crashed the PDF reader \(SIGSEGV\)"),
        ("nested forms", SMALL, TooLargeError, "beyond the memory limit of 300 MB"),
        ("6 GB deflated twice", SMALL, TooLargeError, "beyond the memory limit of 300 MB"),
        ("slow pages", Reading(Limits(seconds=1)), TooSlowError, "longer than 5 s"),
    ],
)
def test_a_file_that_ends_its_process_fails_with_its_reason(
    tmp_path, good, kind, reading, error, reason
):
    bad = write_bad_pdf(tmp_path / "bad.pdf", kind)
    with pytest.raises(ReadError, match=rf"bad\.pdf: .*{reason}") as raised:
        read_file(bad, reading=reading)
    assert type(raised.value) is error
    assert raised.value.hint
    assert len(read_file(good).raw.pages) == 2


def test_a_process_that_does_not_start_is_ended(good, monkeypatch):
    monkeypatch.setattr(isolated, "_START_SECONDS", 0.2)
    process = ReaderProcess()
    os.kill(process._process.pid, signal.SIGSTOP)
    with good.open("rb") as file, pytest.raises(FileNotTaken):
        process.read(Task("pypdf", good.stat().st_size, Limits()), file)
    process.close()
    assert process._process.poll() == -signal.SIGKILL


def test_a_process_that_does_not_answer_in_time_is_ended(tmp_path, monkeypatch):
    """Also where the limit of processor time does not reach it."""
    monkeypatch.setattr(isolated, "_wall", lambda task: 0.5)
    with pytest.raises(TooSlowError, match="longer than 0"):
        read_file(write_bad_pdf(tmp_path / "bad.pdf", "slow pages"))


def test_a_process_that_ended_while_it_waited_costs_no_file(good):
    read_file(good)
    pid = pid_of_the_next()
    os.kill(pid, signal.SIGKILL)
    assert len(read_file(good).raw.pages) == 2


def test_what_cannot_be_opened_is_a_read_error_that_names_it(tmp_path):
    os.mkfifo(tmp_path / "pipe.pdf")
    for path in (tmp_path / "none.pdf", tmp_path, tmp_path / "pipe.pdf"):
        with pytest.raises(ReadError, match=path.name) as raised:
            read_file(path)
        assert raised.value.hint.startswith("check the path")


def test_an_unknown_reader_is_an_error_that_names_the_known_ones(good):
    with pytest.raises(ConfigError, match="pypdfium2, pypdf"):
        read_file(good, "magic")


@pytest.mark.parametrize("password", ["half \ud800 a character", "an \0 end"])
def test_a_password_that_is_no_text_is_refused_without_being_shown(password):
    with pytest.raises(ConfigError) as raised:
        Reading(passwords=(password,))
    assert password not in str(raised.value)


@pytest.mark.parametrize("given", [5, b"bytes", ["one", 2], {"a": 1}])
def test_what_is_no_password_is_refused(given):
    with pytest.raises(ConfigError, match="a password must be text"):
        passwords(given)


def test_a_password_is_on_no_command_line_and_in_no_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("RAG_PDF_PASSWORD", "open sesame")
    monkeypatch.setenv("RAG_LLM_API_KEY", "key-of-mine")
    isolated._kept.close()
    path = make_pdf(tmp_path / "locked.pdf", ["Net sales grew."], password="open sesame")
    reading = Reading(passwords=("open sesame",))
    assert read_file(path, reading=reading).raw.pages[0].text.strip() == "Net sales grew."
    shown = Path(f"/proc/{pid_of_the_next()}")
    seen = (shown / "cmdline").read_bytes() + (shown / "environ").read_bytes()
    assert b"sesame" not in seen
    assert b"key-of-mine" not in seen
    assert "sesame" not in repr(reading)
    with pytest.raises(EncryptedError, match="needs a password"):
        read_file(path)


@pytest.fixture
def scanned(tmp_path):
    """Two pages: text, and a scan of text."""
    page = make_pdf(tmp_path / "page.pdf", ["\n".join(varied_lines(12))])
    writer = PdfWriter(make_pdf(tmp_path / "first.pdf", ["A page of text."]))
    writer.append(io.BytesIO(scan_of(page, noise=15, angle=2)))
    writer.write(tmp_path / "scanned.pdf")
    return tmp_path / "scanned.pdf"


def test_a_scan_is_read_by_the_engine_that_the_process_is_told_of(scanned):
    told = []
    read = read_file(
        scanned, reading=Reading(ocr=find_ocr("on")), on_ocr_page=lambda *at: told.append(at)
    )
    first, scan = read.raw.pages
    assert (first.state, first.text, first.confidence) == ("text", "A page of text.", None)
    assert (scan.state, scan.text) == ("ocr", "\n".join(varied_lines(12)))
    assert 0.8 < scan.confidence <= 1
    assert told == [(1, 1)]
    assert read.ocr == find_ocr("on")


def test_a_scan_is_an_image_where_nothing_reads_it(scanned):
    assert [page.state for page in read_file(scanned).raw.pages] == ["text", "image"]


def test_a_file_whose_scan_needs_too_much_memory_keeps_its_text(scanned, caplog):
    close_idle()
    reading = Reading(Limits(memory_mb=70), ocr=find_ocr("on"))
    pages = read_file(scanned, reading=reading).raw.pages
    assert [page.state for page in pages] == ["text", "image"]
    assert pages[0].text == "A page of text."
    assert "scanned.pdf: read without OCR: it unfolds beyond the memory limit" in caplog.text


def test_a_scan_that_ocr_cannot_finish_says_why_and_not_to_install_ocr(tmp_path):
    close_idle()
    path = tmp_path / "scan.pdf"
    path.write_bytes(scan_of(make_pdf(tmp_path / "page.pdf", ["\n".join(varied_lines(12))])))
    with pytest.raises(NoTextError, match=r"text recognition \(OCR\) ended: it unfolds") as caught:
        read_file(path, reading=Reading(Limits(memory_mb=70), ocr=find_ocr("on")))
    assert "RAG_READ_MEMORY_MB" in caught.value.hint


def test_stopping_ends_what_is_being_read(tmp_path):
    bad, stopper, failed = write_bad_pdf(tmp_path / "slow.pdf", "slow pages"), Stopper(), []

    def read():
        try:
            read_file(bad, stopper=stopper)
        except ReadError as error:
            failed.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    while not stopper._active:
        assert thread.is_alive()
    stopper.stop()
    thread.join()
    assert "reading was stopped" in failed[0].message
    with pytest.raises(ReadError, match="reading was stopped"):
        read_file(bad, stopper=stopper)


def test_a_forked_child_uses_no_process_of_its_parent(good):
    read_file(good)
    pid = pid_of_the_next()
    child = os.fork()
    if not child:
        os._exit(0 if len(read_file(good).raw.pages) == 2 and pid_of_the_next() != pid else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pid_of_the_next() == pid


def run(script, folder, *options, **environment):
    code = textwrap.dedent(script)
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **environment},
    )


TRAPS = "pickle json numpy pypdf pypdfium2 pypdfium2_raw struct re sitecustomize usercustomize site"


@pytest.fixture
def trapped(tmp_path):
    """Give a folder of PDFs beside which lie modules that leave a mark when they are run."""
    folder, mark = tmp_path / "papers", tmp_path / "was run"
    (folder / "pipelines").mkdir(parents=True)
    for name in (*TRAPS.split(), "pipelines/__init__", "pipelines/worker"):
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write('{name} ')")
    make_pdf(folder / "report.pdf", ["Net sales grew."])
    return folder, mark


@pytest.mark.parametrize("path", ["", ":", ":/nowhere", "."])
def test_no_code_beside_the_files_is_run(trapped, path):
    """Neither from the folder itself, as in a notebook, nor by what PYTHONPATH says."""
    folder, mark = trapped
    script = f"""
        import os, sys
        import pipelines.documents
        os.chdir({str(folder)!r})
        os.environ["PYTHONPATH"] = {path!r}
        sys.path.insert(0, "")
        print(pipelines.documents.read_pdf("report.pdf").text.strip())
    """
    done = run(script, Path.cwd())
    assert done.stdout.strip() == "Net sales grew.", done.stderr
    assert not mark.exists()


def test_libraries_that_only_the_path_of_the_parent_holds_are_found(tmp_path, good):
    import pypdfium2

    home = Path(pypdfium2.__file__).parent.parent
    with_path = run(
        f"""
        import sys
        sys.path.append({str(home)!r})
        from pipelines import isolated
        from pipelines.interpreter import library_folders
        print(library_folders(["pypdfium2"], "/nowhere"))
        """,
        tmp_path,
        "-S",
        PYTHONPATH=str(Path.cwd()),
    )
    assert with_path.stdout.strip() == repr([str(home)]), with_path.stderr


def test_the_process_goes_when_its_parent_is_killed_while_it_reads(tmp_path):
    bad = write_bad_pdf(tmp_path / "slow.pdf", "slow pages")
    script = f"""
        import threading
        from pathlib import Path
        from pipelines.isolated import Stopper, read_file
        stopper = Stopper()
        args = (Path({str(bad)!r}), "pypdfium2", None, stopper)
        threading.Thread(target=read_file, args=args, daemon=True).start()
        while not stopper._active:
            pass
        print(next(iter(stopper._active))._process.pid, flush=True)
        input()
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as parent:
        pid = int(parent.stdout.readline())
        # It is ours to wait for when its parent is gone: no other way knows that it ended.
        ended = os.pidfd_open(pid)
        parent.kill()
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    try:
        assert poll.poll(60_000), "the process outlived its parent"
    finally:
        os.close(ended)
