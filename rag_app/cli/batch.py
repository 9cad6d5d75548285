"""Several questions at a time, with answers in the order of the questions."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_app.cli.questions import Asked
from rag_app.cli.session import describe

Record = dict[str, Any]


def answers(
    asked: Sequence[Asked],
    ask: Callable[[str], Record],
    *,
    workers: int,
    redact: Callable[[str], str] = str,
) -> Generator[tuple[Asked, Record]]:
    """Yield each question with its answer, in order, as soon as all before it are there.

    An answer carries the question's ``id`` and ``error``: null, or the failure, which
    does not stop the other questions.

    Args:
        asked: the questions.
        ask: answers one; called from several threads.
        workers: how many are answered at the same time.
        redact: applied to the text of an error.
    """
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Record]] = queue.SimpleQueue()
    for number in range(len(asked)):
        todo.put(number)

    def work() -> None:
        while True:
            try:
                number = todo.get_nowait()
            except queue.Empty:
                return
            done.put((number, _record(asked[number], ask, redact)))

    # Daemons: after Ctrl-C nobody waits for a server.
    for _ in range(min(workers, len(asked))):
        threading.Thread(target=work, daemon=True).start()
    try:
        yield from _in_order(asked, done)
    finally:
        # The caller stopped: each worker ends after its present question.
        with contextlib.suppress(queue.Empty):
            while True:
                todo.get_nowait()


def _in_order(
    asked: Sequence[Asked], done: queue.SimpleQueue[tuple[int, Record]]
) -> Iterator[tuple[Asked, Record]]:
    waiting: dict[int, Record] = {}
    for number, one in enumerate(asked):
        while number not in waiting:
            finished, record = done.get()
            waiting[finished] = record
        yield one, waiting.pop(number)


def _record(one: Asked, ask: Callable[[str], Record], redact: Callable[[str], str]) -> Record:
    try:
        return {"id": one.id, **ask(one.question), "error": None}
    except Exception as error:  # the batch goes on: the record says what failed
        about: Record = {key: redact(text) for key, text in describe(error).items()}
        about["retryable"] = bool(getattr(error, "retryable", False))
        return {"id": one.id, "question": one.question, "error": about}


@dataclass
class Tally:
    """Counts of the outcomes of a batch."""

    kept: int = 0
    failed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        """Count one answer."""
        if record["error"] is not None:
            self.failed += 1
            return
        self.outcomes[record["outcome"]] += 1
        for kind in ("prompt_tokens", "completion_tokens"):
            self.tokens[kind] += record["usage"].get(kind, 0)

    def __str__(self) -> str:
        parts = [f"{self.outcomes['answered']} answered", f"{self.outcomes['refused']} refused"]
        if self.outcomes["closest"]:
            parts.append(f"{self.outcomes['closest']} with only the closest passages")
        if self.outcomes["other_language"]:
            parts.append(f"{self.outcomes['other_language']} in another language")
        parts.append(f"{self.failed} failed")
        if self.kept:
            parts.append(f"{self.kept} done before")
        if self.tokens.total():
            read, written = self.tokens["prompt_tokens"], self.tokens["completion_tokens"]
            parts.append(f"{read} tokens read and {written} written by the model")
        return ", ".join(parts)
