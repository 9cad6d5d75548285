"""Evaluation: ask every question once and measure the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from llama_index.core.schema import MetadataMode, NodeWithScore

from pipelines.errors import ConfigError
from pipelines.text import count_tokens
from rag_app import bounds
from rag_app.bounds import shown
from rag_app.evaluation.bootstrap import RESAMPLES
from rag_app.evaluation.metrics import coverage, judge, pages_of
from rag_app.evaluation.questions import Question
from rag_app.evaluation.report import EvaluationReport, QuestionResult

KS = (1, 3, 5, 10)
BUDGETS = (1000, 2000, 4000)
_WHOLE = 0.8

PageText = Callable[[str, int], str]


def evaluate(
    retriever: Any,
    questions: Iterable[Question],
    *,
    name: str = "",
    ks: Sequence[int] = KS,
    budgets: Sequence[int] = BUDGETS,
    page_text: PageText | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    progress: Callable[[int], None] | None = None,
) -> EvaluationReport:
    """Measure a retriever.

    Per k: ``recall@k``, ``hit@k``, ``mrr@k``, ``ndcg@k`` (see
    :mod:`rag_app.evaluation.metrics`), ``tokens@k`` (tokens read),
    ``pages_per_passage@k``, and, where the words of the evidence are known,
    ``coverage@k`` (their share inside what is read) and ``covered@k`` (1 when
    that is 80 % or more). Per budget of B tokens ``recall_in_B``, ``passages_in_B``
    and the two of coverage: passages are read whole, in order, until the next one
    does not fit; the first is always read. The retriever should return enough of them.

    Our own retrievers run in strict mode: an arm that fails ends the evaluation.

    >>> from rag_app.evaluation import Question
    >>> question = Question("What is the lead time?", id="1", pages=(("report.pdf", 2),))
    >>> with Index.create("reports.idx", exist_ok=True) as index:
    ...     report = index.ingest("report.pdf")
    ...     measured = evaluate(index.as_retriever(), [question], ks=(1,))
    >>> measured.mean("recall@1").mean
    1.0

    Args:
        retriever: any LlamaIndex ``BaseRetriever``.
        questions: those without evidence are counted, not measured.
        name: the retriever's name in the report; by default its class.
        ks: numbers of passages to measure at.
        budgets: in tokens of the tokenizer that chunks the passages.
        page_text: text of a page by file name and number: the evidence where a
            question names pages and not their words.
        seed: of the bootstrap.
        resamples: of the bootstrap.
        progress: called with the number of questions done.

    Raises:
        ConfigError: no question can be measured, or k or a budget is below 1.
    """
    _check(retriever, ks, budgets, seed, resamples)
    as_strict = getattr(retriever, "as_strict", None)
    runner = as_strict() if callable(as_strict) else retriever
    results: list[QuestionResult] = []
    skipped: list[str] = []
    for question in questions:
        if not isinstance(question, Question):
            raise ConfigError(
                f"evaluate(): one of questions is {question!r}",
                hint="each must be a Question: rag_app.evaluation.load_questions reads a file",
            )
        if not question.measurable:
            skipped.append(question.id)
            continue
        started = time.perf_counter()
        nodes = runner.retrieve(question.question)
        seconds = time.perf_counter() - started
        values = _measure(question, nodes, ks, budgets, _evidence(question, page_text))
        results.append(QuestionResult(question.id, question.question, values, seconds))
        if progress is not None:
            progress(len(results) + len(skipped))
    if not results:
        raise ConfigError("no question has evidence", hint="see rag_app/evaluation/questions.py")
    called = name or type(retriever).__name__
    return EvaluationReport(called, tuple(results), tuple(skipped), seed, resamples)


def _check(retriever: object, ks: object, budgets: object, seed: object, resamples: object) -> None:
    if not callable(getattr(retriever, "retrieve", None)):
        raise ConfigError(
            f"evaluate(): retriever is {retriever!r}",
            hint="give a retriever of LlamaIndex, such as Index.as_retriever()",
        )
    for name, sizes, allowed in (("ks", ks, bounds.PASSAGES), ("budgets", budgets, bounds.TOKENS)):
        fits = isinstance(sizes, Sequence) and all(map(allowed.hold, sizes))
        if not fits or (name == "ks" and not sizes):
            raise ConfigError(
                f"evaluate(): {name} is {shown(sizes)}",
                hint=f"give a list; each must be {allowed}",
            )
    for name, number, allowed in (
        ("seed", seed, bounds.SEED),
        ("resamples", resamples, bounds.RESAMPLES),
    ):
        if not allowed.hold(number):
            raise ConfigError(
                f"evaluate(): {name} is {shown(number)}", hint=f"it must be {allowed}"
            )


def _measure(
    question: Question,
    nodes: Sequence[NodeWithScore],
    ks: Sequence[int],
    budgets: Sequence[int],
    evidence: Sequence[str],
) -> dict[str, float]:
    judged = judge(question, nodes)
    texts = [found.node.get_content(metadata_mode=MetadataMode.NONE) for found in nodes]
    tokens = [count_tokens(text) for text in texts]
    values: dict[str, float] = {}
    for k in ks:
        values[f"recall@{k}"] = judged.recall(k)
        values[f"hit@{k}"] = judged.hit(k)
        values[f"mrr@{k}"] = judged.reciprocal_rank(k)
        values[f"ndcg@{k}"] = judged.ndcg(k)
        values[f"tokens@{k}"] = float(sum(tokens[:k]))
        if question.pages and nodes:
            values[f"pages_per_passage@{k}"] = _mean_pages(nodes[:k])
        values |= _coverages(evidence, texts[:k], f"@{k}")
    for budget in budgets:
        fit = _fitting(tokens, budget)
        values[f"recall_in_{budget}"] = judge(question, nodes[:fit]).recall(max(fit, 1))
        values[f"passages_in_{budget}"] = float(fit)
        values |= _coverages(evidence, texts[:fit], f"_in_{budget}")
    return values


def _fitting(tokens: Sequence[int], budget: int) -> int:
    """Return how many passages fit into the budget as a whole, at least one."""
    used = 0
    for count, size in enumerate(tokens):
        used += size
        if used > budget:
            return max(count, 1)
    return len(tokens)


def _coverages(evidence: Sequence[str], texts: Sequence[str], suffix: str) -> dict[str, float]:
    if not evidence:
        return {}
    share = coverage(evidence, texts)
    return {f"coverage{suffix}": share, f"covered{suffix}": float(share >= _WHOLE)}


def _mean_pages(nodes: Sequence[NodeWithScore]) -> float:
    return sum(len(pages_of(found.node)) for found in nodes) / len(nodes)


def _evidence(question: Question, page_text: PageText | None) -> list[str]:
    if question.texts or page_text is None:
        return list(question.texts)
    return [page_text(file, page) for file, page in question.pages]
