"""``rag ask``: one question or many, to an index or to PDFs named on the command line."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_app.cli import options, show
from rag_app.cli.given import check_source, check_words, is_file, is_folder, pdfs_of, question_of
from rag_app.cli.groups import OutputOptions, SearchOptions, with_groups
from rag_app.cli.help import examples
from rag_app.cli.last_answer import remember
from rag_app.cli.session import ERROR, REFUSED, Leftover, Session, UsageError, session

if TYPE_CHECKING:
    from rag_app.answer.engine import CitedQueryEngine
    from rag_app.cli.sources import Source

EXAMPLES = examples(
    'rag ask "What is the lead time?"',
    'rag ask "What is the lead time?" report.pdf',
    'rag ask "納期は何日ですか" --index reports --llm like:qwen3 \\',
    "        --base-url http://localhost:8000/v1",
    "rag ask --questions questions.txt --index reports --out answers.jsonl",
)
_WORKERS = 4


@dataclass(frozen=True)
class _What:
    """The questions and what they are put to: one of the first, at most one of the others."""

    question: str | None
    questions: str | None
    pdfs: tuple[Path, ...]
    indexes: tuple[Path, ...]


@dataclass(frozen=True)
class _Asking:
    """The questions, their source and the options of the search."""

    what: _What
    search: SearchOptions

    def source(self, current: Session) -> AbstractContextManager[Source]:
        """Open the index or the PDFs."""
        from rag_app.cli.sources import pdfs_or_indexes

        return pdfs_or_indexes(self.what.pdfs, self.what.indexes, current)

    def engine(self, source: Source, *, streaming: bool) -> CitedQueryEngine:
        """Return the query engine."""
        from rag_app.cli.sources import chosen

        with source.index.session() as session:
            filters = chosen(session, self.search.file, self.search.page, self.search.where)
        return source.index.as_query_engine(
            streaming=streaming, filters=filters, queries=self.search.queries or 1
        )


@with_groups
def ask(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION", help="What you want to know; - is stdin.", show_default=False
        ),
    ] = None,
    pdfs: options.Pdfs = None,
    *,
    search: SearchOptions,
    password: options.Password = None,
    ocr: options.Ocr = None,
    questions: options.Questions = None,
    out: options.Out = None,
    workers: options.Workers = None,
    stream: options.Stream = None,
    output: OutputOptions,
) -> None:
    """Answer a question, with file, page and quote for every sentence.

    Without a language model the answer is made of sentences as they stand.

    Exit code 0: answered; 3: not answered, because the documents do not say it clearly
    (the closest passages are shown, if any is near) or at all; 1: an error. With
    --questions 0 when all were done, 1 when any failed.
    """
    what = _what(question, pdfs, search.index, questions)
    json = output.json
    _check_together(what, password=password, out=out, workers=workers, stream=stream, json=json)
    with session(
        **asdict(output) | {"json": json or questions is not None},
        interrupted=_leftover(what, out),
        **search.settings,
        pdf_password=password,
        ocr=options.ocr_setting(ocr),
    ) as current:
        if search.base_url and not current.settings.llm:
            raise UsageError("--base-url is the address of a language model: name it with --llm")
        asking = _Asking(what, search)
        if what.questions is not None:
            _ask_many(asking, current, out, workers or _WORKERS)
            return
        streaming = _streams(stream, current)
        with asking.source(current) as source:
            engine = asking.engine(source, streaming=streaming)
            answer = _ask_one(engine, str(what.question), source, current, streaming=streaming)
        if answer["outcome"] != "answered":
            raise typer.Exit(REFUSED)


def _leftover(what: _What, out: Path | None) -> Leftover | None:
    if out is not None:
        return Leftover(lambda: f"the answers so far are in {out}; run it again to go on")
    if what.pdfs:
        return Leftover(lambda: "what was read is cached; ask again to go on")
    return None


def _what(
    question: str | None, pdfs: list[str] | None, index: list[Path] | None, questions: str | None
) -> _What:
    files = list(pdfs or [])
    if questions is not None:
        if not questions:
            raise UsageError("--questions: an empty name is no file (- is stdin)")
        if question is not None and not _may_be_pdf(question):
            raise UsageError("give a question, or a file of them with --questions, not both")
        given = [question, *files] if question is not None else files
        return _What(None, questions, pdfs_of(given), tuple(index or ()))
    if question is not None:
        check_words("ask", [question, *files])
    return _What(question_of(question), None, pdfs_of(files), tuple(index or ()))


def _check_together(
    what: _What,
    *,
    password: str | None,
    out: Path | None,
    workers: int | None,
    stream: bool | None,
    json: bool,
) -> None:
    if what.questions is None and what.question is None:
        raise UsageError(
            'give a question, as rag ask "…" or on stdin, or a file of them with --questions'
        )
    if what.question is not None and not what.question.strip():
        raise UsageError("the question is empty")
    check_source(what.pdfs, what.indexes, password)
    if what.questions is None:
        for name, value in (("--out", out), ("--workers", workers)):
            if value is not None:
                raise UsageError(f"{name} goes with --questions")
    if stream and (json or what.questions is not None):
        raise UsageError("--stream is for one answer as text, not for JSON")


def _may_be_pdf(word: str) -> bool:
    return word.lower().endswith(".pdf") or is_file(word) or is_folder(Path(word))


def _streams(stream: bool | None, current: Session) -> bool:
    if current.out.json:
        return False
    if stream is None:
        return current.out.on_terminal and current.settings.llm is not None
    return stream


def _ask_one(
    engine: CitedQueryEngine, question: str, source: Source, current: Session, *, streaming: bool
) -> dict[str, Any]:
    """Answer one question, as text or as a document; return the document."""
    out = current.out
    response: Any = engine.query(question)
    if streaming:
        try:
            for delta in response.response_gen:
                out.chunk(delta)
        finally:
            out.chunk("\n")
    answer = _document(response, source)
    remember(current.settings.cache_dir, answer)
    if out.json:
        out.document(answer)
        return answer
    if not streaming:
        show.answer_text(out, answer)
    show.answer_evidence(out, answer)
    return answer


def _document(response: Any, source: Source) -> dict[str, Any]:
    answer: dict[str, Any] = response.to_dict()
    if source.failed:
        answer["files_failed"] = list(source.failed)
    return answer


def _ask_many(asking: _Asking, current: Session, out: Path | None, workers: int) -> None:
    from rag_app.cli.answers import AnswerFile
    from rag_app.cli.batch import Tally, answers
    from rag_app.cli.progress import counter
    from rag_app.cli.questions import read_questions

    asked = read_questions(str(asking.what.questions))
    tally = Tally()
    with asking.source(current) as source:
        engine = asking.engine(source, streaming=False)
        with closing(AnswerFile(out, asked) if out else _Stdout(current)) as file:
            todo = file.missing(asked)
            tally.kept = len(asked) - len(todo)
            stream = answers(
                todo,
                lambda question: _document(engine.query(question), source),
                workers=workers,
                redact=current.out.redact,
            )
            with closing(stream), counter(current.out, len(todo), "questions") as step:
                for one, record in stream:
                    file.write(one, record)
                    tally.add(record)
                    step()
    current.out.note(str(tally))
    if tally.failed:
        raise typer.Exit(ERROR)


class _Stdout:
    """Answers on stdout: every question is asked."""

    def __init__(self, current: Session) -> None:
        self._out = current.out

    def missing(self, asked: list[Any]) -> list[Any]:
        """Return all questions."""
        return asked

    def write(self, one: Any, record: dict[str, Any]) -> None:
        """Write one line."""
        self._out.record(record)

    def close(self) -> None:
        """Do nothing: stdout stays open."""
