"""What calls cost: counted in a context, and in no other."""

from __future__ import annotations

import threading

from rag_app.models.usage import Meter, Reply, count, metered

REPLY = Reply("yes", 10, 2, estimated=False, cut=False, calls=1)
RETRIED = Reply("yes", 5, 1, estimated=True, cut=False, calls=2)


def test_all_replies_of_a_context_are_summed():
    with metered() as meter:
        count(REPLY)
        count(RETRIED)
    assert meter == Meter(calls=3, prompt_tokens=15, completion_tokens=3, estimated=True)


def test_an_inner_context_counts_for_itself_and_the_outer_goes_on():
    with metered() as outer:
        with metered() as inner:
            count(REPLY)
        count(RETRIED)
    assert (inner.calls, outer.calls) == (1, 2)


def test_without_a_context_or_in_another_thread_nothing_is_counted():
    count(REPLY)
    with metered() as meter:
        other = threading.Thread(target=count, args=(REPLY,))
        other.start()
        other.join()
    count(REPLY)
    assert meter.calls == 0
