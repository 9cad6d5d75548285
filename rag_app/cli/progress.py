"""Progress on stderr, when a person looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from rag_app.cli.output import Output


@contextmanager
def bar(out: Output) -> Iterator[Progress | None]:
    """Give a progress bar that is gone at the end; None where nobody looks."""
    if out.quiet or not out.stderr_on_terminal:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(file=out.stderr, markup=False, highlight=False, emoji=False)
    # Names of files are in the description: no markup there either.
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        yield progress


@contextmanager
def counter(out: Output, total: int, what: str) -> Iterator[Callable[[], None]]:
    """Give a function that counts one more of ``total``."""
    # Two streams on one terminal would write over each other.
    if out.on_terminal:
        yield lambda: None
        return
    with bar(out) as progress:
        if progress is None:
            yield lambda: None
        else:
            task = progress.add_task(what, total=total)
            yield lambda: progress.advance(task)
