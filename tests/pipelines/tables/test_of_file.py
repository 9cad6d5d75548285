import subprocess

import pytest

from pipelines.errors import CrashError, DamagedError, NotPdfError, ReadError, TooSlowError
from pipelines.reading import content_hash
from pipelines.tables import of_file
from pipelines.tables.of_file import table_from, tables_of_file
from tests.support.table_pdfs import cells_of, pdf_of, tables_drawn


def sales(page):
    page.line("", "2022", "2021").line("Sales", "300", "200").line("Costs", "30", "20")


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf_of(sales, lambda page: page.line("Tax", "3", "2").line("Rent", "1", "1")))
    return path


def test_tables_come_from_another_process_joined_over_the_page_break(report):
    (table,) = tables_of_file(report, content=content_hash(report))
    assert cells_of(table) == {
        "Sales": ["300", "200"],
        "Costs": ["30", "20"],
        "Tax": ["3", "2"],
        "Rent": ["1", "1"],
    }
    assert table.rows[3].page == 2


def test_a_file_that_has_changed_or_gone_or_is_none_says_so(report, tmp_path):
    with pytest.raises(ReadError, match=r"report\.pdf: the file has changed"):
        tables_of_file(report, content="0" * 64)
    with pytest.raises(ReadError, match="No such file"):
        tables_of_file(tmp_path / "gone.pdf")
    with pytest.raises(NotPdfError):
        tables_of_file(tmp_path)


def test_a_damaged_file_has_the_reason_of_the_reader(tmp_path):
    path = tmp_path / "bad.pdf"
    path.write_bytes(b"no PDF")
    with pytest.raises(DamagedError, match=r"bad\.pdf: PDFium cannot read it"):
        tables_of_file(path)


def ended(code):
    return lambda *_, **__: subprocess.CompletedProcess([], code, stdout=b"")


def late(*_, **__):
    raise subprocess.TimeoutExpired("x", 1)


@pytest.mark.parametrize(("run", "error"), [(ended(-9), CrashError), (late, TooSlowError)])
def test_a_process_that_dies_or_does_not_end_is_an_error_of_the_file(
    report, monkeypatch, run, error
):
    monkeypatch.setattr(of_file.subprocess, "run", run)
    with pytest.raises(error, match=r"report\.pdf"):
        tables_of_file(report)


def test_a_table_is_the_same_after_its_json():
    (table,) = tables_drawn(sales)
    assert table_from(table.to_dict()).to_dict() == table.to_dict()
