from __future__ import annotations

import errno
import json
import logging
import sys
import warnings

import pytest
import typer

from pipelines.errors import IndexNotFoundError, LLMTimeoutError
from rag_app.cli.session import Leftover, UsageError, describe, session


def run(body, capsys, **kwargs) -> tuple[int, str, str]:
    code = 0
    try:
        with session(**kwargs) as current:
            body(current)
    except typer.Exit as stop:
        code = stop.exit_code
    return code, *capsys.readouterr()


def raising(error: BaseException):
    def body(_):
        raise error

    return body


def test_an_error_of_ours_is_one_line_with_its_hint(capsys):
    error = IndexNotFoundError("there is no index at x", hint="make one with rag ingest")
    assert run(raising(error), capsys) == (
        1,
        "",
        "error: there is no index at x (make one with rag ingest)\n",
    )


def test_an_error_with_json_is_a_document_too(capsys):
    code, out, err = run(raising(LLMTimeoutError("no answer")), capsys, json=True)
    assert code == 1
    assert json.loads(out) == {
        "error": {"kind": "LLMTimeoutError", "message": "no answer", "hint": "", "retryable": True}
    }
    assert err == "error: no answer\n"


def test_an_error_of_the_system_names_the_file(capsys):
    error = PermissionError(errno.EACCES, "Permission denied", "/secret/x.pdf")
    assert run(raising(error), capsys)[2] == "error: /secret/x.pdf: Permission denied\n"


def test_a_bug_is_one_line_and_says_how_to_see_more(capsys):
    code, out, err = run(raising(KeyError("x")), capsys)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "--verbose" in err
    assert "Traceback" not in err


def test_verbose_shows_the_traceback_without_the_key(capsys, monkeypatch):
    monkeypatch.setenv("RAG_LLM_API_KEY", "sk-0123456789")
    code, _, err = run(raising(ValueError("bad sk-0123456789")), capsys, verbose=True)
    assert code == 1
    assert "Traceback" in err
    assert "sk-0123456789" not in err


def test_the_traceback_can_be_set_by_environment(capsys, monkeypatch):
    monkeypatch.setenv("RAG_LOG_LEVEL", "debug")
    assert "Traceback" in run(raising(ValueError("bad")), capsys)[2]


def test_memory_is_named(capsys):
    assert "out of memory" in run(raising(MemoryError()), capsys)[2]


def test_interrupt_is_130_and_says_what_is_left(capsys):
    code, out, err = run(
        raising(KeyboardInterrupt()), capsys, interrupted=Leftover(lambda: "run it again")
    )
    assert (code, out, err) == (130, "", "interrupted: run it again\n")


def test_a_closed_pipe_is_silent(capsys):
    assert run(raising(BrokenPipeError()), capsys) == (141, "", "")


def test_exit_and_usage_errors_pass_through(capsys):
    assert run(raising(typer.Exit(3)), capsys)[0] == 3
    with pytest.raises(UsageError), session():
        raise UsageError("no")


def test_what_libraries_print_goes_to_stderr(capsys):
    def body(current):
        print("from a library")
        current.out.document({"a": 1})

    _, out, err = run(body, capsys, json=True)
    assert json.loads(out) == {"a": 1}
    assert "from a library" in err


def test_a_wrong_setting_is_an_error(capsys):
    code, _, err = run(lambda _: None, capsys, similarity_top_k=0)
    assert code == 1
    assert "similarity_top_k" in err


def test_options_that_are_not_given_leave_settings_alone(capsys, monkeypatch):
    monkeypatch.setenv("RAG_STRATEGY", "bm25")
    seen = []
    run(lambda current: seen.append(current.settings.strategy), capsys, strategy=None)
    run(lambda current: seen.append(current.settings.strategy), capsys, strategy="naive")
    assert seen == ["bm25", "naive"]


@pytest.mark.parametrize(
    ("options", "seen"),
    [({}, ["ours"]), ({"quiet": True}, []), ({"verbose": True}, ["ours", "theirs", "Deprecation"])],
)
def test_logs_of_libraries_are_shown_when_asked_for(capsys, options, seen):
    def body(_):
        logging.getLogger("rag_app.store").warning("ours")
        logging.getLogger("pypdf").warning("theirs")
        warnings.warn("old", DeprecationWarning, stacklevel=1)

    before = logging.getLogger().handlers[:]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        err = run(body, capsys, **options)[2]
    assert [word for word in ("ours", "theirs", "Deprecation") if word in err] == seen
    assert logging.getLogger().handlers == before
    assert sys.stdout is not sys.stderr


def test_describe_names_the_kind_of_a_silent_error():
    assert describe(AssertionError())["message"] == "AssertionError"
