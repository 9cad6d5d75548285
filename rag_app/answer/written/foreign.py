"""Whether a statement is in another language than what it cites."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.text import language_name, script_of
from rag_app.answer.written.claim import Claim
from rag_app.answer.written.evidence_shares import MIN_NEARER_SHARE
from rag_app.answer.written.segments import words_of
from rag_app.answer.written.sent_passage import SentPassage


def is_foreign(claim: Claim, sources: Sequence[SentPassage]) -> bool:
    """Tell whether a statement is in another language than all its sources."""
    script, language = script_of(claim.text), language_name(claim.text)
    if script == "none":
        return False
    for source in sources:
        theirs = source.language
        if script == theirs[0] and (script != "latin" or _is_alike(claim, source, language)):
            return False
    return True


def _is_alike(claim: Claim, source: SentPassage, language: str) -> bool:
    accented = any(letter.isalpha() and letter > "\x7f" for letter in claim.text)
    unknown = language == "a language in Latin script" and not accented
    if unknown or language == source.language[1]:
        return True
    tokens = (token for one in claim.segments for name in one.names for token in name.tokens)
    named = words_of(" ".join(tokens))
    return claim.share(claim.words - named, source.words) >= MIN_NEARER_SHARE
