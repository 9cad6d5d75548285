from pipelines.layout import Box
from pipelines.tables.columns import TableColumn, column_under, columns_of
from pipelines.tables.fragments import Fragment


def amount(left, right):
    box = Box(left, 0, right, 10)
    return Fragment("1", box, box, is_value=True)


def test_amounts_that_end_at_one_edge_are_a_column():
    found = columns_of([amount(80, 100), amount(95, 101), amount(150, 160)], 10)
    assert found == (TableColumn(80, 101, 2), TableColumn(150, 160, 1))


def test_centred_amounts_of_different_widths_are_a_column():
    assert len(columns_of([amount(80, 120), amount(95, 105), amount(90, 110)], 10)) == 1


def test_no_amounts_have_no_columns():
    assert columns_of([], 10) == ()


def test_a_box_is_in_the_column_that_it_shares_most_with():
    columns = (TableColumn(80, 100, 2), TableColumn(105, 160, 1))
    assert column_under(Box(90, 0, 150, 10), columns) == 1
    assert column_under(Box(165, 0, 170, 10), columns) is None
    assert column_under(Box(0, 0, 1, 1), ()) is None
