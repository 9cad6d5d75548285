import io
import pickle
from pathlib import Path

from pipelines.errors import EmptyFileError, ReadError
from pipelines.reading import read_file
from pipelines.worker import read_or_error, serve
from tests.support.pdfs import make_pdf


def test_each_task_is_answered_in_order_until_the_input_ends(tmp_path):
    good = make_pdf(tmp_path / "good.pdf", ["Some text."])
    (tmp_path / "empty.pdf").touch()
    tasks, results = io.BytesIO(), io.BytesIO()
    for name in ("good.pdf", "empty.pdf", "good.pdf"):
        pickle.dump((str(tmp_path / name), "pypdf"), tasks)
    tasks.seek(0)
    serve(tasks, results)
    results.seek(0)
    first, second, third = (pickle.load(results) for _ in range(3))
    assert first == third == read_file(good, "pypdf")
    assert isinstance(second, EmptyFileError)
    assert results.read() == b""


def test_what_no_reader_foresaw_is_an_error_of_its_file(monkeypatch):
    def broken(path, reader):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("pipelines.worker.read_file", broken)
    error = read_or_error(Path("odd.pdf"), "pypdf")
    assert isinstance(error, ReadError)
    assert error.message == "odd.pdf: reading failed: ZeroDivisionError: by zero"
