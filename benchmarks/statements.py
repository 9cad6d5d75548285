"""Which statements of a model are believed: right ones should be, wrong ones should not.

::

    RAG_EVAL_DATA=… .venv/bin/python -m benchmarks.statements [--show]

A statement is what a model might answer, written by hand with a note whether it is right.
It is given back by a model that says nothing else, and goes through the query engine like
any answer. *Believed*: every sentence of the answer is marked ``verified``. *Flagged*: some
is not. Statements whose hash is even decide how the checks are made; the others are
reported. ``--show`` prints the misjudged ones of the deciding half.

``statement_set/`` holds our own, over documents written for them; the set ``claims`` of
``RAG_EVAL_DATA`` is about ``data/``. In ``says``, ``[@words]`` stands for the mark of the
passage with these words, ``[!words]`` for that of one without them, ``{n}`` and ``{fw}`` for
the number of the passage with "14 pence a share", in half-width and full-width digits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.schema import BaseNode, Document, NodeWithScore, QueryBundle

from benchmarks import datasets
from benchmarks.runs import RESULTS
from benchmarks.tables import markdown, with_interval
from pipelines.text import normalise
from rag_app import Index
from rag_app.answer.engine import CitedQueryEngine
from rag_app.answer.response import Answer
from rag_app.evaluation.bootstrap import interval

FILE = RESULTS / "statements.json"
OWN = Path(__file__).parent / "statement_set"
SAMPLES = Path(__file__).parents[1] / "data"
CLAIMS = "claims"
PASSAGES = 5
HALVES = ("decide", "report")
_WHERE = re.compile(r"\[([@!])([^\]]*)\]")
_USUAL_WORDS = "14 pence a share"
_WIDE = str.maketrans("0123456789", "０１２３４５６７８９")


@dataclass(frozen=True)
class Statement:
    """What a model says, and whether it is right.

    Attributes:
        question: that it answers.
        says: its words, with placeholders for numbers of passages.
        right: whether it should be believed.
        kind: what is right or wrong about it, in words.
        document: the document that it is about; ``""``: any of the samples.
    """

    question: str
    says: str
    right: bool
    kind: str
    document: str = ""

    @property
    def half(self) -> str:
        """``decide`` or ``report``, by a hash of its words."""
        return HALVES[hashlib.sha256(self.says.encode()).digest()[0] % 2]

    @property
    def language(self) -> str:
        """``ja`` or ``en`` (which stands for all others)."""
        return (
            "en" if self.says.isascii() or not re.search(r"[ぁ-んァ-ヶ一-龯]", self.says) else "ja"
        )


@dataclass(frozen=True)
class Judged:
    """A statement as the engine took it: ``problems`` are of all its sentences."""

    statement: Statement
    believed: bool
    problems: tuple[str, ...]

    @property
    def misjudged(self) -> bool:
        """Whether it was believed though wrong, or flagged though right."""
        return self.believed != self.statement.right


class Speaker(CustomLLM):
    """A model that says what it was given, whatever it is asked."""

    text: str

    @property
    def metadata(self) -> LLMMetadata:
        """A window that all passages fit in."""
        return LLMMetadata(context_window=100_000, num_output=512, model_name="speaker")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Return the text."""
        return CompletionResponse(text=self.text)

    @llm_completion_callback()
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Yield the text in one piece."""
        yield CompletionResponse(text=self.text, delta=self.text)


class Given(BaseRetriever):
    """Returns passages that were chosen before."""

    def __init__(self, nodes: Sequence[BaseNode]) -> None:
        self._nodes = nodes
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=node, score=1 / n) for n, node in enumerate(self._nodes, 1)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.statements", description=__doc__)
    parser.add_argument("--show", action="store_true", help="print what is misjudged (decide)")
    options = parser.parse_args(arguments)
    sets = {"own": list(_judged_own())}
    try:
        sets[CLAIMS] = list(_judged_claims(datasets.data_root() / CLAIMS / "dev.jsonl"))
    except datasets.DataMissingError as reason:
        print(f"without the set {CLAIMS}: {reason}")
    results: dict[str, Any] = {
        "command": "RAG_EVAL_DATA=… python -m benchmarks.statements",
        # What earlier checks made of them, for which any number of a passage would do.
        "before": json.loads(FILE.read_text(encoding="utf-8"))["before"],
        "sets": {},
    }
    for name, judged in sets.items():
        results["sets"][name] = summary(judged)
        print(f"\n{name}: {len(judged)} statements\n\n{table(results['sets'][name])}")
        if options.show:
            _show(judged)
    FILE.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def read(path: Path) -> list[Statement]:
    """Return the statements of a file (JSON Lines)."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Statement(row["question"], row["says"], row["right"], row["kind"], row.get("document", ""))
        for row in rows
    ]


def summary(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return, by half, the share of wrong statements believed and of right ones flagged."""
    found: dict[str, Any] = {}
    for half in HALVES:
        mine = [one for one in judged if one.statement.half == half]
        found[half] = {
            "wrong believed": _share([one for one in mine if not one.statement.right]),
            "right flagged": _share([one for one in mine if one.statement.right]),
            "by language": {
                language: _counts([one for one in mine if one.statement.language == language])
                for language in ("en", "ja")
            },
            "by kind": {
                kind: _counts([one for one in mine if one.statement.kind == kind])
                for kind in sorted({one.statement.kind for one in mine if one.misjudged})
            },
        }
    return found


def table(entry: dict[str, Any]) -> str:
    """Return the figures of a set as a Markdown table."""
    rows = [
        [
            half,
            with_interval(entry[half]["wrong believed"]),
            with_interval(entry[half]["right flagged"]),
        ]
        for half in HALVES
    ]
    return markdown(["half", "wrong, believed", "right, flagged"], rows)


def judge(statement: Statement, nodes: Sequence[BaseNode], index: Index) -> Judged:
    """Let a model say a statement about passages, and return what becomes of it."""
    llm = Speaker(text=_said(statement.says, [node.get_content() for node in nodes]))
    engine = CitedQueryEngine(Given(nodes), llm=llm, stores={"": index.store})
    answer = engine.query(statement.question)
    if not isinstance(answer, Answer):
        raise TypeError(f"{type(answer).__name__} is no answer")
    believed = bool(answer.sentences) and all(one.verified for one in answer.sentences)
    problems = [problem for one in answer.sentences for problem in one.problems]
    return Judged(statement, believed, tuple(problems) or (answer.outcome,))


def _judged_own() -> Iterator[Judged]:
    documents = [
        Document(text=path.read_text(encoding="utf-8"), id_=path.name)
        for path in sorted((OWN / "documents").iterdir())
    ]
    yield from _judged(read(OWN / "statements.jsonl"), [documents])


def _judged_claims(path: Path) -> Iterator[Judged]:
    if not path.exists():
        raise datasets.DataMissingError(f"{path} is not there")
    yield from _judged(read(path), [SAMPLES])


def _judged(statements: Sequence[Statement], inputs: Sequence[Any]) -> Iterator[Judged]:
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        Index.create(Path(folder) / "index", pipelines=["bm25"]) as index,
    ):
        index.ingest(*inputs)
        nodes = _parents(index)
        for statement in statements:
            yield judge(statement, _passages(statement, nodes), index)


def _parents(index: Index) -> list[BaseNode]:
    with index.store.snapshot() as snapshot:
        return [
            node
            for source in snapshot.sources()
            for node in snapshot.export(source.content_hash).nodes
            if node.metadata["kind"] == "parent"
        ]


def _passages(statement: Statement, nodes: Sequence[BaseNode]) -> list[BaseNode]:
    """Return the passages that a statement speaks of, behind one and before some others.

    The others are taken in turn from the whole, so that another document is among them.
    """
    words = [m[2] for m in _WHERE.finditer(statement.says)] or [_USUAL_WORDS]
    texts = [_squashed(node.get_content()) for node in nodes]
    holding = {next(n for n, text in enumerate(texts) if _squashed(word) in text) for word in words}
    first = min(holding)
    others = [
        n % len(nodes)
        for n in range(first + 1, first + len(nodes))
        if n % len(nodes) not in holding
    ]
    order = [others[-1], *sorted(holding), *others[:-1]]
    return [nodes[n] for n in order[:PASSAGES]]


def _said(says: str, texts: Sequence[str]) -> str:
    squashed = [_squashed(text) for text in texts]

    def number(words: str, *, held: bool) -> int:
        wanted = _squashed(words)
        return next(n for n, text in enumerate(squashed, 1) if (wanted in text) == held)

    said = _WHERE.sub(lambda m: f"[{number(m[2], held=m[1] == '@')}]", says)
    if "{n}" in said or "{fw}" in said:
        usual = str(number(_USUAL_WORDS, held=True))
        said = said.replace("{n}", usual).replace("{fw}", usual.translate(_WIDE))
    return said


def _squashed(text: str) -> str:
    return "".join(normalise(text).split())


def _share(judged: Sequence[Judged]) -> dict[str, float]:
    return {
        **interval([float(one.misjudged) for one in judged]).to_dict(),
        "statements": len(judged),
    }


def _counts(judged: Sequence[Judged]) -> dict[str, int]:
    wrong = [one for one in judged if not one.statement.right]
    right = [one for one in judged if one.statement.right]
    return {
        "wrong": len(wrong),
        "wrong believed": sum(one.misjudged for one in wrong),
        "right": len(right),
        "right flagged": sum(one.misjudged for one in right),
    }


def _show(judged: Sequence[Judged]) -> None:
    for one in judged:
        if one.misjudged and one.statement.half == "decide":
            said = asdict(one.statement)
            fate = "believed" if one.believed else "flagged"
            print(f"- {fate} ({said['kind']}): {said['says']}\n    {'; '.join(one.problems)}")


if __name__ == "__main__":
    raise SystemExit(main())
