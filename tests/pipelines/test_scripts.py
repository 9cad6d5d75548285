import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.text import language_name, script_of, scripts_in


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Revenue grew", "latin"),
        ("売上高は増加した", "cjk"),
        ("ｶﾀｶﾅ", "cjk"),
        ("안녕하세요", "hangul"),
        ("Привет мир", "cyrillic"),
        ("Γειά σου", "greek"),
        ("مرحبا", "arabic"),
        ("שלום", "hebrew"),
        ("नमस्ते", "devanagari"),
        ("สวัสดี", "thai"),
        ("გამარჯობა", "other"),
        ("1,234 %", "none"),
        ("", "none"),
    ],
)
def test_script_of_names_the_script_of_most_letters(text, script):
    assert script_of(text) == script


def test_scripts_in_counts_letters_of_each_script_and_no_digits():
    assert scripts_in("IBM 2018 日本") == {"latin": 3, "cjk": 2}


def test_han_beyond_the_first_plane_is_cjk():
    assert scripts_in("𠮷野") == {"cjk": 2}


@given(st.text(st.characters(codec=None)))
def test_scripts_never_count_more_than_there_are_characters(text):
    assert sum(scripts_in(text).values()) <= len(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What was the revenue of the company?", "English"),
        ("when do I get my deposit back pls", "English"),
        ("do i pay council tax", "English"),
        ("O que diz o contrato?", "Portuguese"),
        ("日本の首都はどこですか", "Japanese"),
        ("保証期間", "Japanese"),
        ("退職金制度", "Japanese"),
        ("首都在哪里", "Chinese"),
        ("Какая выручка?", "Russian"),
        ("Який дохід її?", "Ukrainian"),
        ("Wie hoch ist der Umsatz?", "German"),
        ("Quel est le chiffre d'affaires dans les pays?", "French"),
        ("¿Cuál es el ingreso de los países?", "Spanish"),
        ("xyzzy", "a language in Latin script"),
        ("ما هي الإيرادات", "Arabic"),
        ("얼마입니까", "Korean"),
        ("12%", "an unknown language"),
    ],
)
def test_language_name_is_a_name_for_messages(text, language):
    assert language_name(text) == language
