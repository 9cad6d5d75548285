"""Where quotes of an answer stand, and pictures of their pages, from the file as it is now."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from pipelines.errors import ConfigError, EncryptedError, ReadError
from pipelines.reading import content_hash
from rag_app.answer.response import Citation, Quote
from rag_app.answer.shown_pages import CHANGED
from tests.support.pdfs import make_pdf
from tests.support.scans import scan_of

FIRST = "The lease begins on 1 March and the tenant pays"
SECOND = "the rent on the first day of each month."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return make_pdf(tmp_path / "lease.pdf", [f"Lease\n{FIRST}", f"{SECOND}\nNothing else."])


def citation(file: Path, *quotes: tuple[str, list[int]]) -> Citation:
    return Citation(
        number=1,
        origin="",
        file=file.name,
        path=str(file),
        page=quotes[0][1][0],
        page_label=None,
        pages=sorted({page for _, pages in quotes for page in pages}),
        quotes=[Quote(text, None, None, pages, True) for text, pages in quotes],
        content_hash=content_hash(file),
    )


def test_each_quote_has_its_rectangles_on_each_of_its_pages(file):
    source = citation(file, (f"{FIRST} {SECOND}", [1, 2]), ("Nothing else.", [2]))
    over, below = source.rectangles
    assert [(one.page, len(one.boxes)) for one in over] == [(1, 1), (2, 1)]
    assert [(one.page, len(one.boxes)) for one in below] == [(2, 1)]
    assert below[0].boxes[0].top > over[1].boxes[0].top
    assert not any(one.changed for one in (*over, *below))
    assert source.rectangles is source.rectangles


def test_the_image_is_a_png_with_the_quotes_of_its_page_marked(file, tmp_path):
    source = citation(file, (f"{FIRST} {SECOND}", [1, 2]), ("Nothing else.", [2]))
    image = source.page_image(1.0, page=2)
    assert (image.page, image.marked, image.changed) == (2, 2, False)
    with Image.open(io.BytesIO(image.png)) as read:
        assert read.size == (image.width, image.height)
        data = read.tobytes()
        marked = sum(
            1 for at in range(0, len(data), 3) if data[at] == data[at + 1] == 255 > data[at + 2]
        )
    assert marked > 100
    assert source.page_image(1.0).page == 1
    assert image.save(tmp_path / "page.png").read_bytes() == image.png
    assert image._repr_png_() == image.png


def test_a_file_that_has_changed_is_shown_as_it_is_now_and_said_to_have(file):
    source = citation(file, (FIRST, [1]))
    make_pdf(file, ["Something else."])
    image = source.page_image(1.0)
    assert (image.changed, image.marked) == (True, 0)
    assert CHANGED in repr(image)
    assert CHANGED in image._repr_html_()
    ((place,),) = source.rectangles
    assert (place.changed, place.boxes) == (True, ())


def test_a_file_that_is_gone_is_an_error_that_says_so(file):
    source = citation(file, (FIRST, [1]))
    file.unlink()
    with pytest.raises(ReadError, match="is gone"):
        source.page_image()
    with pytest.raises(ReadError, match="is gone"):
        _ = source.rectangles


def test_a_text_without_a_file_has_no_page_to_show(file):
    source = replace(citation(file, (FIRST, [1])), path="", page=None)
    with pytest.raises(ReadError, match="is a text"):
        source.page_image()


@pytest.mark.parametrize("scale", [0, -1, 21, float("nan")])
def test_a_scale_that_is_not_allowed_is_refused(file, scale):
    with pytest.raises(ConfigError, match="scale"):
        citation(file, (FIRST, [1])).page_image(scale)


def test_an_encrypted_file_is_shown_with_its_password(tmp_path):
    file = make_pdf(tmp_path / "secret.pdf", [FIRST], password="open sesame")
    source = citation(file, (FIRST, [1]))
    with pytest.raises(EncryptedError):
        source.page_image()
    assert source.page_image(1.0, password="open sesame").marked == 1
    assert source.find_rectangles(password="open sesame")[0][0].boxes


def test_names_of_files_are_escaped_in_a_notebook(file):
    image = citation(file, (FIRST, [1])).page_image(0.5)
    shown = replace(image, file="<b>&.pdf")._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;&amp;.pdf" in shown


def test_a_picture_is_saved_under_a_name_that_is_free(file, tmp_path):
    image = citation(file, (FIRST, [1])).page_image(0.5)
    names = [image.save_as_new(tmp_path, "page").name for _ in range(3)]
    assert names == ["page.png", "page-2.png", "page-3.png"]


def test_a_scanned_page_has_the_rectangles_of_its_recognised_words(tmp_path):
    pytest.importorskip("tesserocr", reason="the extra ocr is not installed")
    text = make_pdf(tmp_path / "text.pdf", [f"{FIRST}\n{SECOND}"])
    scan = tmp_path / "scan.pdf"
    scan.write_bytes(scan_of(text))
    source = replace(citation(scan, (SECOND, [1])), read_by="ocr")
    ((found,),) = source.rectangles
    ((expected,),) = citation(text, (SECOND, [1])).rectangles
    (box,) = found.boxes
    (there,) = expected.boxes
    assert box.left == pytest.approx(there.left, abs=5)
    assert box.top == pytest.approx(there.top, abs=8)
    assert box.right == pytest.approx(there.right, abs=8)


def test_rectangles_and_the_hash_are_json(file):
    source = citation(file, (FIRST, [1]))
    assert json.dumps([[one.width for one in quote] for quote in source.rectangles])
    assert len(source.content_hash) == 64
