"""The facts of a statement against its sources."""

from __future__ import annotations

import pytest

from pipelines.text import content_words
from rag_app.answer.written.claim import Claim
from rag_app.answer.written.comparison import compare
from rag_app.answer.written.sent_passage import SentPassage
from rag_app.passages import passages_of, sentences_of
from tests.support.passages import node

TEXT = "The plant in Kobe was opened in 1998. It made 4,200 pumps in 2019."


def compared(said, text=TEXT):
    sentences = sentences_of(passages_of([node(text)]))
    weights = dict.fromkeys(content_words(said), 1.0)
    return compare(Claim(said, weights), [SentPassage(0, sentences, "a.pdf")])


@pytest.mark.parametrize("said", ["It made 4,200 pumps in 2019.", "The plant was opened in 1998."])
def test_a_statement_whose_facts_stand_in_its_source_has_no_problem(said):
    finding = compared(said)
    assert finding.problems == []
    assert finding.evidence


@pytest.mark.parametrize("said", ["It made 9,999 pumps in 2019.", "The plant was opened in 1975."])
def test_a_fact_that_stands_nowhere_is_a_problem(said):
    assert compared(said).problems


def test_a_sentence_word_for_word_is_a_quotation():
    assert compared("It made 4,200 pumps in 2019.").quoted


REPORT = """Summary income statement (£ thousand)
2025 2024
Revenue 50,900 47,385
Operating profit 5,000 4,924
Organic volume change (%) (0.6) 1.8
The board proposes a dividend of 14 pence a share, unchanged from last year.
Of the 423 sailings that did not leave, 301 were cancelled for weather and 88 for technical faults.
Captain Duncan Reyes retired in September; he is followed by Captain Sunniva Dahl.
The regulator has not opened an inquiry. There were seven accidents (2024: eleven).
"We cannot run a market for cars," Mr. Rhys said. The lease ends on 30 November 2027."""
RULES = """第５条 入社の日から３か月間を試用期間とする。試用期間は勤続年数に通算する。
所定労働時間は、１日７時間４５分とする。介護休業は、通算して１８
０日まで取ることができる。深夜労働の割増率は３０パーセントとする。
図面は、自宅に持ち帰ってはならない。売上高は約２００億ドルとなった。"""


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Revenue was £50,900,000 in 2025, up from £47.4 million in 2024.", REPORT),
        ("Revenue rose by £3,515,000 in 2025, from £47,385,000 to £50,900,000.", REPORT),
        ("Organic volume declined by 0.6% in 2025.", REPORT),
        ("The proposed dividend is £0.14 a share.", REPORT),
        ("301 of the 423 cancelled sailings (71%) were cancelled for weather.", REPORT),
        ("The number of accidents dropped from eleven to seven.", REPORT),
        ("Mr. Rhys said: “We cannot run a market for cars.”", REPORT),
        ("The lease ends on November 30, 2027.", REPORT),
        ("Der Vorstand schlägt eine Dividende von 14 Pence je Aktie vor.", REPORT),
        ("取締役会は1株当たり14ペンスの配当を提案しています。", REPORT),
        ("所定労働時間は1日7.75時間です。", RULES),
        ("介護休業は180日まで取れます。", RULES),
        ("深夜労働の割増率は3割です。", RULES),
        ("売上高は約200億ドルでした。", RULES),
        ("Sales were about $20 billion.", RULES),
    ],
)
def test_what_is_right_in_another_form_is_supported(said, text):
    assert compared(said, text).problems == []


@pytest.mark.parametrize(
    ("said", "named", "text"),
    [
        ("Revenue was £47,385,000 in 2025.", "£47,385,000", REPORT),
        ("Revenue was £50.9 billion in 2025.", "£50.9 billion", REPORT),
        ("Organic volume grew by 0.6% in 2025.", "a rise", REPORT),
        ("The board proposes a dividend of £14 a share.", "£14", REPORT),
        ("The board proposes no dividend.", "denies", REPORT),
        ("The dividend of 14 pence a share is an increase on last year.", "a rise", REPORT),
        ("88 sailings were cancelled for weather.", "88", REPORT),
        ("Captain Sunniva Dahl retired in September.", "Sunniva Dahl", REPORT),
        ("Captain Ottoline Vance retired in September.", "Ottoline Vance", REPORT),
        ("The regulator has opened an inquiry.", "denies", REPORT),
        ("The number of accidents rose from seven to eleven.", "a rise", REPORT),
        ("Mr. Rhys said: “The market has no future.”", "quotation", REPORT),
        ("The lease ends on 30 November 2028.", "30 November 2028", REPORT),
        ("取締役会は1株当たり41ペンスの配当を提案しています。", "41ペンス", REPORT),
        ("試用期間は六か月間です。", "6か月", RULES),
        ("試用期間は勤続年数に通算しない。", "denies", RULES),
        ("深夜労働の割増率は30倍です。", "30倍", RULES),
        ("図面は自宅に持ち帰ることができます。", "denies", RULES),
        ("売上高は約20億ドルでした。", "20億ドル", RULES),
    ],
)
def test_what_is_wrong_is_not_believed_and_the_fact_is_named(said, named, text):
    assert named in "; ".join(compared(said, text).problems)
