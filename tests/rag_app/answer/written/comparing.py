"""A statement compared with one passage, for the tests of each check."""

from __future__ import annotations

from pipelines.text import content_words
from rag_app.answer.written.claim import Claim
from rag_app.answer.written.comparison import compare
from rag_app.answer.written.findings import ClaimCheck, Findings
from rag_app.answer.written.places import Places
from rag_app.answer.written.sent_passage import SentPassage
from rag_app.passages import passages_of, sentences_of
from tests.support.passages import node


def sent(text: str, label: str = "a.pdf") -> SentPassage:
    """Return a text as one passage that was sent."""
    return SentPassage(0, sentences_of(passages_of([node(text)])), label)


def claim_of(said: str) -> Claim:
    """Return a statement in which every word weighs the same."""
    return Claim(said, dict.fromkeys(content_words(said), 1.0))


def compared(said: str, text: str) -> ClaimCheck:
    """Return what all checks together find."""
    return compare(claim_of(said), [sent(text)])


def prepared_check(said: str, text: str) -> tuple[Places, Findings]:
    """Return what one check takes, before any other has run."""
    return Places(claim_of(said), [sent(text)]), Findings()
