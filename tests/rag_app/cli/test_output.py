from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.cli.output import Output, clean, one_line, to_json


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Pipe(io.StringIO):
    encoding = "utf-8"


def an_output(**kwargs) -> tuple[Output, io.StringIO, io.StringIO]:
    stdout, stderr = kwargs.pop("stdout", Pipe()), Pipe()
    return Output(stdout, stderr, **{"json": False, "quiet": False} | kwargs), stdout, stderr


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jcleared", "cleared"),
        ("\x1bPq payload \x1b\\done", "done"),
        ("\x1bcreset", "reset"),
        ("abc\rxyz\x08\x07", "abcxyz"),
        ("safe\u202eevil\u2066", "safeevil"),
        ("line\r\nline\tcell", "line\nline\tcell"),
        ("日本語 ﬁ é", "日本語 ﬁ é"),
    ],
)
def test_clean_takes_out_what_steers_a_terminal(text, kept):
    assert clean(text) == kept


@given(st.text())
def test_cleaned_text_has_no_control_character_but_tab_and_newline(text):
    assert not [c for c in clean(text) if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160]


@given(st.text())
def test_clean_is_idempotent(text):
    assert clean(clean(text)) == clean(text)


def test_one_line_folds_white_space():
    assert one_line(" a\n b\t c ") == "a b c"


@given(st.text())
def test_json_keeps_every_text_exactly(text):
    assert json.loads(to_json({"text": text}))["text"] == text


def test_json_escapes_control_characters_that_json_allows():
    assert to_json("\x9b2J\u202e\x7f") == '"\\u009b2J\\u202e\\u007f"'


def test_json_refuses_what_is_no_json_number():
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"score": float("nan")})


def test_json_knows_paths_dataclasses_and_numpy_numbers():
    @dataclass
    class Point:
        x: int

    value = {"a": Path("b"), "c": Point(1), "d": np.float32(0.5), "e": (1, 2), "f": {3}}
    assert json.loads(to_json(value)) == {"a": "b", "c": {"x": 1}, "d": 0.5, "e": [1, 2], "f": [3]}


def test_json_of_an_unknown_object_raises():
    with pytest.raises(TypeError, match="no JSON form"):
        to_json(object())


def test_json_is_ascii_where_the_stream_is_not_utf8():
    class Latin(Pipe):
        encoding = "latin-1"

    out, stdout, _ = an_output(stdout=Latin())
    out.document({"a": "日本"})
    assert stdout.getvalue().isascii()
    assert json.loads(stdout.getvalue()) == {"a": "日本"}


def test_text_in_a_pipe_is_not_wrapped_nor_styled():
    out, stdout, _ = an_output()
    out.text("word " * 60 + "end\n\nnext", indent=2, style="bold")
    assert stdout.getvalue() == "  " + "word " * 60 + "end\n\n  next\n"


def test_text_on_a_terminal_is_wrapped_and_markup_stays_text(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    out, stdout, _ = an_output(stdout=Terminal())
    out.text("[bold red]not markup[/bold red] :smile: " + "word " * 20, indent=4)
    lines = stdout.getvalue().splitlines()
    assert len(lines) > 2
    assert all(len(line) <= 40 and line.startswith("    ") for line in lines)
    assert "[bold red]not" in lines[0]
    assert ":smile:" in stdout.getvalue()


def test_an_empty_line_on_a_terminal_is_an_empty_line(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    out, stdout, _ = an_output(stdout=Terminal())
    out.text()
    assert stdout.getvalue() == "\n"


def test_no_color_on_a_terminal_writes_no_escape_sequence(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    out, stdout, _ = an_output(stdout=Terminal())
    out.text("plain", style="red")
    assert "\x1b[3" not in stdout.getvalue()


def test_table_in_a_pipe_has_whole_cells_and_numbers_at_the_right():
    out, stdout, _ = an_output()
    out.table(["file", "pages"], [["a" * 200, 5], ["[b]\x1b[31mx", 123]])
    assert stdout.getvalue().splitlines() == [
        "file" + " " * 198 + "pages",
        "a" * 200 + "      5",
        "[b]x" + " " * 198 + "  123",
    ]


def test_notes_are_one_line_without_secrets_and_silent_when_quiet():
    out, _, stderr = an_output()
    out.secrets = ("sk-very-secret", "short")
    out.note("key sk-very-secret\nand short")
    assert stderr.getvalue() == "key *** and short\n"
    silent, _, stderr = an_output(quiet=True)
    silent.note("nothing")
    silent.complain("something")
    assert stderr.getvalue() == "something\n"


def test_a_file_name_that_is_no_unicode_is_written_escaped():
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    out, _, _ = an_output(stdout=stdout)
    out.text("caf\udce9.pdf")
    stdout.flush()
    assert stdout.buffer.getvalue() == b"caf\\udce9.pdf\n"


def test_chunks_lose_escape_characters_even_when_a_sequence_is_cut_in_two():
    out, stdout, _ = an_output()
    for chunk in ("a\x1b", "[31mb"):
        out.chunk(chunk)
    assert "\x1b" not in stdout.getvalue()


def test_lines_of_japanese_text_are_joined_without_a_space():
    assert one_line("支給す\nる。 a\nb") == "支給する。 a b"


@pytest.mark.parametrize("columns", ["0", "1", "-5", "x", "9" * 30])
def test_a_terminal_of_no_width_still_shows_what_is_written(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    out, stdout, _ = an_output(stdout=Terminal())
    out.text("Its lead time is twelve weeks.")
    out.table(["files", "MB"], [["a.pdf", 5]])
    words = " ".join(clean(stdout.getvalue()).split())
    assert words == "Its lead time is twelve weeks. files MB a.pdf 5"
