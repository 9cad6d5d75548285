"""Each statement that a model wrote, against the passages that it cites.

We choose the evidence, not the model: the sentences and rows of the cited passages that
hold the statement's facts, and most of its words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_app.answer.citations import UNVERIFIED_QUOTE, CitationBook
from rag_app.answer.response import AnswerSentence, CitedQuote, Support
from rag_app.answer.written.claim import Claim
from rag_app.answer.written.comparison import compare
from rag_app.answer.written.evidence_units import EvidenceUnit
from rag_app.answer.written.findings import ClaimCheck
from rag_app.answer.written.marks import MarkedSentence
from rag_app.answer.written.names import tokens
from rag_app.answer.written.numerals import prepared
from rag_app.answer.written.segments import words_of
from rag_app.answer.written.sent_passage import SentPassage
from rag_app.answer.written.statements import plain

NO_CITATION = "the model cites no passage here, and none was found that holds it"
NEAREST_CITED = "the model cites no passage here: the one that holds it was found by its words"


class SentenceChecker:
    """Turns marked sentences into checked ones.

    Args:
        sent: the passages, in the order of the numbers that the model was given.
        book: where citations are numbered.
        weights: IDF weights of the answer's words.
        question: that is answered: what it names is no news.
    """

    def __init__(
        self,
        sent: Sequence[SentPassage],
        book: CitationBook,
        weights: Mapping[str, float],
        question: str,
    ) -> None:
        self._sent = sent
        self._book = book
        self._weights = weights
        self._known = frozenset(tokens(question))
        self._asked = words_of(prepared(question))

    def check(self, sentence: MarkedSentence) -> AnswerSentence:
        """Return a statement with its citations, its evidence, and what failed."""
        claim = Claim(plain(sentence.text), self._weights, self._known, self._asked)
        problems = [f"it cites [{number}], which is no passage" for number in sentence.invented]
        notes: list[str] = []
        if sentence.cited:
            finding = compare(claim, [self._sent[number - 1] for number in sentence.cited])
        else:
            finding = self._searched(claim, sentence.nearby)
            (notes if finding.evidence else problems).append(
                NEAREST_CITED if finding.evidence else NO_CITATION
            )
        problems += finding.problems
        evidence = self._shown(finding)
        problems += [UNVERIFIED_QUOTE for one in evidence if not one.quote.verified]
        numbers = [self._number(number) for number in sentence.cited]
        numbers = list(dict.fromkeys([*numbers, *(one.citation for one in evidence)]))
        distinct = list(dict.fromkeys(problems))
        support: Support = "quoted" if finding.quoted else "supported"
        if distinct or not numbers:
            support = "unsupported"
        return AnswerSentence(
            sentence.text, numbers, support, distinct, [*notes, *finding.notes], evidence
        )

    def _searched(self, claim: Claim, nearby: Sequence[int]) -> ClaimCheck:
        """Return the finding of the passage that holds an uncited statement best.

        The passages that its neighbours cite are asked first, then each of the others.
        """
        around = [self._sent[number - 1] for number in nearby]
        if around and not (finding := compare(claim, around)).problems:
            return finding
        alone = [compare(claim, [source]) for source in self._sent]
        best = min(alone, key=lambda one: len(one.problems), default=ClaimCheck())
        return best if not best.problems else ClaimCheck(problems=best.problems)

    def _number(self, sent: int) -> int:
        return self._book.number_of(self._sent[sent - 1].passage)

    def _shown(self, finding: ClaimCheck) -> list[CitedQuote]:
        """Record the evidence as quotes of its citations, rows with their heads."""
        shown: list[CitedQuote] = []
        for source, unit in finding.evidence:
            number = self._book.number_of(source.passage)
            for start, end in _spans(unit):
                quote = self._book.quote(source.passage, start, end)
                self._book.add(number, quote)
                if (cited := CitedQuote(number, quote)) not in shown:
                    shown.append(cited)
        return shown


def _spans(unit: EvidenceUnit) -> list[tuple[int, int]]:
    return [(line.start, line.end) for line in (*unit.heads, unit.sentence)]
