"""The state row: read as it was written, or damage."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.errors import IndexDamagedError
from rag_app.store.sqlite.state import read_state, write_state

FOLDER = Path("index")


def test_the_state_comes_back_with_the_last_row_numbers(empty):
    state = read_state(empty, FOLDER)
    assert (state.generation, state.epoch, state.held) == (0, 0, 0)
    empty.execute("INSERT INTO words SELECT 7, 1, 1, 1, 1, 1, '', '', '', '', '', '', ''")
    write_state(empty, FOLDER, replace(state, generation=3, epoch=2, held=9))
    again = read_state(empty, FOLDER)
    assert (again.generation, again.epoch, again.held) == (3, 2, 9)
    assert again.identity == state.identity
    assert json.loads(again.sequences)["words"] == 7


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE state SET generation = generation + 1",
        "UPDATE state SET epoch = 5",
        "UPDATE state SET config = '{}'",
        "UPDATE state SET identity = 'other'",
        "UPDATE state SET identity = x'00'",
        "UPDATE state SET held = 1",
        "UPDATE state SET sequences = '{\"words\": 1}'",
        "UPDATE state SET checksum = 1",
        "DELETE FROM state",
    ],
)
def test_any_change_is_damage(empty, change):
    empty.execute(change)
    with pytest.raises(IndexDamagedError, match="state"):
        read_state(empty, FOLDER)
