"""A session of one command, from its flags to its exit code: settings, streams, logs, errors.

Exit codes: 0 done; 1 an error; 2 wrong usage; 3 no answer is given (refused);
130 interrupted (143 and 129 by SIGTERM and SIGHUP); 141 the reader of stdout has gone.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from rag_app.cli.output import Output, OutputError
from rag_app.cli.signals import code_of, words_of

if TYPE_CHECKING:
    from rag_app.settings import Settings

ERROR, USAGE, REFUSED, CLOSED = 1, 2, 3, 141
_OURS = ("rag_app", "pipelines")
# Warnings about failed files, which the report or the error of a command names.
_REPORTED_ELSEWHERE = "rag_app.ingest.run"


class UsageError(typer.TyperException):
    """The options do not go together, or one of them cannot be read."""

    exit_code = USAGE


@dataclass(frozen=True)
class Session:
    """The settings and the output of a command."""

    settings: Settings
    out: Output


@dataclass
class Leftover:
    """A message about the state after an interrupt, set by the code that does the work."""

    words: Callable[[], str]


@contextmanager
def session(
    *,
    json: bool = False,
    quiet: bool = False,
    verbose: bool = False,
    config: Path | None = None,
    interrupted: Leftover | None = None,
    say_ignored: bool = True,
    **overrides: Any,
) -> Iterator[Session]:
    """Run the body of a command and turn its exceptions into an exit code.

    Args:
        json: results are JSON documents, an error is one too.
        quiet: only errors on stderr.
        verbose: logs, and tracebacks.
        config: the settings file.
        interrupted: the state after Ctrl-C, in words.
        say_ignored: report the settings that are ignored in an untrusted file.
        **overrides: settings given as options; ``None`` means not given.

    Raises:
        typer.Exit: with the exit code, after one line on stderr.
    """
    out = Output(sys.stdout, sys.stderr, json=json, quiet=quiet)
    debug = verbose
    try:
        # Output of libraries must not get between the documents on stdout.
        with contextlib.redirect_stdout(sys.stderr):
            settings, ignored = _settings(config, verbose, overrides)
            if ignored and say_ignored:
                out.note(f"note: {ignored}")
            debug = debug or settings.log_level == "debug"
            out.secrets = _secrets(settings)
            with _logs(out, settings.log_level, quiet=quiet, verbose=debug):
                yield Session(settings, out)
                out.flush()
    except (typer.Exit, typer.TyperException):
        raise
    except BrokenPipeError:
        abandon(sys.stdout)
        raise typer.Exit(CLOSED) from None
    except KeyboardInterrupt as error:
        left = interrupted.words() if interrupted is not None else ""
        out.complain(": ".join(filter(None, (words_of(error), left))))
        raise typer.Exit(code_of(error)) from None
    except OutputError as error:
        abandon(sys.stdout)
        raise typer.Exit(report(error, out, debug=debug)) from None
    except Exception as error:
        raise typer.Exit(report(error, out, debug=debug)) from None


def report(error: Exception, out: Output, *, debug: bool = False) -> int:
    """Write an error: one line on stderr; with ``--json`` a document too."""
    if debug:
        # Without the values of variables: they hold keys.
        out.stderr.write(out.redact("".join(traceback.format_exception(error))))
    about = describe(error)
    about = {key: out.redact(text) for key, text in about.items()}
    hint = f" ({about['hint']})" if about["hint"] else ""
    out.complain(f"error: {about['message']}{hint}")
    if out.json:
        out.record({"error": about | {"retryable": bool(getattr(error, "retryable", False))}})
    return ERROR


def describe(error: BaseException) -> dict[str, str]:
    """Return kind, message and hint of an error, in words for the user."""
    from pipelines.errors import RagError
    from pipelines.file_names import printable

    kind = type(error).__name__
    if isinstance(error, RagError):
        return {"kind": kind, "message": error.message, "hint": error.hint}
    if isinstance(error, OSError) and error.strerror:
        where = f"{printable(str(error.filename))}: " if error.filename else ""
        return {"kind": kind, "message": f"{where}{error.strerror}", "hint": ""}
    if isinstance(error, MemoryError):
        return {"kind": kind, "message": "out of memory", "hint": "give fewer files at once"}
    hint = "this is a bug in rag_app: run the command again with --verbose for the traceback"
    return {"kind": kind, "message": f"{kind}: {error}" if str(error) else kind, "hint": hint}


def abandon(stream: TextIO) -> None:
    """Discard the buffer of a stream, so that the exit does not report a closed pipe."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _settings(
    config: Path | None, verbose: bool, overrides: dict[str, Any]
) -> tuple[Settings, str]:
    from rag_app.settings import settings_and_ignored

    given = {name: value for name, value in overrides.items() if value is not None}
    if verbose:
        given["log_level"] = "debug"
    return settings_and_ignored(config, **given)


def _secrets(settings: Settings) -> tuple[str, ...]:
    from rag_app.settings import KEYS

    keys = (getattr(settings, name) for name in KEYS)
    return tuple(key.get_secret_value() for key in keys if key is not None)


class _StderrHandler(logging.Handler):
    """Log records as lines on stderr: ours by their level, those of libraries with --verbose."""

    def __init__(self, out: Output, level: int, *, verbose: bool) -> None:
        super().__init__(level)
        self._out = out
        self._foreign = logging.WARNING if verbose else logging.CRITICAL

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; those of libraries are for whoever looks for a fault."""
        ours = record.name.split(".")[0] in _OURS and record.name != _REPORTED_ELSEWHERE
        if ours or record.levelno >= self._foreign:
            self._out.complain(f"{record.levelname.lower()}: {record.getMessage()}")


@contextmanager
def _logs(out: Output, name: str, *, quiet: bool, verbose: bool) -> Iterator[None]:
    """Send log records and Python's warnings to stderr while the body runs."""
    level = logging.ERROR if quiet and not verbose else logging.getLevelNamesMapping()[name.upper()]
    handler = _StderrHandler(out, level, verbose=verbose)
    root = logging.getLogger()
    loggers = [logging.getLogger(ours) for ours in _OURS]
    before = [logger.level for logger in loggers]
    root.addHandler(handler)
    for logger in loggers:
        logger.setLevel(level)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _log_warning
            yield
    finally:
        root.removeHandler(handler)
        for logger, old in zip(loggers, before, strict=True):
            logger.setLevel(old)


def _log_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    logging.getLogger("py.warnings").warning("%s: %s", category.__name__, message)
