import json

import pytest

from benchmarks.statement_pages import (
    HALVES,
    SET,
    FoundCell,
    cells_of_grid,
    judged,
    measured,
    plain_amount,
    words,
)

MARKED = {"unit": "in millions", "heads": ["2022", "2021"], "rows": [["Net sales", "(12)", "9"]]}
ROW = MARKED["rows"][0]


def cell(**changed):
    right = {"label": "Net sales (a)", "head": "May 2022", "others": (), "unit": "in millions"}
    return FoundCell(**{**right, "value": "$ (12)", **changed})


@pytest.mark.parametrize(
    ("found", "level"),
    [
        ([cell()], "unit"),
        ([cell(unit="")], "column"),
        ([cell(head="2021")], "row"),
        ([cell(head="2022 2021")], "row"),
        ([cell(label="Sales")], "none"),
        ([cell(value="12")], "none"),
        ([cell(head="2021"), cell()], "unit"),
        ([], "none"),
    ],
)
def test_a_cell_is_right_as_far_as_its_row_column_and_unit_are(found, level):
    assert judged(MARKED, ROW, 0, found) == level


def test_shares_are_of_the_marked_cells():
    pages = [{"file": "a.pdf", "page": 3, "tables": [MARKED]}]
    found = measured(lambda path, page: [cell(unit="")], pages, SET)
    assert (found["row"]["mean"], found["column"]["mean"], found["unit"]["mean"]) == (0.5, 0.5, 0)
    assert (found["cells"], len(found["missed"])) == (2, 2)


def test_a_grid_is_read_with_its_heads_in_the_columns_of_signs():
    grid = [["(in millions)", "2022", "", "2021", ""], ["Net sales", "$", "12", "$", "9"]]
    first, second = cells_of_grid(grid)
    assert (first.label, first.head, first.value, first.unit) == (
        "Net sales",
        "2022",
        "12",
        "in millions",
    )
    assert (second.head, second.value) == ("2021", "9")
    assert cells_of_grid([["no amounts", None]]) == []


def test_amounts_and_words_are_compared_without_signs_and_marks():
    assert plain_amount("$ (1,234 )") == "(1,234)"
    assert words("Net sales(a) ......") == ["net", "sales"]


def test_the_halves_share_no_report_and_have_twenty_pages_each():
    pages = {half: json.loads((SET / f"{half}.json").read_text("utf-8")) for half in HALVES}
    assert [len(pages[half]) for half in ("develop", "unseen")] == [20, 20]
    reports = [{page["file"] for page in pages[half]} for half in ("develop", "unseen")]
    assert not reports[0] & reports[1]
    for page in (page for half in pages.values() for page in half):
        for table in page["tables"]:
            assert {len(row) for row in table["rows"]} == {len(table["heads"]) + 1}
