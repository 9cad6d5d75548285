import unicodedata

import pytest

from pipelines.lines import Kind, classify, columns


def kinds(text):
    return [line.kind for line in classify(text)]


REPORT = """\
Results of Operations
Net sales grew in 2018 because of higher volumes in Europe and because of the
acquisition that was closed in the first quarter, which added 3.4 percent to the
growth of 2018 and 2017.
2018 2017 2016
Net sales $ 32,765 $ 31,657 $ 30,109
Cost of sales 16,682 16,055 15,118
Gross margin 49.1 % 49.3 % 49.8 %
• higher volumes, which
were partly offset by prices;
• lower cost
2.1 Segment review
The segments follow.
"""


def test_lines_of_a_report_are_what_a_reader_sees():
    expected = "H P P P R R R R I P I H P B"
    assert " ".join(kind.name[0] for kind in kinds(REPORT)) == expected


JAPANESE = """\
第2章 保証規定
本製品の保証期間は、お買い上げの日から二年間とします。ただし、消耗品は除き
ます。修理をご希望の場合は、販売店にお問い合わせください。
１．適用範囲
この規定は日本国内で使われる製品に適用されます。海外で使われる製品には適用
されません。
品番 単価 数量
AX-450 1,200 30
AX-460 1,450 12
・電源を切ってください。
"""


def test_lines_of_a_japanese_manual_are_what_a_reader_sees():
    found = kinds(JAPANESE)
    assert found[0] is Kind.HEADING
    assert found[1:3] == [Kind.PROSE, Kind.PROSE]
    assert found[3] in (Kind.HEADING, Kind.ITEM)
    assert found[7:9] == [Kind.ROW, Kind.ROW]
    assert found[9] is Kind.ITEM


@pytest.mark.parametrize(
    "line",
    [
        "million, $250 million, $100 million, and $100 million in 2024, 2025, 2026, respectively.",
        "in 2018 and 2017, and the remaining amount of $1.2 billion was paid in the year 2019,",
    ],
)
def test_a_line_of_prose_with_many_numbers_is_no_row(line):
    text = f"The estimated future cash outlays are approximately $1.1 billion, $450\n{line}\n"
    assert Kind.ROW not in kinds(text)


def test_a_line_that_continues_a_sentence_is_no_heading():
    text = (
        "The agreement was signed on behalf of the company by its president and by the head of\n"
        "International Business Machines\nwho was in Tokyo at that time.\n"
    )
    assert Kind.HEADING not in kinds(text)


@pytest.mark.parametrize("tail", ["Revenue grew to", "The price of the", "sales in Europe,"])
def test_a_short_line_with_an_open_end_is_no_heading(tail):
    assert kinds(f"{tail}\nAcme Corporation.\n")[0] is Kind.PROSE


def test_width_counts_full_width_characters_twice():
    assert columns("ab日本") == 6
    assert columns("“é”–…•") == 6


def test_width_of_every_character_is_two_where_unicode_calls_it_full_width():
    characters = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) != "Cn"]
    wide = {c for c in characters if unicodedata.east_asian_width(c) in "WF"}
    assert len(wide) > 90_000
    assert {c for c in characters if columns(c) == 2} == wide


def test_lines_cover_the_text_and_know_their_place():
    lines = classify(REPORT)
    assert [REPORT[line.start : line.end] for line in lines] == REPORT.split("\n")
