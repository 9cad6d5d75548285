from __future__ import annotations

import pytest

from pipelines.quantities import asks_for_quantity


@pytest.mark.parametrize(
    "question",
    [
        "How much did the ground works cost?",
        "HOW MANY passengers were carried?",
        "What is the maximum pressure of the valve?",
        "What was the ratio of debt to equity?",
        "Did net sales grow between 2021 and 2022?",
        "Which segment had the highest margin?",
        "What share is 5%?",
        "Is the fee above €20?",
        "How long is the notice period?",
        "売上高はいくらですか。",
        "従業員は何人いますか。",
        "営業利益率は前年比でどう変わりましたか。",
        "最大出力を教えてください。",
        "離職率は?",
        "平均勤続年数は何年ですか。",
    ],
)
def test_a_question_that_is_answered_by_a_number_asks_for_a_quantity(question):
    assert asks_for_quantity(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who is the auditor?",
        "How does one open the valve?",
        "Why was the pier closed?",
        "When does the contract end?",
        "Summarise the safety rules.",
        "社長は誰ですか。",
        "なぜ桟橋は閉鎖されましたか。",
        "弁の開け方を教えてください。",
        "",
        "???",
    ],
)
def test_a_question_that_is_answered_by_words_does_not(question):
    assert not asks_for_quantity(question)


def test_a_word_counts_as_a_whole():
    assert not asks_for_quantity("Who wrote the summary of the discount?")
