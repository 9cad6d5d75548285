import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.kanji import with_new_kanji


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("國立圖書館の舊館", "国立図書館の旧館"),
        ("渡邊と渡邉", "渡辺と渡辺"),
        ("髙橋、山﨑、濵田、吉\U00020bb7", "高橋、山崎、浜田、吉吉"),
        ("辨護士、花瓣、雄辯", "弁護士、花弁、雄弁"),
        ("⻑野県の⻄部", "長野県の西部"),
        ("葛\U000e0100城", "葛城"),
        ("国立図書館 Annual report 2025", "国立図書館 Annual report 2025"),
        ("", ""),
    ],
)
def test_old_forms_become_the_form_in_use(old, new):
    assert with_new_kanji(old) == new


@given(st.text(st.characters(codec="utf-8")))
def test_what_was_replaced_stays_and_nothing_is_added(text):
    once = with_new_kanji(unicodedata.normalize("NFKC", text))
    assert with_new_kanji(once) == once
    assert len(once) <= len(unicodedata.normalize("NFKC", text))
