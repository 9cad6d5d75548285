"""Parsers of options: numbers within bounds, and paths."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from rag_app.cli.options import a_path


def test_a_path_is_taken_as_it_is():
    assert a_path("reports/x") == Path("reports/x")
    assert a_path(".") == Path()


def test_an_empty_path_is_not_the_working_folder():
    with pytest.raises(typer.BadParameter, match=r"give \. for the working folder"):
        a_path("")


def test_links_in_a_circle_are_named(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(typer.BadParameter, match="circle"):
        a_path(str(tmp_path / "a"))


def test_a_number_is_parsed_within_its_bounds_only(rag):
    assert rag("search", "x", "-k", "0").code == 2
    done = rag("search", "x", "-k", "many")
    assert done.code == 2
    assert "many" in done.err
