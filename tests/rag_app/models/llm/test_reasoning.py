"""The tokens of a model that thinks fit its window and leave its answer whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.models.llm.reasoning import Reasoning, may_think


def test_a_wide_window_gives_thoughts_and_answer_all_their_tokens():
    assert Reasoning(512, 8192).budget(128_000, 4_000) == 8_704


def test_a_narrow_window_gives_what_the_prompt_leaves_of_nine_tenths():
    assert Reasoning(512, 8192).budget(8_000, 4_000) == 3_200


def test_a_full_window_still_gives_the_tokens_of_an_answer():
    assert Reasoning(512, 8192).budget(4_096, 4_000) == 512


@given(
    st.integers(1, 4_096),
    st.integers(0, 65_536),
    st.integers(1, 1_000_000),
    st.integers(0, 1_000_000),
)
def test_a_budget_is_never_below_the_answer_nor_above_both(answer, thoughts, window, prompt):
    assert answer <= Reasoning(answer, thoughts).budget(window, prompt) <= answer + thoughts


@pytest.mark.parametrize(
    "name",
    [
        "deepseek-r1:7b",
        "Qwen/Qwen3-8B",
        "openai/gpt-oss-20b",
        "QwQ-32B",
        "o3-mini",
        "Kimi-K2-Thinking",
    ],
)
def test_a_model_of_a_family_that_reasons_may_think(name):
    assert may_think(name)


@pytest.mark.parametrize(
    "name", ["SmolLM2-135M-Instruct", "gpt-4o-mini", "llama3.2", "mistral-small", "test", "gemma-2"]
)
def test_any_other_model_writes_its_answer_at_once(name):
    assert not may_think(name)
