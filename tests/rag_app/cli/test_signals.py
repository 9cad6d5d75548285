"""Signals as exceptions while a command runs."""

from __future__ import annotations

import os
import signal

import pytest

from rag_app.cli import signals
from rag_app.cli.signals import INTERRUPTED, Terminated, code_of, handled, words_of


@pytest.fixture(autouse=True)
def default_handlers():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, INTERRUPTED, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "terminated"),
    ],
)
def test_a_signal_becomes_an_exception_with_its_exit_code(number, code, words):
    with pytest.raises(KeyboardInterrupt) as caught, handled():
        os.kill(os.getpid(), number)
    assert (code_of(caught.value), words_of(caught.value)) == (code, words)
    assert isinstance(caught.value, Terminated) == (number != signal.SIGINT)


def test_a_second_signal_ends_the_process_at_once(monkeypatch):
    ended = []
    monkeypatch.setattr(signals, "_end", ended.append)
    with handled():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):  # raised because _end is replaced here
            os.kill(os.getpid(), signal.SIGTERM)
    assert ended == [signal.SIGTERM]


def test_handlers_are_put_back_and_ignored_signals_stay_ignored():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with handled():
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
