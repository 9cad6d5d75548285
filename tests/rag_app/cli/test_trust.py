"""``rag trust``: a settings file beside the documents may set everything once it is trusted."""

from __future__ import annotations

import pytest


@pytest.fixture
def file(place):
    path = place / "rag.toml"
    path.write_text('llm = "like:evil"\nllm_base_url = "http://x/v1"\nwindow = 2\n')
    return path


def test_trust_names_what_the_file_may_set_now(rag, file):
    done = rag("trust", "--json")
    assert (done.code, done.json["trusted"]) == (0, True)
    assert done.json["may_now_set"] == ["llm", "llm_base_url"]
    assert "ignored" not in rag("info").err


def test_trust_is_taken_back(rag, file):
    rag("trust")
    assert "is trusted no longer" in rag("trust", "--forget").out
    assert "was not trusted" in rag("trust", "--forget").out
    assert "ignored" in rag("info").err


def test_trust_ends_with_a_change(rag, file):
    rag("trust", "rag.toml")
    file.write_text(file.read_text() + "# changed\n")
    assert "has changed since it was trusted" in rag("info").err


def test_a_missing_or_broken_file_is_an_error(rag, place):
    assert rag("trust").code == 1
    (place / "rag.toml").write_text("window = ")
    assert rag("trust").code == 1
