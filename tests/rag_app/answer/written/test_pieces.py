"""Summaries and questions by a model over the real protocol."""

from __future__ import annotations

import re

from rag_app.answer.written.pieces import PieceWriter, WrittenPieces
from rag_app.models.llm.client import load_llm
from rag_app.settings import Settings
from tests.support.openai_server import OpenAIServer, Reply, Request
from tests.support.passages import node

PASSAGE = node("The valve opens at 4.2 bar. Its body is made of bronze.").node


def write(*replies: Reply) -> WrittenPieces:
    with OpenAIServer(*replies) as server:
        llm = load_llm(Settings(llm="like:test", llm_base_url=server.url))
        assert llm is not None
        (written,) = PieceWriter(llm)([PASSAGE])
    return written


def texts(written: WrittenPieces) -> list[str]:
    return [piece.text for piece in written.pieces]


def test_a_summary_and_questions_become_pieces() -> None:
    written = write(Reply("It is a valve."), Reply("1. When does it open?\n2. Of what is it?"))
    assert written.error is None
    assert texts(written) == ["It is a valve.", "When does it open?", "Of what is it?"]


def test_pieces_that_the_token_limit_cut_are_left_out() -> None:
    summary = Reply("It is a valve. It opens at", finish="length")
    questions = Reply("1. When does it open?\n2. Of what is", finish="length")
    assert texts(write(summary, questions)) == ["It is a valve.", "When does it open?"]


def test_half_a_sentence_is_a_better_summary_than_none() -> None:
    written = write(Reply("It is a valve that", finish="length"), Reply(""))
    assert texts(written) == ["It is a valve that"]


def test_marks_of_the_fence_are_no_part_of_a_piece() -> None:
    def echo(request: Request) -> Reply:
        (fence,) = set(re.findall(r"</(passage-\w+)>", request.prompt))
        return Reply(f'<{fence} number="1" source="">\nIt is a valve.\n</{fence}>')

    with OpenAIServer(echo) as server:
        llm = load_llm(Settings(llm="like:test", llm_base_url=server.url))
        assert llm is not None
        (written,) = PieceWriter(llm)([PASSAGE])
    assert texts(written) == ["It is a valve."]
