"""What is printed of public objects: short, readable, honest about what is not supported."""

from __future__ import annotations

from pathlib import Path

from llama_index.core.schema import Document

from rag_app import Answer, AnswerSentence, Index, IngestReport
from rag_app.ingest.report import FileReport
from tests.support.embedding import HashEmbedding


def test_text_of_an_answer_lists_statements_that_are_not_supported_and_its_json_does_not() -> None:
    sentences = [
        AnswerSentence("It opened in 1931.", [1], "quoted"),
        AnswerSentence("It cost $9 million.", [1], "unsupported", ["9 is not in what is cited"]),
    ]
    text = "It opened in 1931. [1] It cost $9 million. [1]"
    answer = Answer(response=text, question="When?", sentences=sentences)
    assert str(answer) == (
        f"{text}\n\n[not supported] It cost $9 million. (9 is not in what is cited)"
    )
    assert answer.to_dict()["answer"] == text
    assert "1 of 2 sentences verified" in repr(answer)


def test_repr_of_an_answer_is_one_short_line() -> None:
    shown = repr(Answer(response="word " * 500))
    assert len(shown) < 200
    assert "\n" not in shown


def test_report_of_an_ingest_names_what_failed_and_why() -> None:
    files = (
        FileReport("a.pdf", "added", nodes=3),
        FileReport("b.pdf", "failed", error="it is empty", hint="copy it again"),
    )
    report = IngestReport(files, embedded=3, seconds=1.25)
    assert str(report) == (
        "1 added, 1 failed; 3 texts embedded in 1.2 s\nfailed: b.pdf: it is empty (copy it again)"
    )
    assert repr(report) == "<IngestReport: 1 added, 1 failed>"
    assert repr(IngestReport((), 0, 0.0)) == "<IngestReport: no files>"


def test_an_index_and_what_it_holds_are_said_in_a_line_each(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i", embed_model=HashEmbedding()) as index:
        index.ingest(Document(text="The crane lifts seven tonnes.", id_="crane"))
        info = index.info()
        assert str(info).splitlines()[1] == "  crane: 0 pages, 2 nodes"
        assert repr(info).startswith(f"<IndexInfo {str(tmp_path / 'i')!r}: 1 files, 0 pages, ")
        assert repr(index).startswith(f"<Index {str(tmp_path / 'i')!r}, embedding model ")
    assert "Index" in repr(index)
