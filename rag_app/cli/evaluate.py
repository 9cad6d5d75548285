"""``rag eval``: how well strategies find known evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_app import bounds
from rag_app.cli import options
from rag_app.cli.groups import EmbeddingOptions, OutputOptions, RankingOptions, with_groups
from rag_app.cli.help import examples
from rag_app.cli.session import Session, session

if TYPE_CHECKING:
    from rag_app.cli.sources import Source
    from rag_app.evaluation import EvaluationReport, Question

EXAMPLES = examples(
    "rag eval questions.jsonl",
    "rag eval questions.jsonl --strategy hybrid --strategy bm25 --index reports",
)
_KS = (1, 3, 5, 10)
# So many passages fill the largest token budget, even with short ones.
_MIN_PASSAGES = 30
_SHOWN = ("recall@", "hit@", "mrr@", "ndcg@", "coverage@", "tokens@", "recall_in_")


@with_groups
def evaluate(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS",
            parser=options.a_path,
            help='JSON Lines: "question" and "evidence" ([{"file", "page"}]), or ids of '
            '"documents" or "passages", or "answers" that a right passage contains.',
            show_default=False,
        ),
    ],
    index: options.ManyIndexes = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            "-s",
            metavar="NAME",
            help="Strategy to measure. Repeat it to compare several with the first.",
            rich_help_panel="Search",
            show_default=False,
        ),
    ] = None,
    top_k: Annotated[
        list[int] | None,
        typer.Option(
            "--top-k",
            "-k",
            metavar="N",
            parser=options.number_in(bounds.PASSAGES),
            help=f"Measure at N passages, at most {bounds.PASSAGES.maximum}; 1, 3, 5 and 10 "
            "without this. Repeat it for several.",
            rich_help_panel="Search",
            show_default=False,
        ),
    ] = None,
    *,
    ranking: RankingOptions,
    embedding: EmbeddingOptions,
    output: OutputOptions,
) -> None:
    """Measure strategies on questions whose evidence is known.

    Recall, hit rate, MRR and nDCG at several k and at equal token budgets, each with
    its 95 % interval; several strategies are compared in pairs with the first.
    """
    with session(**asdict(output), **ranking.settings, **embedding.settings) as current:
        from rag_app.cli.sources import indexes
        from rag_app.evaluation import load_questions

        asked = load_questions(questions)
        names = list(dict.fromkeys(strategy or [current.settings.strategy]))
        ks = sorted(set(top_k or _KS))
        with indexes(index or (), current) as source:
            reports = [_measure(name, source, asked, ks, current) for name in names]
        if current.out.json:
            current.out.document(_document(reports))
        else:
            _show(current, reports)


def _measure(
    name: str, source: Source, asked: Sequence[Question], ks: Sequence[int], current: Session
) -> EvaluationReport:
    from rag_app.cli.progress import counter
    from rag_app.evaluation import evaluate as measure

    retriever = source.index.as_retriever(name, similarity_top_k=max(*ks, _MIN_PASSAGES))
    with counter(current.out, len(asked), name) as step:
        return measure(retriever, asked, name=name, ks=ks, progress=lambda _: step())


def _document(reports: Sequence[EvaluationReport]) -> dict[str, Any]:
    return {
        "strategies": [report.to_dict() for report in reports],
        "differences": [
            {
                "strategy": report.name,
                "against": reports[0].name,
                "metrics": {
                    measure: difference.to_dict()
                    for measure, difference in _differences(report, reports[0]).items()
                },
            }
            for report in reports[1:]
        ],
    }


def _differences(report: EvaluationReport, first: EvaluationReport) -> dict[str, Any]:
    from rag_app.evaluation import compare

    return compare(report, first)


def _show(current: Session, reports: Sequence[EvaluationReport]) -> None:
    first, *others = reports
    out = current.out
    skipped = f", {len(first.skipped)} without evidence left out" if first.skipped else ""
    out.text(f"{len(first.results)} questions{skipped}; means with 95 % intervals")
    out.text()
    measures = [name for name in first.measures if name.startswith(_SHOWN)]
    rows = [
        (name, *(_interval(report.mean(name), name) for report in reports)) for name in measures
    ]
    out.table(["measure", *(report.name for report in reports)], rows)
    for report in others:
        differences = _differences(report, first)
        out.text()
        out.text(f"{report.name} minus {first.name}, in pairs")
        out.table(
            ["measure", "difference"],
            [(name, _interval(differences[name], name, sign="+")) for name in measures],
        )


def _interval(value: Any, measure: str, *, sign: str = "") -> str:
    digits = 0 if measure.startswith("tokens@") else 3
    return format(value, f"{sign}.{digits}f")
