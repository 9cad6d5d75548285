"""The process that reads: tasks in, answers out, limits held."""

import io
import subprocess
import sys
import textwrap
from contextlib import nullcontext

from pipelines import worker
from pipelines.errors import EmptyFileError, ReadError, TooLargeError
from pipelines.ocr import Ocr
from pipelines.protocol import (
    ACCEPTED,
    READY,
    STAYS,
    Task,
    WorkerAnswer,
    ocr_page_bytes,
    receive_answer,
    task_bytes,
)
from pipelines.readers import Limits
from pipelines.reading import read_data
from pipelines.worker import answered, serve
from tests.support.pdfs import make_pdf
from tests.support.scans import FakeEngine


def exactly(stream):
    def read(count):
        data = stream.read(count)
        if len(data) < count:
            raise EOFError
        return data

    return read


def test_each_task_is_answered_in_order_until_the_input_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "MAX_IDLE_BYTES", 1 << 50)  # this process is no small one
    good = make_pdf(tmp_path / "good.pdf", ["Some text."]).read_bytes()
    files = [good, b"", good]
    sent = b"".join(task_bytes(Task("pypdf", len(data), Limits())) + data for data in files)
    results = io.BytesIO()
    serve(exactly(io.BytesIO(sent)), results, lambda task: nullcontext())
    results.seek(0)
    read, answers = exactly(results), []
    assert read(1) == READY
    for _ in files:
        assert read(1) == ACCEPTED
        answers.append(receive_answer(read, Limits()))
        assert read(1) == STAYS
    assert answers[0] == answers[2] == WorkerAnswer(*read_data(good, "pypdf", (), Limits()))
    assert isinstance(answers[1], EmptyFileError)
    assert results.read() == b""


def test_what_no_reader_foresaw_is_an_error_of_its_file(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("pipelines.worker.read_data", broken)
    error = answered(Task("pypdf", 1, Limits()), b"x")
    assert isinstance(error, ReadError)
    assert error.message == "reading failed: ZeroDivisionError: by zero"


def test_what_no_memory_is_left_for_is_beyond_the_limit(monkeypatch):
    def broken(*_):
        raise MemoryError

    monkeypatch.setattr("pipelines.worker.read_data", broken)
    error = answered(Task("pypdf", 1, Limits(memory_mb=77)), b"x")
    assert isinstance(error, TooLargeError)
    assert "memory limit of 77 MB" in error.message


def test_a_process_that_has_grown_large_ends_after_its_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "MAX_IDLE_BYTES", 1)
    data = make_pdf(tmp_path / "good.pdf", ["Some text."]).read_bytes()
    sent = 2 * (task_bytes(Task("pypdf", len(data), Limits())) + data)
    tasks, results = io.BytesIO(sent), io.BytesIO()
    serve(exactly(tasks), results, lambda task: nullcontext())
    assert tasks.tell() == len(sent) / 2
    assert results.getvalue().endswith(b"!")


def test_each_page_that_ocr_begins_with_is_told_and_is_allowed_its_time(tmp_path, monkeypatch):
    path = make_pdf(tmp_path / "x.pdf", ["One.", "", ""], scanned=[2, 3])
    data = path.read_bytes()
    monkeypatch.setattr("pipelines.scanned.tesseract", lambda ocr: FakeEngine({"eng": ["A b"]}))
    task = Task("pypdfium2", len(data), Limits(), ocr=Ocr(("eng",), "/none"))
    results, allowed = io.BytesIO(), []
    serve(
        exactly(io.BytesIO(task_bytes(task) + data)),
        results,
        lambda task: nullcontext(lambda: allowed.append(1)),
    )
    steps = ocr_page_bytes(1, 2) + ocr_page_bytes(2, 2)
    assert results.getvalue().startswith(READY + ACCEPTED + steps + b"P")
    assert len(allowed) == 2


def test_a_file_without_pictures_loads_no_engine(tmp_path, monkeypatch):
    def load(ocr):
        raise AssertionError("an engine was loaded")

    monkeypatch.setattr("pipelines.scanned.tesseract", load)
    data = make_pdf(tmp_path / "x.pdf", ["One.", ""]).read_bytes()
    task = Task("pypdfium2", len(data), Limits(), ocr=Ocr(("eng",), "/none"))
    assert [page.state for page in answered(task, data).raw.pages] == ["text", "empty"]


def test_a_page_of_ocr_adds_its_time_to_the_limit():
    script = """
        import resource, time
        from pipelines.protocol import Task
        from pipelines.readers import Limits
        from pipelines.worker import Guard

        def limit():
            return resource.getrlimit(resource.RLIMIT_CPU)[0]

        limits = Limits(seconds=50, seconds_per_ocr_page=100)
        with Guard().watching(Task("pypdf", 0, limits)) as more:
            before = limit()
            more()
            print(before, limit())
        print(limit() == resource.RLIM_INFINITY)
    """
    code = textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after, free = done.stdout.split()
    assert 50 <= int(before) < 60
    assert 100 <= int(after) < 110
    assert free == "True"


def test_it_imports_nothing_that_only_its_parent_needs():
    heavy = {
        "llama_index",
        "pydantic",
        "numpy",
        "tesserocr",
        "rag_app",
        "subprocess",
        "pickle",
        "email",
        "pypdf",
    }
    script = "import sys, pipelines.worker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert not heavy & {name.partition(".")[0] for name in done.stdout.split()}
