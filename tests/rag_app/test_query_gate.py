import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_app.query_gate import QueryGate


def test_queries_compute_one_at_a_time():
    query_gate = QueryGate()
    inside, most = [0], [0]

    def compute(_):
        with query_gate.entered():
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.001)
            inside[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(compute, range(40)))
    assert most == [1]
    assert not query_gate.is_mine


def test_released_gate_is_entered_by_another_and_comes_back():
    query_gate = QueryGate()
    with query_gate.entered(), ThreadPoolExecutor(1) as pool:
        with query_gate.released():
            assert not query_gate.is_mine
            assert pool.submit(_is_inside, query_gate).result(5)
        assert query_gate.is_mine
        assert not _free(query_gate, pool)
    assert not query_gate.is_mine


def test_gate_entered_again_within_is_entered_once():
    query_gate = QueryGate()
    with ThreadPoolExecutor(1) as pool:
        with query_gate.entered():
            with query_gate.entered():
                assert query_gate.is_mine
            assert query_gate.is_mine
            assert not _free(query_gate, pool)
        assert _free(query_gate, pool)


def test_releasing_outside_of_the_gate_does_nothing():
    query_gate = QueryGate()
    with query_gate.released():
        assert not query_gate.is_mine
    with query_gate.entered(), query_gate.released(), query_gate.released():
        assert not query_gate.is_mine
    assert not query_gate.is_mine


def test_gate_is_left_when_the_query_fails():
    query_gate = QueryGate()
    with pytest.raises(KeyError), query_gate.entered():
        raise KeyError
    with pytest.raises(KeyError), query_gate.entered(), query_gate.released():
        raise KeyError
    with query_gate.entered():
        assert query_gate.is_mine


def test_who_waits_too_long_goes_on_beside_the_others():
    query_gate = QueryGate(max_wait_s=0.01)
    with query_gate.entered(), ThreadPoolExecutor(1) as pool:
        assert pool.submit(_is_inside, query_gate).result(5) is False
        assert query_gate.is_mine
    with query_gate.entered():
        assert query_gate.is_mine


def test_gate_held_by_another_thread_does_not_outlive_a_fork():
    query_gate = QueryGate()
    read, write = os.pipe()
    taken, done = threading.Event(), threading.Event()

    def hold():
        with query_gate.entered():
            taken.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(5)
    child = os.fork()
    if not child:
        with query_gate.entered():
            os.write(write, b"1" if query_gate.is_mine else b"0")
        os._exit(0)
    os.waitpid(child, 0)
    done.set()
    thread.join()
    assert os.read(read, 1) == b"1"
    os.close(read)
    os.close(write)


def _is_inside(query_gate):
    with query_gate.entered():
        return query_gate.is_mine


def _free(query_gate, pool):
    return pool.submit(_try, query_gate).result(5)


def _try(query_gate):
    free = query_gate._lock.acquire(blocking=False)
    if free:
        query_gate._lock.release()
    return free
