from __future__ import annotations

import pytest

from pipelines.errors import ConfigError
from rag_app.answer.prompts import fill, in_language, load_prompts


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
