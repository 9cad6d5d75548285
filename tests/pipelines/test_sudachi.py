"""Japanese words by the real analyser: one term for a word, in linear time, from any thread."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import sudachi
from pipelines.analysers import fingerprints
from pipelines.errors import ConfigError, IndexMismatchError
from pipelines.sudachi import SudachiAnalyser, sudachi_terms
from tests.support.growth import MAX_GROWTH, growth

SENTENCE = "会社は毎年4月に新しい工場を建てた。"


@pytest.fixture
def rule(monkeypatch):
    """Forget the rule of this machine before and after."""
    sudachi._fingerprint.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    sudachi._fingerprint.cache_clear()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("建てた", "建てる"),
        ("サーバ", "サーバー"),
        ("ｻｰﾊﾞｰ", "サーバー"),
        ("附属", "付属"),
        ("二十五", "25"),
        ("ＵＳＢ", "usb"),
        ("1,000円", "1000円"),
        ("所定労\n働時間", "所定労働時間"),
    ],
)
def test_forms_of_one_word_are_one_term(one, other):
    assert sudachi_terms(one) == sudachi_terms(other) != []


def test_what_only_links_or_inflects_is_no_term():
    assert sudachi_terms("会社はその工場を建てました。") == ["会社", "工場", "建てる"]


def test_a_part_of_a_compound_is_found():
    assert "労働" in sudachi_terms("所定労働時間")


def test_text_without_words_has_no_terms():
    assert sudachi_terms("") == sudachi_terms(" \n。、 …") == []


def test_a_line_of_one_megabyte_is_cut_between_its_sentences():
    """Twenty times what Sudachi takes at once."""
    count = 1_000_000 // len(SENTENCE.encode())
    terms = Counter(sudachi_terms(SENTENCE * count))
    assert terms == {term: n * count for term, n in Counter(sudachi_terms(SENTENCE)).items()}


def test_a_long_line_without_sentences_is_cut_between_its_clauses():
    clause = "会社は工場を建て、"
    count = 30_000
    terms = Counter(sudachi_terms(clause * count))
    assert terms == {term: n * count for term, n in Counter(sudachi_terms(clause)).items()}


@pytest.mark.parametrize(
    "unit", ["あ", "ア", "漢", "9", "a", "😀", "、", "。", "\n", " ", "か\u3099", "\ud800"]
)
def test_any_text_takes_linear_time(unit):
    assert growth(sudachi_terms, lambda size: unit * (size // len(unit)), 6_000) < MAX_GROWTH
    assert all(len(term) <= 64 for term in sudachi_terms(unit * (60_000 // len(unit))))


@settings(max_examples=50)
@given(st.lists(st.text(max_size=30).map(lambda text: f"日本{text}。"), max_size=5))
def test_terms_of_lines_are_those_of_each_line(lines):
    apart = [term for line in lines for term in sudachi_terms(line)]
    # A line that ends within kana and han goes on in the next one, so a sign stands between.
    assert sudachi_terms("\n#\n".join(lines)) == apart


def test_threads_give_the_same_terms():
    texts = [f"{n}番目の{SENTENCE}" * 50 for n in range(16)]
    with ThreadPoolExecutor(8) as executor:
        assert list(executor.map(sudachi_terms, texts)) == [sudachi_terms(t) for t in texts]


def test_japanese_is_told_from_other_scripts():
    serves = SudachiAnalyser().serves_passage
    assert serves(SENTENCE)
    assert serves("iPhone 15の重さ")
    assert not serves("The company 任天堂 was founded in Kyoto.")
    assert not serves("")
    assert SudachiAnalyser().serves_document(SENTENCE)
    assert not SudachiAnalyser().serves_document("公司每年四月建造新工厂。")


def test_rule_names_analyser_and_dictionary_with_their_versions():
    assert SudachiAnalyser().fingerprint().startswith("sudachi-2 sudachipy==")
    assert "sudachidict_small==" in SudachiAnalyser().fingerprint()


def test_missing_extra_when_asked_for_names_the_command(rule):
    def version(name):
        raise PackageNotFoundError(name)

    rule.setattr(sudachi, "version", version)
    with pytest.raises(ConfigError, match="sudachipy") as caught:
        fingerprints(["sudachi"])
    assert caught.value.hint == "pip install sudachipy sudachidict_small"


def test_other_versions_than_recorded_name_those_to_install(rule):
    here = fingerprints(["sudachi"])
    assert fingerprints(["sudachi"], dict(here)) == here
    with pytest.raises(IndexMismatchError) as caught:
        fingerprints(["sudachi"], {"sudachi": "sudachi-2 sudachipy==0.1 sudachidict_small==2020"})
    assert "pip install sudachipy==0.1 sudachidict_small==2020" in caught.value.hint
