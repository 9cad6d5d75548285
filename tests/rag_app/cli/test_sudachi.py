"""``--pipeline sudachi`` and ``--strategy sudachi`` over the Japanese sample."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines import sudachi
from pipelines.sudachi import _fingerprint
from rag_app.cached.folders import key_of
from rag_app.cached.indexes import pipelines_of
from rag_app.retrieval.strategy import STRATEGIES, Arm, Strategy
from rag_app.settings import Settings

RULES = Path(__file__).parents[3] / "data" / "shiomi-touki-shugyo-kisoku.pdf"
QUESTION = "所定労働時間は１日何時間ですか。"


@pytest.fixture
def extra(monkeypatch):
    """Change what is installed; forget what was learned of it before and after."""
    _fingerprint.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    _fingerprint.cache_clear()


def test_list_is_built_shown_searched_and_explained(rag):
    assert rag("ingest", RULES, "--pipeline", "sudachi").code == 0
    assert "terms by sudachi: sudachi-2 sudachipy==" in rag("info").out
    found = rag("search", QUESTION, "--strategy", "sudachi", "--json").json["results"]
    assert "words:sudachi" in {match["arm"] for match in found[0]["matched"]}
    assert "words:sudachi, weight 0.5" in rag("explain", QUESTION, "--strategy", "sudachi").out
    again = rag("ingest", RULES, "--json").json
    assert ([file["status"] for file in again["files"]], again["embedded"]) == (["unchanged"], 0)


def test_missing_extra_is_one_line_with_the_command(rag, extra, place):
    extra.setattr(sudachi, "PACKAGES", ("sudachi-that-is-not-there",))
    done = rag("ingest", RULES, "--pipeline", "sudachi")
    assert done.code == 1
    assert "pip install sudachi-that-is-not-there" in done.err
    assert not (place / ".rag").exists()


def test_kept_index_of_other_versions_is_not_used(extra):
    base = key_of(["a" * 64], Settings(), ["hybrid"])
    with_list = key_of(["a" * 64], Settings(), ["hybrid", "sudachi"])
    extra.setattr("pipelines.sudachi.version", lambda name: "0")
    _fingerprint.cache_clear()
    assert base == key_of(["a" * 64], Settings(), ["hybrid"])
    assert with_list != key_of(["a" * 64], Settings(), ["hybrid", "sudachi"])


def test_pipelines_of_a_strategy_of_words_alone_build_its_lists():
    assert pipelines_of(STRATEGIES["bm25"]) == ("bm25",)
    words = (Arm("words", "parent"), Arm("words", "sudachi"))
    assert pipelines_of(Strategy("japanese", words)) == ("hybrid", "sudachi")
