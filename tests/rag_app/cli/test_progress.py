from __future__ import annotations

import io
from collections import Counter

import pytest

from rag_app.cli.output import Output
from rag_app.cli.progress import Estimate, counter, duration, watch
from rag_app.cli.watching import passed_over


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def output(
    *, quiet: bool = False, stderr: io.StringIO | None = None, stdout: io.StringIO | None = None
) -> Output:
    return Output(stdout or io.StringIO(), stderr or Terminal(), json=False, quiet=quiet)


def test_a_person_sees_a_bar_with_names_as_they_are():
    out = output()
    with watch(out) as view:
        view.estimate.reach(1, 4)
        view.show("reading [red]x[/red].pdf", "2/3 files")
    seen = out.stderr.getvalue()
    assert "reading [red]x[/red].pdf" in seen
    assert "2/3 files 25%" in seen
    assert out._stdout.getvalue() == ""


def test_the_bar_makes_room_for_a_line_on_the_same_terminal():
    out = output(stdout=Terminal())
    with watch(out) as view:
        view.show("reading", "1/2")
        with view.hidden():
            shown = out.stderr.getvalue()
        assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l")
        view.show("reading", "2/2")
    assert "2/2" in out.stderr.getvalue()[len(shown) :]


def test_a_quiet_run_says_nothing():
    clock = Clock()
    out = output(quiet=True)
    with watch(out, clock) as view, counter(out, 2, "questions") as step:
        clock.now = 100.0
        view.show("reading", "1/2")
        step()
    assert out.stderr.getvalue() == ""


def test_without_a_terminal_a_line_comes_now_and_then():
    clock = Clock()
    out = output(stderr=io.StringIO())
    with watch(out, clock) as view:
        for second in range(40):
            clock.now = float(second)
            view.estimate.reach(second, 80)
            view.show("embedding x.pdf", "1/3 files")
    assert out.stderr.getvalue().splitlines() == [
        "embedding x.pdf, 1/3 files, 12%, about 1 min left",
        "embedding x.pdf, 1/3 files, 25%, about 1 min left",
        "embedding x.pdf, 1/3 files, 38%, about 50 s left",
    ]


def test_counter_counts():
    out = output()
    with counter(out, 2, "questions") as step:
        step()
        step()
    assert "2/2" in out.stderr.getvalue()


def test_nothing_is_estimated_before_there_is_anything_to_go_by():
    clock = Clock()
    estimate = Estimate(clock)
    assert str(estimate) == "0%"
    estimate.reach(1, 2)
    clock.now = 1.9
    assert estimate.seconds_left is None
    clock.now = 30.0
    assert estimate.seconds_left == pytest.approx(30.0)
    estimate.reach(0, 0)
    assert estimate.seconds_left is None


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59, "59 s"), (90, "2 min"), (3700, "1 h 2 min")]
)
def test_a_time_is_given_as_exactly_as_it_is_known(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("skipped", "said"),
    [
        ({".docx": 7, ".txt": 5}, "12 files that are not PDFs were passed over (.docx 7, .txt 5)"),
        ({"": 1}, "1 file that is not a PDF was passed over (no ending 1)"),
        (
            {f".{letter}": 1 for letter in "abcdefgh"},
            "8 files that are not PDFs were passed over "
            "(.a 1, .b 1, .c 1, .d 1, .e 1, .f 1, 2 other kinds)",
        ),
    ],
)
def test_what_is_passed_over_is_one_line(skipped, said):
    assert passed_over(Counter(skipped)) == said
