"""Whether a model's reply says that the passages do not answer."""

from __future__ import annotations

import pytest

from pipelines.text import sentence_spans
from rag_app.answer.written.citation_marks import MarkReader
from rag_app.answer.written.marks import sentences_with_marks
from rag_app.answer.written.refusals import says_no_answer

TOKEN = "NO_ANSWER"
REFUSALS = """
NO_ANSWER
**NO_ANSWER**
Answer: NO_ANSWER
No answer.
NO_ANSWER. The passages do not say.
I cannot find the answer in the passages.
I couldn’t find any mention of it.
I don't know.
I'm sorry, but I cannot answer this question based on the passages.
Unfortunately, the documents do not mention the price.
The passages do not contain the answer.
The provided passages do not contain information about the ticket price. [1][2]
The text does not specify who wrote it. The passages only talk about ferries.
The context does not provide this information.
There is no information about the colour in the passages.
There isn't any information  about the colour.
Based on the passages provided, I cannot determine the price.
No information about the price is given.
Not mentioned in the passages.
The answer is not in the passages.
記載がありません
文書には社長の名前に関する情報はありません。
社長の名前は記載されていません。
提供された文書からは分かりません。
申し訳ありませんが、該当する情報が見つかりませんでした。
""".strip().splitlines()
STATEMENTS = """
The dividend is 14 pence [1].
The passages do not give a price, but the manual names the part RB-24/2 [1].
I cannot find a price. The part number is RB-24/2 [1].
The contract does not cover lime scale [1].
There is no dividend this year [1].
No dividend was paid in 2020 [1].
The report does not recommend a merger; it recommends seven changes [1].
Nothing is charged to children. [1]
従業員は副業をすることができません。[1]
退職届を出さない者には支給しない。[1]
派遣社員には賞与は支給されていません。[1]
""".strip().splitlines()


def refuses(reply):
    return says_no_answer(reply, sentences_with_marks(reply, sentence_spans, MarkReader(3)), TOKEN)


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_refusal_in_any_words_is_one(reply):
    assert refuses(reply)


@pytest.mark.parametrize("reply", STATEMENTS)
def test_a_negative_statement_of_the_document_is_no_refusal(reply):
    assert not refuses(reply)


def test_an_empty_reply_is_no_refusal():
    assert not refuses("")
