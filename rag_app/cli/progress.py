"""Progress of long work: a bar on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from rag_app.cli.output import Output

MIN_SECONDS_BETWEEN_LINES = 10.0
_MIN_SECONDS_SEEN = 2.0  # before that, an estimate is a guess
_BAR_WIDTH = 20  # columns
_MINUTE, _HOUR = 60, 3600

Clock = Callable[[], float]


@dataclass
class Estimate:
    """An estimate of the remaining time, at the rate so far.

    Attributes:
        share: how much is done, from 0 to 1.
    """

    clock: Clock = time.monotonic
    share: float = 0.0
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def reach(self, done: int, total: int) -> None:
        """Record how much is done."""
        self.share = min(1.0, done / total) if total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all is done; None while that cannot be estimated."""
        passed = self.clock() - self.began
        if not self.share or passed < _MIN_SECONDS_SEEN:
            return None
        return passed * (1 - self.share) / self.share

    def __str__(self) -> str:
        left = self.seconds_left
        about = f", about {duration(left)} left" if left is not None else ""
        return f"{self.share:.0%}{about}"


def duration(seconds: float) -> str:
    """Return a time in words, to the precision of an estimate."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    hours, rest = divmod(round(seconds / _MINUTE), 60)
    return f"{hours} h {rest} min"


class Watch:
    """Shows the current step and the progress; nothing when quiet.

    On a terminal a bar that is gone at the end, elsewhere a line every
    ``MIN_SECONDS_BETWEEN_LINES``.
    """

    def __init__(
        self, out: Output, progress: Progress | None, clock: Clock = time.monotonic
    ) -> None:
        self._out, self._progress, self._clock = out, progress, clock
        self._task: TaskID | None = None
        self._said = clock()
        self.estimate = Estimate(clock)

    @property
    def has_bar(self) -> bool:
        """Whether a bar is shown."""
        return self._progress is not None

    def show(self, doing: str, count: str) -> None:
        """Show the current step and a count."""
        if self._progress is not None:
            self._draw(self._progress, doing, count)
        elif self._clock() - self._said >= MIN_SECONDS_BETWEEN_LINES:
            self._said = self._clock()
            self._out.note(", ".join(filter(None, (doing, count, str(self.estimate)))))

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the bar while something else is written on the same terminal."""
        if self._progress is None or not self._out.on_terminal:
            yield
            return
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()

    def _draw(self, progress: Progress, doing: str, count: str) -> None:
        if self._task is None:
            self._task = progress.add_task("", total=1.0, count="", left="")
        progress.update(
            self._task,
            description=doing,
            completed=self.estimate.share,
            count=count,
            left=str(self.estimate),
        )


@contextmanager
def watch(out: Output, clock: Clock = time.monotonic) -> Iterator[Watch]:
    """Yield a display of progress; a bar is removed at the end, also after an error."""
    if out.quiet or not out.stderr_on_terminal:
        yield Watch(out, None, clock)
        return
    from rich.progress import BarColumn, Progress, TextColumn

    from rag_app.cli.output import console_on

    console = console_on(out.stderr)
    # Names of files are in the description: no markup there either.
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=_BAR_WIDTH),
        TextColumn("{task.fields[count]}", markup=False),
        TextColumn("{task.fields[left]}", markup=False),
    )
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        yield Watch(out, progress, clock)


@contextmanager
def counter(out: Output, total: int, what: str) -> Iterator[Callable[[], None]]:
    """Give a function that counts one more of ``total``."""
    # Two streams on one terminal would write over each other.
    if out.on_terminal:
        yield lambda: None
        return
    with watch(out) as view:
        done = 0

        def step() -> None:
            nonlocal done
            done += 1
            view.estimate.reach(done, total)
            view.show(what, f"{done}/{total}")

        yield step
