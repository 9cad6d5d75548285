from __future__ import annotations

import pytest

from rag_app.retrieval.language import knows


@pytest.mark.parametrize(
    ("text", "latin", "cjk"),
    [
        ("How is the valve tested?", True, False),
        ("日本の首都はどこですか。", False, True),
        ("東京のGDPとCPI", False, True),
        ("Oncorhynchus ketaを日本語で？", False, True),
        ("American Society for Testing Materials日本語", False, True),
        ("What is a 契約?", True, False),
        ("What does 第12条 say about termination?", True, False),
        ("Где насос?", False, False),
        ("2018 / 4.2 %", True, True),
        ("", True, True),
        ("Ｆｕｌｌ ｗｉｄｔｈ", True, False),
        ("서울의 날씨", False, False),
    ],
)
def test_a_model_knows_a_text_when_half_of_what_it_says_is_in_its_scripts(text, latin, cjk):
    assert knows(("latin",), text) is latin
    assert knows(("cjk",), text) is cjk
    assert knows(("*",), text)
    assert knows(("latin", "cjk"), text) is (latin or cjk)
