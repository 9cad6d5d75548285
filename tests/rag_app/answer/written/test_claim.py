"""A statement taken apart."""

from __future__ import annotations

from tests.rag_app.answer.written.comparing import claim_of


def test_words_that_only_relate_numbers_are_no_subject_of_a_statement():
    claim = claim_of("Total revenue rose compared with the previous year.")
    assert "revenu" in claim.words
    assert not claim.words & {"total", "compar", "previous"}


def test_the_share_of_words_is_weighted_and_a_word_without_weight_counts_one():
    claim = claim_of("pumps")
    assert claim.share(frozenset({"pumps", "other"}), {"other"}) == 0.5
    assert claim.share(frozenset(), {"other"}) == 0
