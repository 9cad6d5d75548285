from __future__ import annotations

import pytest

from pipelines.errors import ConfigError
from rag_app.answer.prompts import fill, in_language, load_prompts, prompts_of


def written(tmp_path, text):
    path = tmp_path / "prompts.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_prompts_are_complete():
    prompts = load_prompts()
    assert "$question" in prompts.answer.user
    assert prompts.answer.refusal in fill(
        prompts.answer.system, language="English", refusal=prompts.answer.refusal
    )


def test_a_file_replaces_what_it_names_and_nothing_else(tmp_path):
    prompts = load_prompts(written(tmp_path, '[answer]\nsystem = "Be brief. $language"\n'))
    assert prompts.answer.system == "Be brief. $language"
    assert prompts.answer.user == load_prompts().answer.user


def test_a_mapping_or_a_file_goes_over_other_prompts_and_prompts_take_their_place(tmp_path):
    below = prompts_of({"answer": {"system": "Be brief."}})
    over = prompts_of({"answer": {"refusal": "NONE"}}, below=below)
    assert (over.answer.system, over.answer.refusal) == ("Be brief.", "NONE")
    assert below.answer.refusal == load_prompts().answer.refusal
    file = written(tmp_path, '[answer]\nrefusal = "NIL"\n')
    for source in (file, str(file)):
        assert prompts_of(source, below=below).answer.refusal == "NIL"
        assert prompts_of(source, below=below).answer.system == "Be brief."
    assert prompts_of(over, below=below) is over
    assert prompts_of(None, below=below) is below
    assert prompts_of(None) == load_prompts()


@pytest.mark.parametrize("wrong", [{"anser": {}}, {"answer": 5}, {"answer": {"user": "$x"}}])
def test_a_wrong_mapping_says_what_is_wrong(wrong):
    with pytest.raises(ConfigError, match=r"the prompts are wrong|prompts are wrong"):
        prompts_of(wrong)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('[answer]\nuser = "$passages"\n', r"lacks \$question"),
        ('[answer]\nsystem = "costs $5"\n', r"\$\$"),
        ('[answer]\nsystem = "$secret"\n', "is not filled in"),
        ('[anser]\nsystem = "x"\n', "anser"),
        ("[answer\n", "TOML"),
        ('[messages.other_language]\ndefault = "$nothing"\n', "is not filled in"),
        ("[answer]\nsystem = 5\n", "answer.system"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path, text, match):
    with pytest.raises(ConfigError, match=match):
        load_prompts(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="nowhere"):
        load_prompts(tmp_path / "nowhere.toml")


def test_what_is_filled_in_is_not_read_again():
    assert fill("$question", question="$passages costs $5") == "$passages costs $5"


def test_messages_come_in_the_questions_language():
    texts = {"default": "no", "Japanese": "いいえ"}
    assert in_language(texts, "Japanese") == "いいえ"
    assert in_language(texts, "Thai") == "no"
