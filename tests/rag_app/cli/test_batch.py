from __future__ import annotations

import random
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.errors import LLMTimeoutError
from rag_app.cli.batch import answers
from rag_app.cli.questions import Asked, unnamed_key
from tests.support.hanging import MAX_HANG_S


def asked(count: int) -> list[Asked]:
    return [Asked(n, f"Q{n}", unnamed_key(f"Q{n}", 0)) for n in range(count)]


def answer(question: str) -> dict[str, object]:
    return {"question": question}


class InAnyOrder:
    """Answers of the questions that are asked at the same time one that is chosen by chance."""

    def __init__(self, count: int, workers: int, seed: int) -> None:
        self._left, self._workers = count, workers
        self._chooser = random.Random(seed)
        self._waiting: list[str] = []
        self._turn = threading.Condition()

    def __call__(self, question: str) -> dict[str, object]:
        with self._turn:
            self._waiting.append(question)
            while self._waiting and len(self._waiting) >= min(self._workers, self._left):
                self._waiting.remove(self._chooser.choice(self._waiting))
                self._left -= 1
                self._turn.notify_all()
            assert self._turn.wait_for(lambda: question not in self._waiting, MAX_HANG_S)
        return answer(question)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 12), st.integers(1, 5), st.integers(0, 999))
def test_answers_come_in_the_order_of_the_questions(count, workers, seed):
    ask = InAnyOrder(count, workers, seed)
    found = list(answers(asked(count), ask, workers=workers))
    assert [record["question"] for _, record in found] == [one.question for one in asked(count)]


def test_one_that_fails_is_in_the_output_and_the_others_go_on():
    def ask(question: str) -> dict[str, object]:
        if question == "Q1":
            raise LLMTimeoutError("no answer with sk-secret-key", hint="wait")
        return answer(question)

    def redact(text: str) -> str:
        return text.replace("sk-secret-key", "***")

    records = [r for _, r in answers(asked(3), ask, workers=2, redact=redact)]
    assert [record["error"] for record in records] == [
        None,
        {
            "kind": "LLMTimeoutError",
            "message": "no answer with ***",
            "hint": "wait",
            "retryable": True,
        },
        None,
    ]


def test_several_are_asked_at_the_same_time():
    barrier = threading.Barrier(3, timeout=MAX_HANG_S)

    def ask(question: str) -> dict[str, object]:
        barrier.wait()
        return answer(question)

    assert len(list(answers(asked(3), ask, workers=3))) == 3


def test_nothing_more_is_asked_when_nobody_reads_on():
    begun: list[str] = []
    gone = threading.Event()
    others = set(threading.enumerate())

    def ask(question: str) -> dict[str, object]:
        begun.append(question)
        assert question == "Q0" or gone.wait(MAX_HANG_S)
        return answer(question)

    stream = answers(asked(50), ask, workers=1)
    next(stream)
    (worker,) = set(threading.enumerate()) - others
    stream.close()
    gone.set()
    worker.join(MAX_HANG_S)
    assert begun in (["Q0"], ["Q0", "Q1"])
