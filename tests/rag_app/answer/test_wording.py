"""What a question asks, and for which kind of thing."""

from __future__ import annotations

import pytest

from rag_app.answer.wording import holds, wording_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who is the chair?", "person"),
        ("whos the boss", "person"),
        ("When did they meet?", "time"),
        ("what time does it open", "time"),
        ("Where is the key?", "place"),
        ("How much is it?", "amount"),
        ("how many ppl came", "count"),
        ("How long is the guarantee?", "duration"),
        ("how heavy is it", "measure"),
        ("Is it free?", "yes_no"),
        ("dividend?", "any"),
        ("who stopped the work when it sank", "person"),
        ("会議はいつですか", "time"),
        ("会場はどこですか", "place"),
        ("議長は誰", "person"),
        ("料金はいくら", "amount"),
        ("参加者は何人", "count"),
        ("修理にどれくらいかかる", "measure"),
        ("お昼休みは何時から", "time"),
        ("副業してもいいですか", "yes_no"),
    ],
)
def test_a_question_asks_for_a_kind_of_thing(question, kind):
    assert wording_of(question).kind == kind


@pytest.mark.parametrize(
    ("kind", "text", "there"),
    [
        ("time", "The council met on 4 March.", True),
        ("time", "The council met in the hall.", False),
        ("time", "次回は十月十日に開く。", True),
        ("person", "Mrs. Tarrant took the chair.", True),
        ("person", "the bridge was closed.", False),
        ("amount", "Repairs will cost £46,500.", True),
        ("amount", "Repairs will be costly.", False),
        ("amount", "一点につき六百円である。", True),
        ("count", "Eleven members came.", True),
        ("count", "返品は十七件あった。", True),
        ("duration", "It lasts for two years.", True),
        ("duration", "修理には一週間かかる。", True),
        ("measure", "Weight 2.85 kg", True),
        ("any", "anything", True),
        ("yes_no", "anything", True),
    ],
)
def test_a_text_holds_a_thing_of_a_kind_or_not(kind, text, there):
    assert holds(kind, text) is there


@pytest.mark.parametrize(
    "question",
    [
        "What was the COGS in 2016? Answer in USD millions. Please use the statement of income.",
        "Hello! What was the COGS in 2016, please? Thank you in advance.",
        "What was the COGS in 2016? If COGS is not a useful metric, then state that and why.",
    ],
)
def test_instructions_and_courtesy_are_no_part_of_what_is_asked(question):
    assert wording_of(question).asked.rstrip(" ?,") == "what was the cogs in 2016"


def test_letter_spaced_japanese_is_read_as_written_together():
    assert wording_of("始 業 時 刻 は い つ").asked == "始業時刻はいつ"


@pytest.mark.parametrize("question", ["please", "thanks!!!", "?", "お願いします"])
def test_of_a_question_that_is_nothing_but_courtesy_something_stays(question):
    assert wording_of(question).asked
