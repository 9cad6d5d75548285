"""Analysers, which make search terms of a text: the default one, and further ones by name.

The default counts the terms of every kind of node. A further analyser makes one more list
of terms over the parents that it serves, which BM25 ranks beside the default's. To add one,
write a module with its class and name the class in ``FURTHER``: a pipeline and a strategy
of its name, what the index records of it, and what ``rag info`` says follow from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

from pipelines.content import content_words
from pipelines.errors import IndexMismatchError
from pipelines.scripts import scripts_in
from pipelines.sudachi import SudachiAnalyser
from pipelines.terms import TERMS_VERSION, search_terms

ALL_SCRIPTS = frozenset(("*",))
# Where kana and han begin: characters that are written without spaces.
_FIRST_CJK = "\u2e80"


class Analyser(Protocol):
    """Makes search terms of texts, and says which texts it serves."""

    @property
    def name(self) -> str:
        """What its list, its pipeline and its strategy are called."""
        ...

    @property
    def scripts(self) -> frozenset[str]:
        """The scripts of the questions that it serves; ``{"*"}``: all."""
        ...

    @property
    def weight(self) -> float:
        """The weight of its list in the fusion; each list of ``hybrid`` has 1."""
        ...

    def fingerprint(self) -> str:
        """Return what decides the terms: the rule's version, and packages as ``name==version``.

        Raises:
            ConfigError: a package is not installed; the error names the command.
        """
        ...

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in reading order, repeated as often as they occur."""
        ...

    def query_terms(self, question: str) -> list[str]:
        """Return the terms that BM25 looks for; a repeated term counts as often."""
        ...

    def serves_document(self, text: str) -> bool:
        """Tell whether any passage of a document may have terms."""
        ...

    def serves_passage(self, text: str) -> bool:
        """Tell whether a passage of a document that is served has terms."""
        ...


class StemAnalyser:
    """The default: English stems, one and two characters of kana and han (``pipelines.terms``)."""

    name = "stems"
    scripts = ALL_SCRIPTS
    weight = 1.0

    def fingerprint(self) -> str:
        """Return the version of the rule."""
        return TERMS_VERSION

    def terms(self, text: str) -> list[str]:
        """Return the stems and grams of a text."""
        return search_terms(text)

    def query_terms(self, question: str) -> list[str]:
        """Return the terms of a question; Japanese and Chinese content words count twice.

        Single characters and grams with inflection help to tell passages apart, and matter
        less. Measured against the terms as they stand: nDCG@10 +.009 [.002, .016] on JaQuAD,
        +.003 [.000, .007] on JSQuAD. In English the same gives nothing.
        """
        terms = search_terms(question)
        if any(term[0] >= _FIRST_CJK for term in terms):
            terms += content_words(question)
        return terms

    def serves_document(self, text: str) -> bool:
        """Return True: it knows every script."""
        return True

    def serves_passage(self, text: str) -> bool:
        """Return True: it knows every script."""
        return True


DEFAULT: Analyser = StemAnalyser()
_FURTHER: tuple[Analyser, ...] = (SudachiAnalyser(),)
FURTHER: Mapping[str, Analyser] = MappingProxyType({one.name: one for one in _FURTHER})
"""The further analysers by name, which is also the kind of their list in an index."""


def analyser_of(kind: str) -> Analyser:
    """Return the analyser that makes the terms of a kind of nodes, or of a further list."""
    return FURTHER.get(kind, DEFAULT)


def query_terms(question: str, kind: str = "parent") -> list[str]:
    """Return the terms that BM25 looks for in a kind of nodes, or in a further list.

    A question in a script that the list's analyser does not serve has none.
    """
    analyser = analyser_of(kind)
    known = analyser.scripts
    if known != ALL_SCRIPTS and not known & scripts_in(question).keys():
        return []
    return analyser.query_terms(question)


def fingerprints(
    lists: Iterable[str], recorded: Mapping[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Return name and fingerprint of each further analyser among some lists.

    Args:
        lists: kinds of nodes and names of further lists; kinds are passed over.
        recorded: fingerprints that an index records, by name.

    Raises:
        ConfigError: a package of an analyser is not installed.
        IndexMismatchError: a list was made with other versions than this machine has.
    """
    before = recorded or {}
    return tuple(
        (name, _agreed(FURTHER[name], before.get(name, ""))) for name in lists if name in FURTHER
    )


def _agreed(analyser: Analyser, recorded: str) -> str:
    here = analyser.fingerprint()
    if recorded in ("", here):
        return here
    packages = " ".join(part for part in recorded.split() if "==" in part)
    install = f"pip install {packages}, or " if packages else ""
    raise IndexMismatchError(
        f"the index's terms by {analyser.name} were made with {recorded!r}; "
        f"this machine has {here!r}",
        hint=f"{install}ingest into a new index",
    )
