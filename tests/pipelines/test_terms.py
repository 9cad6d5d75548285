import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.text import content_words, search_terms

TEXT = st.text(st.characters(codec=None), max_size=200)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The companies' revenues grew", ["compani", "revenu", "grew"]),
        ("Nestlé café", ["nestl", "cafe"]),
        ("don't", []),
        ("日本の首都", ["日", "本", "の", "首", "都", "日本", "本の", "の首", "首都"]),
        ("日\n本", ["日", "本", "日本"]),
        ("Привет, мир!", ["привет", "мир"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("日本IBM社", ["日", "本", "日本", "ibm", "社"]),
        ("… — !", []),
        ("", []),
    ],
)
def test_words_of_each_script_become_its_terms(text, terms):
    assert search_terms(text) == terms


@pytest.mark.parametrize(
    ("query", "text", "others"),
    [
        ("第12条", "本規約第12条の規定", ["第1条と第2条", "12日", "第112条"]),
        ("USB-C", "A USB‑C port", ["USB and HDMI", "USB-A"]),
        ("3M", "3M Company", ["3 M", "3MB"]),
        ("C++", "written in C++.", ["written in C", "C#"]),
        ("§ 4.2(b)", "see §4.2(b),", ["§ 4.2(a)", "4.2"]),
        ("4,200,000", "USD 4,200,000.", ["4,200", "42,000,000"]),
        ("4.2", "grew to $4.2 million", ["42", "4.20"]),
        ("2018-03-31", "as of 2018-03-31", ["2018-03-30", "31 March 2018"]),
        ("AX-450/B", "part AX-450/B;", ["AX-450/C", "AX-45/B"]),
        ("12.5%", "rose 12.5 % or 12.5%", ["125%", "12%"]),
    ],
)
def test_an_exact_identifier_has_a_term_that_only_it_has(query, text, others):
    found = set(search_terms(query)) & set(search_terms(text))
    for other in others:
        assert found - set(search_terms(other)), (found, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＡＸ－４５０／Ｂ", "AX-450/B"),
        ("ﬁnancial ﬂow", "financial flow"),
        ("ﾃﾞｰﾀ ｶﾀｶﾅ", "データ カタカナ"),
        ("１２，３４５円", "12,345円"),
        (unicodedata.normalize("NFD", "Nestlé がぎぐ"), "Nestlé がぎぐ"),
        ("2018–2019", "2018-2019"),
        ("company’s", "company's"),
        ("co\u00adoperation", "cooperation"),
        ("AX450B", "AX-450/B"),
        ("4200000", "4,200,000"),
    ],
)
def test_other_unicode_forms_share_their_first_term(one, other):
    """Case 24: full-width letters, ligatures, half-width katakana are found."""
    assert search_terms(one)[0] == search_terms(other)[0]


def test_query_in_other_unicode_form_has_exactly_the_terms_of_the_text():
    """Case 24."""
    assert search_terms("ｶﾀｶﾅ ﬁne ＵＳＢ－Ｃ") == search_terms("カタカナ fine USB-C")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("國立圖書館", "国立図書館"),
        ("渡邊課長", "渡辺課長"),
        ("渡邉課長", "渡邊課長"),
        ("髙橋と山﨑", "高橋と山崎"),
        (unicodedata.normalize("NFKC", "⼾籍"), "戸籍"),
        ("\ufa5f\ufa1e\ufa19", unicodedata.normalize("NFKC", "\ufa5f\ufa1e\ufa19")),
        ("齋藤\U000e0101", "斎藤"),
    ],
)
def test_old_and_new_kanji_have_the_same_terms(one, other):
    assert search_terms(one) == search_terms(other)
    assert content_words(one) == content_words(other)


@pytest.mark.parametrize("text", ["infor-\nmation", "in the infor- \n  mation age", "infor-mation"])
def test_a_word_hyphenated_at_a_line_end_is_found_whole(text):
    assert search_terms("information") == ["inform"]
    assert {"inform", "infor", "mation"} <= set(search_terms(text))


def test_a_japanese_sentence_is_many_terms_and_found_by_its_words():
    """Case 2: the stock pattern makes a Japanese sentence one token that nothing matches."""
    sentences = ["東京は日本の首都です。", "大阪は商業の街です。", "富士山は高い山です。"]
    query = set(search_terms("日本の首都"))
    shared = [len(query & set(search_terms(sentence))) for sentence in sentences]
    assert shared[0] > max(shared[1:]) >= 0


@given(TEXT)
def test_terms_are_visible_folded_and_the_same_each_time(text):
    terms = search_terms(text)
    assert terms == search_terms(text)
    assert all(term and not term.isspace() and " " not in term for term in terms)


@given(TEXT, TEXT)
def test_terms_of_two_paragraphs_are_those_of_each(one, other):
    joined = search_terms(f"{one}。\n\nx\n\n{other}")
    assert len(joined) >= len(search_terms(other))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What was the company's revenue in 2018?", ["compani", "revenu", "2018"]),
        ("日本の首都はどこですか", ["日本", "首都"]),
        ("りんごはいくらですか", ["りん", "んご"]),
        ("保証期間は何年ですか？", ["保証", "証期", "期間", "年"]),
        ("How are you?", []),
        ("はいくらですか", []),
    ],
)
def test_content_words_leave_out_what_only_asks_or_links(question, words):
    assert content_words(question) == words


@given(TEXT)
def test_content_words_never_fail(text):
    assert all(content_words(text))
