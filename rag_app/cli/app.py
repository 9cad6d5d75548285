"""The application: its commands, and how a usage error looks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rag_app.cli.help import Command, examples, help_when_alone
from rag_app.cli.output import one_line
from rag_app.cli.session import CLOSED, ERROR, abandon
from rag_app.cli.signals import code_of, words_of

EXAMPLES = examples(
    'rag ask "What is the lead time?" report.pdf',
    "rag ingest reports/",
    'rag ask "What is the lead time?"',
)
# Each command, in the order in which one meets them, with its module in this package, its
# function or group there, and its examples there: what does not run is not imported.
_COMMANDS = {
    "ingest": ("ingest", "ingest", "EXAMPLES"),
    "ask": ("ask", "ask", "EXAMPLES"),
    "search": ("search", "search", "SEARCH_EXAMPLES"),
    "show": ("page", "show_page", "EXAMPLES"),
    "explain": ("search", "explain", "EXPLAIN_EXAMPLES"),
    "info": ("info", "info", "EXAMPLES"),
    "repair": ("repair", "repair", "EXAMPLES"),
    "remove": ("manage", "remove", "REMOVE_EXAMPLES"),
    "merge": ("manage", "merge", "MERGE_EXAMPLES"),
    "eval": ("evaluate", "evaluate", "EXAMPLES"),
    "trust": ("trust", "trust", "EXAMPLES"),
    "cache": ("cache", "cache", "EXAMPLES"),
}


class Group(TyperGroup):
    """A group of commands; a usage error of any of them is one line."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is named."""
        try:
            return super().invoke(ctx)
        except typer.TyperException as error:
            named = [ctx.command_path, ctx.invoked_subcommand or ""]
            raise typer.Exit(_usage_error(error, " ".join(named).strip())) from None
        except KeyboardInterrupt as error:
            raise typer.Exit(_interrupted(error)) from None
        except BrokenPipeError:
            raise typer.Exit(_closed()) from None

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the options of the group itself."""
        try:
            return super().make_context(*args, **kwargs)
        except KeyboardInterrupt as error:
            raise typer.Exit(_interrupted(error)) from None
        except BrokenPipeError:
            raise typer.Exit(_closed()) from None

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands in the order in which one meets them."""
        return list(self.commands)


class Commands(Group):
    """All commands; each is imported when it is asked for."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes | {"commands": dict.fromkeys(_COMMANDS)})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a name, imported; None: there is none."""
        if cmd_name in _COMMANDS and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _imported(cmd_name)
        return super().get_command(ctx, cmd_name)


def _imported(name: str) -> Any:
    """Return a command, or a group of them, with its examples as the end of its help page."""
    module, function, epilog = _COMMANDS[name]
    found = import_module(f"rag_app.cli.{module}")
    one = getattr(found, function)
    if not isinstance(one, typer.Typer):
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, cls=Command, epilog=getattr(found, epilog))(one)
        return typer.main.get_command(single)
    whole = typer.Typer(add_completion=False, rich_markup_mode=None)
    whole.add_typer(one, name=name, cls=Group, epilog=getattr(found, epilog))
    made: Any = typer.main.get_command(whole)
    return made.commands[name]


app = typer.Typer(
    name="rag",
    cls=Commands,
    help="Ask PDFs and get answers with file, page and quote. Works offline, without a key.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(asked: bool) -> None:
    if asked:
        from rag_app import __version__

        sys.stdout.write(f"rag {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    help_when_alone(context)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; return its exit code. Only a bug in this function raises."""
    try:
        code = app(args=list(arguments), prog_name="rag", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        return _usage_error(error, "rag")
    except KeyboardInterrupt as error:
        return _interrupted(error)
    except typer.Abort:
        return _interrupted(KeyboardInterrupt())
    except BrokenPipeError:
        return _closed()
    except OSError as error:
        # The last words did not fit: a full disk behind stdout.
        abandon(sys.stdout)
        sys.stderr.write(f"error: stdout: {error.strerror}\n")
        return ERROR
    return code if isinstance(code, int) else 0


def _interrupted(error: KeyboardInterrupt) -> int:
    """Report an interrupt before a command has begun its session: typer would say nothing."""
    sys.stderr.write(f"{words_of(error)}\n")
    return code_of(error)


def _closed() -> int:
    """Exit without a message: the reader of stdout has gone. typer would report an error."""
    abandon(sys.stdout)
    return CLOSED


def _usage_error(error: typer.TyperException, command: str) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else command
    sys.stderr.write(f"error: {one_line(error.format_message())} (see '{path} --help')\n")
    return error.exit_code
