"""What a model wrote as a list, in the forms in which models write lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.answer.written.lists import parse_list

TWO = ["capital of Japan", "Japanese seat of government"]


@pytest.mark.parametrize(
    "reply",
    [
        "1. capital of Japan\n2. Japanese seat of government",
        "1) capital of Japan\n2) Japanese seat of government",
        "（１）capital of Japan\n（２）Japanese seat of government",
        "- capital of Japan\n- Japanese seat of government",
        "Here are two queries:\n\n* capital of Japan\n* Japanese seat of government\n\nGood luck!",
        "Sure! Here you go:\ncapital of Japan\nJapanese seat of government",
        "```\ncapital of Japan\nJapanese seat of government\n```",
        '```json\n["capital of Japan", "Japanese seat of government"]\n```',
        '{"queries": ["capital of Japan", "Japanese seat of government"]}',
        "Query 1: capital of Japan\nQuery 2: Japanese seat of government",
        '"capital of Japan"\n**Japanese seat of government**',
        "1. capital of Japan\n2. Capital of  JAPAN\n3. Japanese seat of government",
    ],
)
def test_reply_in_any_form_gives_the_clean_items(reply: str) -> None:
    """Case 16."""
    assert parse_list(reply, 5) == TWO


def test_reply_in_japanese_gives_the_clean_items() -> None:
    assert parse_list("１．日本の首都\n２．「首都の名前」", 5) == ["日本の首都", "首都の名前"]


@pytest.mark.parametrize(
    "reply", ["", "\n \n", "```\n```", "...\n---\n***", "Queries:", "x" * 5000]
)
def test_reply_without_anything_usable_gives_nothing(reply: str) -> None:
    assert parse_list(reply, 5) == []


def test_item_that_begins_with_a_number_keeps_it() -> None:
    assert parse_list("2019 revenue of 3M\n2020 revenue of 3M", 5) == [
        "2019 revenue of 3M",
        "2020 revenue of 3M",
    ]


def test_more_items_than_asked_for_are_cut() -> None:
    assert parse_list("- a1\n- b2\n- c3", 2) == ["a1", "b2"]


@given(st.text(), st.integers(-1, 5))
def test_any_text_gives_at_most_so_many_different_lines(reply: str, limit: int) -> None:
    items = parse_list(reply, limit)
    assert len(items) <= max(limit, 0)
    assert len(set(items)) == len(items)
    assert all(item.strip() == item and "\n" not in item for item in items)


@pytest.mark.parametrize(
    "reply",
    [
        "1. capital of Japan\n2. Japanese seat of government\n3. where does the emp",
        "1. capital of Japan\n2. Japanese seat of government\n3",
        "capital of Japan\nJapanese seat of government\nwhere",
        "capital of Japan\nJapanese seat of government\n",
        '["capital of Japan", "Japanese seat of government", "where does',
        '```json\n["capital of Japan", "Japanese seat of government", ',
        '["capital of Japan", "Japanese seat of government"]\nThese queries',
        '{"queries": ["capital of Japan", "Japanese seat of government", "where\\',
    ],
)
def test_a_reply_that_was_cut_loses_its_half_item_only(reply: str) -> None:
    assert parse_list(reply, 5, cut=True) == TWO


def test_a_reply_that_was_cut_in_its_only_item_gives_none() -> None:
    assert parse_list("1. where does the emp", 5, cut=True) == []
    assert parse_list("1. where does the emp", 5) == ["where does the emp"]


@given(st.text(max_size=200), st.integers(0, 5))
def test_any_cut_reply_gives_items_that_the_whole_one_has_or_none(reply: str, limit: int) -> None:
    assert len(parse_list(reply, limit, cut=True)) <= limit
