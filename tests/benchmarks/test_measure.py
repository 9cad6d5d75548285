"""Statistics and tables of the benchmarks."""

import sys

import pytest

from benchmarks import measure, tables


def test_exponent_of_a_square_is_two():
    assert measure.exponent([1, 10, 100], [3, 300, 30_000]) == pytest.approx(2)


def test_interleaved_runs_every_job_once_per_round_and_drops_the_warm_up():
    order: list[str] = []
    jobs = {name: lambda name=name: order.append(name) or len(order) for name in "ab"}
    results = measure.interleaved(jobs, 2, warm_up=True)
    assert order == ["a", "b"] * 3
    assert results == {"a": [3, 5], "b": [4, 6]}


def test_run_measures_a_process_and_returns_its_output():
    measured = measure.run([sys.executable, "-c", "import time; time.sleep(0.3); print('x')"])
    assert measured.output == "x\n"
    assert measured.seconds >= 0.3
    assert measured.peak_mb > 1


def test_run_of_a_failing_command_raises_with_its_words():
    with pytest.raises(RuntimeError, match="no such thing"):
        measure.run([sys.executable, "-c", "raise SystemExit('no such thing')"])


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ({"mean": 0.145, "low": 0.081, "high": 0.212}, "+.145 [.081, .212]"),
        ({"mean": -0.123, "low": -0.222, "high": -0.026}, "−.123 [−.222, −.026]"),
        (None, "—"),
    ],
)
def test_difference_is_shown_with_sign_and_interval(entry, shown):
    assert tables.difference(entry) == shown


def test_quality_table_names_system_and_measure():
    interval = {"mean": 0.5, "low": 0.4, "high": 0.6}
    system = {"questions": 3, "metrics": {"ndcg@10": interval}, "difference": {}}
    shown = tables.quality_tables({"tasks": {"xquad": {"systems": {"rag_app-hybrid": system}}}})
    assert "| rag_app-hybrid | .500 | — | — | — |" in shown
