"""The blocks of docs/llamaindex.md, run one after the other as a reader would."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.schema import IndexNode

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "llamaindex.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the page has made at its end."""
    names: dict[str, Any] = {"folder": tmp_path_factory.mktemp("page") / "index"}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        # LlamaIndex's agents use what pydantic and its own workflows deprecate.
        warnings.simplefilter("ignore", DeprecationWarning)
        patch.chdir(ROOT)
        for name in ("OPENAI_API_KEY", "RAG_LLM", "RAG_CONFIG"):
            patch.delenv(name, raising=False)
        for block in BLOCKS:
            exec(compile(block, str(PAGE), "exec"), names)
    return names


def test_the_page_has_its_four_blocks() -> None:
    assert len(BLOCKS) == 4


def test_the_pipelines_give_parents_children_and_sentences(ran: dict[str, Any]) -> None:
    assert {child.index_id for child in ran["children"]} == set(ran["parents"])
    for node in (*ran["parents"].values(), *ran["children"], *ran["sentences"]):
        assert ran["document"].text[node.start_char_idx : node.end_char_idx] == node.text


def test_stock_retrievers_find_parents_and_windows(ran: dict[str, Any]) -> None:
    found = ran["recursive"].retrieve(ran["question"])
    assert found
    assert all(one.node.node_id in ran["parents"] for one in found)
    assert not any(isinstance(one.node, IndexNode) for one in found)
    nodes = [one.node for one in ran["stock"].query(ran["question"]).source_nodes]
    windows = [node for node in nodes if node.metadata["kind"] == "sentence"]
    assert windows
    assert all(node.text == node.metadata["window"] for node in windows)
    assert any(node.text != node.metadata["original_text"] for node in windows)


def test_an_engine_in_a_router_answers_with_its_citations(ran: dict[str, Any]) -> None:
    assert ran["routed"].metadata["selector_result"].selections[0].index == 0
    assert ran["routed"].source_nodes[0].node.metadata["matched"]
    assert "[1]" in str(ran["routed"])


def test_a_sub_question_engine_asks_both(ran: dict[str, Any]) -> None:
    texts = [node.node.text for node in ran["combined"].source_nodes]
    assert sum(text.startswith("Sub question:") for text in texts) == 2
    assert len(texts) > 2


def test_an_agent_calls_the_engine_and_reads_its_answer(ran: dict[str, Any]) -> None:
    [call] = ran["acted"].tool_calls
    assert call.tool_name == "documents"
    assert call.tool_output.content == str(ran["routed"])
    assert str(ran["acted"]) == "It is in the documents."
