"""What may be given, and what it is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core.schema import Document, TextNode

from pipelines.errors import ConfigError
from rag_app.ingest.inputs import expand, pdfs_below


def test_pdfs_of_a_folder_are_sorted_and_hidden_ones_passed_over(tmp_path: Path) -> None:
    for name in ("b.pdf", "a.PDF", "sub/c.pdf", ".hidden.pdf", ".rag/d.pdf", "e.txt", "pdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    found = [str(path.relative_to(tmp_path)) for path in pdfs_below(tmp_path)[0]]
    assert found == ["a.PDF", "b.pdf", "sub/c.pdf"]


def test_a_file_given_twice_is_one_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pdf").write_bytes(b"x")
    monkeypatch.chdir(tmp_path)
    given = expand(["a.pdf", tmp_path / "a.pdf", str(tmp_path), [Path("./a.pdf")]])
    assert [item.name for item in given.items] == [str(tmp_path / "a.pdf")]
    assert given.folders == [tmp_path]


def test_names_of_documents_are_their_ids() -> None:
    given = expand([Document(id_="x", text="a"), Document(text="b"), TextNode(id_="t", text="c")])
    first, second, third = (item.name for item in given.items)
    assert (first, third) == ("x", "t")
    assert len(second) == 64
    assert given.items[0].size == 1


def test_what_is_no_input_says_what_is() -> None:
    with pytest.raises(ConfigError, match="int cannot be ingested"):
        expand([3])  # type: ignore[list-item]
