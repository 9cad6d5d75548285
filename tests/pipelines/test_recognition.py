"""What an engine sees on a page becomes text, rectangles and a confidence."""

import pypdfium2
import pytest

from pipelines.layout import Box
from pipelines.pictures import Picture
from pipelines.recognition import SeenWord, has_wide, readable, recognised
from tests.support.pdfs import make_pdf
from tests.support.scans import FakeEngine, scan_of, varied_lines

ENGLISH = ["Net sales grew by 4 %", "in the second quarter."]
LINES = "\n".join(varied_lines(24))


@pytest.fixture
def page(tmp_path):
    return pypdfium2.PdfDocument(make_pdf(tmp_path / "page.pdf", [LINES]))[0]


def seen(*words):
    """Return an engine that sees these words: text, left, right; on one line of 20 pixels."""

    class Engine(FakeEngine):
        def words(self, picture, language, seconds):
            return [
                SeenWord(text, Box(left, 0, right, 20), 0.9, 0, boxes)
                for text, left, right, *rest in words
                for boxes in [tuple(rest[0]) if rest else ()]
            ]

    return Engine({"jpn": []})


def test_lines_are_lines_and_words_have_blanks_between(page):
    found = recognised(page, FakeEngine({"eng": ENGLISH}), 10)
    assert found.text == "Net sales grew by 4 %\nin the second quarter."
    assert found.confidence == pytest.approx(0.9)
    assert found.language == "eng"


def test_each_word_has_its_span_and_its_rectangle_in_points(page):
    found = recognised(page, FakeEngine({"eng": ENGLISH}), 10)
    words = [found.text[word.start : word.end] for word in found.layout.words]
    assert words == " ".join(ENGLISH).split()
    assert (found.layout.width, found.layout.height) == pytest.approx(page.get_size())
    box = found.layout.words[1].box
    assert (box.left, box.right) == pytest.approx((60 * 72 / 200, 110 * 72 / 200), abs=0.1)


def test_japanese_has_no_blanks_but_where_it_is_written_so(page):
    """Tesseract takes each Japanese word for one with blanks around it."""
    found = recognised(
        page, seen(("第", 0, 20), ("10", 24, 40), ("条", 44, 64), ("休日は", 120, 180)), 10
    )
    assert found is None  # too short for a page
    found = recognised(
        page,
        seen(("第", 0, 20), ("10", 24, 40), ("条", 44, 64), ("休日は土曜日", 120, 240)),
        10,
    )
    assert found.text == "第10条 休日は土曜日"


def test_each_japanese_character_has_its_own_rectangle(page):
    boxes = [Box(20.0 * at, 0, 20.0 * at + 18, 20) for at in range(8)]
    found = recognised(page, seen(("所定労働時間勤務", 0, 160, boxes)), 10)
    assert [(word.start, word.end) for word in found.layout.words] == [(n, n + 1) for n in range(8)]
    assert found.layout.words[1].box.left == pytest.approx(20 * 72 / 200, abs=0.1)


def test_the_language_that_reads_with_confidence_is_taken_and_the_others_are_not_tried(page):
    engine = FakeEngine({"eng": ENGLISH, "jpn": ["これは日本語の文書である"]})
    assert recognised(page, engine, 10).language == "eng"
    assert [language for language, _ in engine.shown] == ["eng"]


def test_another_language_is_tried_where_the_first_one_is_unsure(page):
    texts = {"eng": ENGLISH, "jpn": ["これは日本語の文書である"]}
    engine = FakeEngine(texts, {"eng": 0.27})
    assert recognised(page, engine, 10).language == "jpn"
    assert [language for language, _ in engine.shown] == ["eng", "jpn"]


def test_the_language_of_the_page_before_is_tried_first(page):
    engine = FakeEngine({"eng": ENGLISH, "jpn": ["これは日本語の文書である"]})
    assert recognised(page, engine, 10, "jpn").language == "jpn"
    assert [language for language, _ in engine.shown] == ["jpn"]


def test_japanese_weights_are_not_trusted_with_a_page_without_japanese(page):
    engine = FakeEngine({"eng": ENGLISH, "jpn": ENGLISH}, {"jpn": 0.85})
    assert recognised(page, engine, 10, "jpn").language == "eng"


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_that_lies_on_its_side_or_head_is_turned(tmp_path, turn):
    path = make_pdf(tmp_path / "page.pdf", [LINES])
    scan = pypdfium2.PdfDocument(scan_of(path, angle=turn))[0]
    engine = FakeEngine({"eng": ENGLISH}, turned=turn)
    found = recognised(scan, engine, 10)
    assert found.text.startswith("Net sales")
    assert engine.shown[-1][1].angle % 360 == pytest.approx(-turn % 360)


def test_a_page_that_leans_is_straightened(tmp_path):
    path = make_pdf(tmp_path / "page.pdf", [LINES])
    scan = pypdfium2.PdfDocument(scan_of(path, angle=8))[0]
    engine = FakeEngine({"eng": ENGLISH})
    recognised(scan, engine, 10)
    assert engine.shown[0][1].angle == pytest.approx(-8, abs=0.2)


@pytest.mark.parametrize(
    ("texts", "confidence"),
    [
        ({"eng": ENGLISH}, {"eng": 0.4}),  # a photograph
        ({"eng": ["Fig. 1"]}, {}),
        ({"eng": []}, {}),
        ({"eng": ["—", "|", "~~~"]}, {}),
    ],
)
def test_a_page_without_text_that_can_be_read_has_none(page, texts, confidence):
    assert recognised(page, FakeEngine(texts, confidence), 10) is None


def test_words_without_confidence_are_left_out(page):
    class Engine(FakeEngine):
        def words(self, picture, language, seconds):
            first, *others = super().words(picture, language, seconds)
            return [SeenWord("§§", first.box, 0.1, 0), first, *others]

    assert recognised(page, Engine({"eng": ENGLISH}), 10).text.startswith("Net sales")


def test_a_page_that_is_not_drawn_has_no_text(monkeypatch, page):
    monkeypatch.setattr("pipelines.recognition.draw", lambda *_: None)
    assert recognised(page, FakeEngine({"eng": ENGLISH}), 10) is None


def test_letters_and_digits_are_counted_and_wide_characters_found():
    assert readable("4 % of 日本_!") == 5
    assert has_wide("the 日 sign")
    assert not has_wide("the sun")


def test_a_picture_is_what_the_engine_is_shown(page):
    engine = FakeEngine({"eng": ENGLISH})
    recognised(page, engine, 10)
    (_, picture) = engine.shown[0]
    assert isinstance(picture, Picture)
    assert picture.dpi == pytest.approx(200)
    assert engine.seconds == [10]
