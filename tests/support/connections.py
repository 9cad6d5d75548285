"""An event loop that knows its connections, and work that is cancelled at a chosen step."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class RecordingLoop(asyncio.SelectorEventLoop):
    """Keeps every connection that is opened in it."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[asyncio.BaseTransport] = []

    async def create_connection(self, *arguments: Any, **options: Any) -> Any:
        transport, protocol = await super().create_connection(*arguments, **options)
        self.opened.append(transport)
        return transport, protocol


def run_closing(work: Coroutine[Any, Any, T], *, at_once: bool = True) -> T:
    """Run work in a loop of its own; each of its connections must be closed when it ends.

    Args:
        work: what is run.
        at_once: closed before the work has returned or raised, not only with the loop.
    """

    async def watched() -> T:
        try:
            return await work
        finally:
            left = [one for one in loop.opened if not one.is_closing()]
            assert not (at_once and left), f"{len(left)} of {len(loop.opened)} are open"

    loop = RecordingLoop()
    try:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(watched())
    finally:
        numbers = [one.get_extra_info("socket").fileno() for one in loop.opened]
        assert set(numbers) <= {-1}, "a connection outlives its loop"


class CancelledAt:
    """Work whose task is cancelled at one of its steps, and at each of those that follow.

    A step is what runs between two awaits that wait.

    Args:
        work: what is awaited.
        step: number of the first cancellation; 1: after the first wait.
        times: how often it is cancelled.

    Attributes:
        steps: how many there were.
    """

    def __init__(self, work: Coroutine[Any, Any, Any], step: int, times: int) -> None:
        self.steps = 0
        self._work = work
        self._cancelled = range(step, step + times)

    def __await__(self) -> Generator[Any, None, Any]:
        task = asyncio.current_task()
        assert task is not None
        try:
            waiting = self._work.send(None)
            while True:
                try:
                    yield waiting
                except BaseException as error:
                    self._step(task)
                    waiting = self._work.throw(error)
                else:
                    self._step(task)
                    waiting = self._work.send(None)
        except StopIteration as end:
            return end.value

    def _step(self, task: asyncio.Task[Any]) -> None:
        self.steps += 1
        if self.steps in self._cancelled:
            task.cancel()
