import json
import sys
from types import SimpleNamespace

import pytest

from pipelines.errors import NotInstalledError
from tests.support.table_pdfs import tables_drawn


@pytest.fixture
def table():
    (found,) = tables_drawn(
        lambda page: (
            page.line("", "2022", "2021")
            .line("Assets:")
            .line("Cash", "12", "", indent=10)
            .line("Land", "3", "4", indent=10)
        )
    )
    return found


def test_to_dict_is_json_with_cells_and_their_rectangles(table):
    said = json.loads(json.dumps(table.to_dict()))
    assert (said["page"], said["heads"], said["unit"]) == (1, ["2022", "2021"], "")
    row = said["rows"][1]
    assert (row["label"], row["section"]) == ("Land", "Assets")
    assert [(cell["column"], cell["text"]) for cell in row["cells"]] == [(0, "3"), (1, "4")]
    assert row["cells"][1]["box"]["right"] == 440


def test_value_of_an_empty_column_is_empty(table):
    assert [table.rows[0].value(at) for at in (0, 1)] == ["12", ""]


def test_to_pandas_has_a_column_for_each_head_and_the_labels_as_index(table, monkeypatch):
    def frame(values, **rest):
        return SimpleNamespace(values=values, attrs={}, **rest)

    pandas = SimpleNamespace(DataFrame=frame, Index=lambda labels, dtype: labels)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    found = table.to_pandas()
    assert found.values == [["12", ""], ["3", "4"]]
    assert (found.index, found.columns) == (["Cash", "Land"], ["2022", "2021"])
    assert found.attrs == {"caption": "", "unit": "", "page": 1}


def test_to_pandas_without_pandas_says_what_to_install(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotInstalledError, match="a table as a frame needs pandas"):
        table.to_pandas()
