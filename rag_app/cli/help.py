"""Help pages: plain text of at most 80 columns, options in named groups."""

from __future__ import annotations

import re
import shlex
import sys
from typing import Any

import typer
from typer.core import TyperCommand

from rag_app.cli.session import USAGE, UsageError

_DASHED = re.compile(r"-[^-=]*\s")  # -What is it? and no --option=of several words
_FIRST, _LAST = "Arguments", "Output"
_NO_BRACES = str.maketrans("", "", "{}")


class Command(TyperCommand):
    """A command whose help groups options by ``rich_help_panel``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words and options; the error says where a question that begins with - goes."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException:
            if question := next((word for word in given if _DASHED.match(word)), None):
                raise UsageError(
                    f"an option begins with -; a question that does comes last, after --: "
                    f"rag {self.name} -- {shlex.quote(question)}"
                ) from None
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line: ``PATH...``, not ``{PATH}...``."""
        return [piece.translate(_NO_BRACES) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options group by group: arguments first, what all commands have last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            name, text = record
            group = getattr(param, "rich_help_panel", None) or _LAST
            if param.param_type_name == "argument":
                # Not "PDF <list[str]>": users do not need Python's types.
                group, name = _FIRST, str(param.metavar)
            groups.setdefault(group, []).append((name, text))
        for name in sorted(groups, key=lambda group: (group != _FIRST, group == _LAST)):
            with formatter.section(name):
                formatter.write_dl(groups[name])


def examples(*lines: str) -> str:
    """Return the lines as the last section of a help page, not wrapped."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def help_when_alone(context: typer.Context) -> None:
    """Write the help page of a group that was called without a command."""
    if context.invoked_subcommand is None:
        sys.stderr.write(context.get_help() + "\n")
        raise typer.Exit(USAGE)
