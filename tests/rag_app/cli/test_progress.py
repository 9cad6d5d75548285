from __future__ import annotations

import io

import pytest

from rag_app.cli.output import Output
from rag_app.cli.progress import bar, counter


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def output(*, quiet: bool = False, stderr: io.StringIO | None = None) -> Output:
    return Output(io.StringIO(), stderr or Terminal(), json=False, quiet=quiet)


def test_a_person_sees_a_bar_with_names_as_they_are():
    out = output()
    with bar(out) as progress:
        progress.add_task("reading [red]x[/red].pdf", total=3, completed=2)
    assert "reading [red]x[/red].pdf" in out.stderr.getvalue()
    assert "2/3" in out.stderr.getvalue()
    assert out._stdout.getvalue() == ""


@pytest.mark.parametrize("out", [output(quiet=True), output(stderr=io.StringIO())])
def test_a_script_or_quiet_sees_nothing(out):
    with bar(out) as progress:
        assert progress is None
    with counter(out, 2, "questions") as step:
        step()
    assert out.stderr.getvalue() == ""


def test_counter_counts():
    out = output()
    with counter(out, 2, "questions") as step:
        step()
        step()
    assert "2/2" in out.stderr.getvalue()
