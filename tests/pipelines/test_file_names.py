"""Every name has one printable form, which leads back to it."""

from __future__ import annotations

import os
import pickle
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.errors import RagError
from pipelines.file_names import absolute, base_name, forms, meant, original, printable, storable

ANY = st.text(st.characters(exclude_categories=()))
# What a folder lists: any bytes but NUL and "/".
LISTED = st.binary(min_size=1).map(lambda b: b.replace(b"\0", b"?").replace(b"/", b"?"))
HARD = st.text(st.sampled_from("a.\\xu01df \n\x1b\u3000\u202e\udcff/\u0301"), max_size=12)


@given(st.one_of(ANY, HARD))
@example("a\\x0ab.pdf")
@example("\\\\x0a")
@example("  a  b / c ")
def test_any_text_has_a_form_that_leads_back_to_it(name: str) -> None:
    assert original(printable(name)) == name


@given(LISTED)
@example(b"bad\xff\x80.pdf")
@example("gut\u0308.pdf".encode())
def test_any_bytes_that_are_listed_lead_back_to_them(name: bytes) -> None:
    assert os.fsencode(original(printable(name))) == name


@given(st.one_of(ANY, HARD))
def test_form_steers_no_terminal_and_survives_utf8_and_layout(name: str) -> None:
    shown = printable(name)
    assert shown.encode().decode() == shown
    for char in shown:
        assert unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp"), repr(char)
        assert unicodedata.bidirectional(char) not in ("LRE", "RLE", "LRO", "RLO", "LRI", "RLI")
    assert " ".join(shown.replace("\u3000", "_").split(" ")) == shown.replace("\u3000", "_")
    assert shown == shown.strip()
    assert "  " not in shown


@given(st.one_of(ANY, HARD), st.one_of(ANY, HARD))
def test_two_names_never_have_one_form(one: str, other: str) -> None:
    assert (printable(one) == printable(other)) == (one == other)


@given(st.one_of(ANY, HARD), st.one_of(ANY, HARD))
def test_what_is_printed_is_found_first_and_what_is_raw_is_found(one: str, other: str) -> None:
    known = {printable(one), printable(other)}
    assert meant(forms(printable(one)), known) == [printable(one)]
    assert printable(one) in meant(forms(one), {printable(one)})


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("report.pdf", "report.pdf"),
        ("Q1 résumé – 報告　2023.pdf", "Q1 résumé – 報告　2023.pdf"),
        ("a\\b.pdf", "a\\b.pdf"),
        ("a\\x0ab.pdf", "a\\\\x0ab.pdf"),
        ("two\nlines.pdf", "two\\x0alines.pdf"),
        ("\x1b]0;title\x07.pdf", "\\x1b]0;title\\x07.pdf"),
        ("fdp.\u202egpj", "fdp.\\u202egpj"),
        (" a  b .pdf", "\\x20a \\x20b .pdf"),
        (os.fsdecode(b"bad\xff.pdf"), "bad\\xff.pdf"),
        ("\x85.pdf", "\\u0085.pdf"),
        ("\u202f\U000e0041.pdf", "\\u202f\\U000e0041.pdf"),
    ],
)
def test_only_what_would_be_lost_or_would_steer_is_escaped(name: str, shown: str) -> None:
    assert printable(name) == shown


def test_file_name_of_a_path_is_printed_as_it_would_be_alone() -> None:
    assert base_name(printable("/bad\udcff/a\\b.pdf")) == "a\\b.pdf"
    assert base_name("doc-1") == "doc-1"
    assert base_name("") == ""


def test_relative_path_below_a_folder_of_an_odd_name_is_absolute_and_leads_back(
    tmp_path, monkeypatch
) -> None:
    odd = tmp_path / os.fsdecode(b"odd\xff \n")
    odd.mkdir()
    monkeypatch.chdir(odd)
    assert original(absolute("a.pdf")) == str(odd / "a.pdf")


def test_names_that_differ_in_composition_alone_are_all_meant_by_a_third_form() -> None:
    known = ["\u1e69.pdf", "s\u0323\u0307.pdf"]
    assert meant(["s\u0307\u0323.pdf"], known) == known
    assert meant([known[1]], known) == [known[1]]


@given(ANY)
def test_stored_text_is_utf8_and_unchanged_where_it_was(text: str) -> None:
    stored = storable(text)
    assert stored.encode().decode() == stored
    assert stored == text or any("\ud800" <= char <= "\udfff" for char in text)


@given(ANY)
def test_errors_steer_no_terminal_and_are_utf8(text: str) -> None:
    error = RagError(text, hint=text)
    assert str(error).encode().decode() == str(error)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in str(error) if c not in "\n\t")
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.hint) == (error.message, error.hint)
