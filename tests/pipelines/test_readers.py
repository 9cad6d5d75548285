"""The interface of PDF readers: limits, titles and labels."""

import pytest

from pipelines.errors import ConfigError, DamagedError, TooLargeError
from pipelines.readers import (
    DERIVATION,
    MAX_LABEL_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    Limits,
    PageText,
    bounded,
    clean_label,
    clean_title,
    largest_type,
    needs_password,
    reader_fingerprint,
)

PAGES = [PageText("1", "a" * 10), PageText("2", "b" * 10)]


def test_pages_within_the_limits_pass():
    limits = Limits(pages=2, page_characters=10, characters=20)
    assert list(bounded(PAGES, 2, limits)) == PAGES


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (Limits(pages=1), "claims 2 pages"),
        (Limits(page_characters=9), "page 1 unfolds into 10"),
        (Limits(characters=19), "page 2 unfolds into 10 characters, 20 so far"),
    ],
)
def test_pages_beyond_a_limit_raise(limits, says):
    with pytest.raises(TooLargeError, match=says):
        list(bounded(PAGES, 2, limits))


def test_a_file_without_pages_is_damaged():
    with pytest.raises(DamagedError, match="no pages"):
        list(bounded([], 0, Limits()))


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_a_limit_that_is_not_positive_is_refused(wrong):
    with pytest.raises(ConfigError, match="memory_mb"):
        Limits(memory_mb=wrong)


def test_time_and_memory_grow_with_the_size_of_the_file():
    limits = Limits(memory_mb=100, seconds=10, seconds_per_mb=2)
    assert limits.seconds_for(3_000_000) == 16
    assert limits.memory_for(1_000_000) == 102_000_000


def test_the_largest_type_is_a_title_only_where_it_stands_out():
    assert largest_type([(24.0, "Annual Report"), (11.0, "Net sales grew.")]) == "Annual Report"
    assert largest_type([(11.0, "Net sales grew. " * 40)]) == ""


def test_titles_and_labels_are_one_short_line():
    assert clean_title(" A\n title ") == "A title"
    assert len(clean_title("x" * 9999)) == MAX_TITLE_CHARACTERS
    assert len(clean_label("x" * 9999)) == MAX_LABEL_CHARACTERS


def test_a_password_that_does_not_open_a_file_and_a_missing_one_are_told_apart():
    assert "needs a password" in needs_password(None).message
    assert "does not open" in needs_password("secret").message
    assert "secret" not in str(needs_password("secret"))


def test_a_fingerprint_names_the_reader_and_its_version():
    name, version, derivation = reader_fingerprint("pypdf").split("/")
    assert (name, bool(version), derivation.isdigit()) == ("pypdf", True, True)


def test_a_reader_that_is_no_library_has_the_version_of_our_derivation_alone():
    assert reader_fingerprint("no-library-of-this-name") == f"no-library-of-this-name/{DERIVATION}"
