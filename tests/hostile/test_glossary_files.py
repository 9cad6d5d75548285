"""A glossary of the user's is not trusted: whatever it holds is a glossary, or an error of ours."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import ConfigError
from rag_app.retrieval.glossary_files import (
    MAX_GLOSSARY_BYTES,
    MAX_PRINT_CHARS,
    MAX_PRINTS,
    MAX_TERM_CHARS,
    MAX_TERMS,
    load_glossaries,
    parse_glossary,
)

WRONG = {
    "": "does not read",
    "{": "does not read",
    "[" * 100_000: "nested too deeply",
    '{"terms": {"a": ' + "9" * 5000 + "}}": "does not read",
    "[]": "holds no object",
    "null": "holds no object",
    "{}": "has 0 terms",
    '{"terms": {}, "statements": {}}': "has 0 terms",
    '{"term": {"capex": ["x"]}}': "unknown key 'term'",
    '{"terms": [1]}': "terms of the glossary",
    '{"terms": {"capex": "x"}}': "'capex' in terms",
    '{"terms": {"capex": []}}': "'capex' in terms",
    '{"terms": {"capex": [1]}}': "holds 1",
    '{"terms": {"capex": [" "]}}': "holds ' '",
    '{"terms": {"x": ["y"]}}': "has 1 characters",
    '{"terms": {"capex": ["a"], "CAPEX": ["b"]}}': "is there twice",
    '{"terms": {"capex": ["a"], "capex": ["b"]}}': "is there twice",
    json.dumps({"terms": {"a" * (MAX_TERM_CHARS + 1): ["b"]}}): "characters",
    json.dumps({"terms": {"capex": ["b" * (MAX_PRINT_CHARS + 1)]}}): "holds",
    json.dumps({"terms": {"capex": [f"b{i}" for i in range(MAX_PRINTS + 1)]}}): "is \\[",
    json.dumps({"terms": {f"term{i}": ["b"] for i in range(MAX_TERMS + 1)}}): "terms",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:30])
def test_a_wrong_glossary_is_an_error_that_says_what_and_where(text):
    with pytest.raises(ConfigError, match=WRONG[text]) as caught:
        parse_glossary(text, "mine", "the glossary mine.json")
    assert "mine.json" in caught.value.message
    assert len(caught.value.message) < 300
    assert "\n" not in caught.value.message


def test_a_lone_surrogate_and_control_characters_are_no_part_of_a_term():
    glossary = parse_glossary('{"terms": {"ca\\ud800pex": ["net\\u0000 sales"]}}', "m", "m")
    text = "".join([*glossary.terms, *(p for t in glossary.terms.values() for p in t.prints)])
    assert text.encode().decode() == text
    assert "\0" not in text


def test_a_file_that_is_too_large_or_no_text_or_not_there_is_named(tmp_path):
    large = tmp_path / "large.json"
    large.write_bytes(b" " * (MAX_GLOSSARY_BYTES + 1))
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    for path, says in (
        (large, "larger than"),
        (binary, "utf-8"),
        (tmp_path / "no.json", "No such"),
    ):
        with pytest.raises(ConfigError, match=says) as caught:
            load_glossaries([str(path)])
        assert path.name in caught.value.message


def test_a_folder_or_a_pipe_is_refused_without_waiting(tmp_path):
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    for name, says in (("folder.json", "a folder"), ("pipe.json", "a named pipe")):
        with pytest.raises(ConfigError, match=says):
            load_glossaries([str(tmp_path / name)])
    with pytest.raises(ConfigError, match="no file can have this name"):
        load_glossaries(["./a\0b.json"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["about", "terms", "statements"]), JSON))
def test_any_json_is_a_glossary_or_an_error_of_ours(values):
    try:
        glossary = parse_glossary(json.dumps(values), "mine", "mine")
    except ConfigError:
        return
    assert glossary.terms or glossary.statements
