import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_app.turns import Turn


def test_turns_are_taken_one_at_a_time():
    turn = Turn()
    inside, most = [0], [0]

    def compute(_):
        with turn.taken():
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.001)
            inside[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(compute, range(40)))
    assert most == [1]
    assert not turn.is_mine


def test_lent_turn_is_taken_by_another_and_comes_back():
    turn = Turn()
    with turn.taken(), ThreadPoolExecutor(1) as pool:
        with turn.lent():
            assert not turn.is_mine
            assert pool.submit(_is_taken, turn).result(5)
        assert turn.is_mine
        assert not _free(turn, pool)
    assert not turn.is_mine


def test_turn_taken_again_within_is_one_turn():
    turn = Turn()
    with ThreadPoolExecutor(1) as pool:
        with turn.taken():
            with turn.taken():
                assert turn.is_mine
            assert turn.is_mine
            assert not _free(turn, pool)
        assert _free(turn, pool)


def test_lending_without_a_turn_does_nothing():
    turn = Turn()
    with turn.lent():
        assert not turn.is_mine
    with turn.taken(), turn.lent(), turn.lent():
        assert not turn.is_mine
    assert not turn.is_mine


def test_turn_ends_with_what_fails_in_it():
    turn = Turn()
    with pytest.raises(KeyError), turn.taken():
        raise KeyError
    with pytest.raises(KeyError), turn.taken(), turn.lent():
        raise KeyError
    with turn.taken():
        assert turn.is_mine


def test_who_waits_too_long_goes_on_beside_the_others():
    turn = Turn(patience=0.01)
    with turn.taken(), ThreadPoolExecutor(1) as pool:
        assert pool.submit(_is_taken, turn).result(5) is False
        assert turn.is_mine
    with turn.taken():
        assert turn.is_mine


def test_turn_of_another_thread_does_not_outlive_a_fork():
    turn = Turn()
    read, write = os.pipe()
    taken, done = threading.Event(), threading.Event()

    def hold():
        with turn.taken():
            taken.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(5)
    child = os.fork()
    if not child:
        with turn.taken():
            os.write(write, b"1" if turn.is_mine else b"0")
        os._exit(0)
    os.waitpid(child, 0)
    done.set()
    thread.join()
    assert os.read(read, 1) == b"1"
    os.close(read)
    os.close(write)


def _is_taken(turn):
    with turn.taken():
        return turn.is_mine


def _free(turn, pool):
    return pool.submit(_try, turn).result(5)


def _try(turn):
    free = turn._lock.acquire(blocking=False)
    if free:
        turn._lock.release()
    return free
