"""Words of a PDF beside poppler's."""

import pytest

from benchmarks import pdfs
from benchmarks.pdfs import CHOSEN, outcome, shares, summary, words
from tests.support.pdfs import make_pdf


def test_words_are_compared_in_one_width_and_case_and_japanese_by_the_character():
    assert words("Net ｎｅｔ 国立a_b") == {"net": 2, "国": 1, "立": 1, "a": 1, "b": 1}


@pytest.mark.parametrize(
    ("found", "known", "both"),
    [("a b c", "a b d e", (0.5, 2 / 3)), ("", "a", (0.0, 1.0)), ("a", "", (1.0, 0.0))],
)
def test_recall_and_precision_are_shares_of_words(found, known, both):
    assert shares(words(found), words(known)) == pytest.approx(both)


def test_a_file_is_told_with_its_outcome_and_its_words(tmp_path, monkeypatch):
    monkeypatch.setattr(pdfs, "poppler", lambda path: words("Net sales grew fast."))
    read = outcome(make_pdf(tmp_path / "a.pdf", ["Net sales grew.", ""], scanned=[2]))
    assert (read["outcome"], read["states"]) == ("read", {"text": 1, "image": 1})
    assert read["recall"] == {CHOSEN: 0.75, "pypdfium2": 0.75, "pypdf": 0.75}
    (tmp_path / "b.pdf").write_bytes(b"")
    assert outcome(tmp_path / "b.pdf")["outcome"].startswith("EmptyFileError: b.pdf: ")
    found = summary([read, outcome(tmp_path / "b.pdf")])
    assert found["outcomes"] == {"read": 1, "EmptyFileError": 1}
    assert found["recall"][CHOSEN] == {"mean": 0.375, "median": 0.375, "files_below_.95": 2}
