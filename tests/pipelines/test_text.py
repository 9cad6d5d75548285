import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.text import normalise, sanitise


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\x00b\x07c", "abc"),
        ("lone \ud83d surrogate", "lone  surrogate"),
        ("a\r\nb\rc\x0cd\u2028e", "a\nb\nc\nd\ne"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("non-character \ufffe\uffff", "non-character "),
        ("日本語 é 😀", "日本語 é 😀"),
    ],
)
def test_sanitise_drops_what_no_text_holds(raw, clean):
    assert sanitise(raw) == clean


@given(st.text(st.characters(codec=None)))
def test_sanitised_text_encodes_and_stays_as_it_is(text):
    clean = sanitise(text)
    clean.encode("utf-8")
    assert "\x00" not in clean
    assert sanitise(clean) == clean


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ﬁnancial", "Financial"),
        ("ＵＳＢ－Ｃ", "usb-c"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("ガ", "か\u3099".replace("か", "カ")),
        ("2018–2019", "2018-2019"),
        ("“it’s”", '"it\'s"'),
        ("grew  to\n$4.2", "grew to $4.2"),
        ("co\u00adoperate", "cooperate"),
        ("Straße", "STRASSE"),
    ],
)
def test_normalise_makes_forms_of_one_text_equal(one, other):
    assert normalise(one) == normalise(other)


@given(st.text())
def test_normalise_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)
