"""Statements in another language than their sources."""

from __future__ import annotations

import pytest

from rag_app.answer.written.foreign import is_foreign
from tests.rag_app.answer.written.comparing import claim_of, sent

ENGLISH = "The board proposes a dividend of 14 pence a share to the meeting."


@pytest.mark.parametrize(
    ("said", "foreign"),
    [
        ("取締役会は配当を提案しています。", True),
        ("Der Vorstand schlägt eine Dividende von 14 Pence je Aktie vor.", True),
        ("The board proposes a dividend.", False),
        ("14", False),
    ],
)
def test_a_statement_is_foreign_where_no_source_is_in_its_language(said, foreign):
    assert is_foreign(claim_of(said), [sent(ENGLISH)]) is foreign
