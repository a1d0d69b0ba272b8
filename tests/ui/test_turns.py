"""Pages take turns: in the order they came, so many at once, and a slow one does not stop the others."""

from __future__ import annotations

import threading
import time

import pytest

from lab.ui.turns import Turns

LONG = 60.0  # seconds that no test lasts


class Guest(threading.Thread):
    """Somebody who takes a turn and keeps it until told to go; ``order`` is who began, in that order."""

    def __init__(self, turns: Turns, order: list[Guest]) -> None:
        super().__init__(daemon=True)
        self.turns, self.order = turns, order
        self.began, self.leave = threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        with self.turns.turn():
            self.order.append(self)
            self.began.set()
            assert self.leave.wait(LONG)

    def goes(self) -> None:
        self.leave.set()
        self.join(LONG)


def queue(turns: Turns, order: list[Guest], length: int) -> list[Guest]:
    """So many guests, each in the queue before the next one comes."""
    guests = []
    for number in range(length):
        guests.append(Guest(turns, order))
        deadline = time.monotonic() + LONG
        while len(turns._waiting) + len(order) <= number and time.monotonic() < deadline:
            time.sleep(0.001)
    return guests


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_first_come_first_served(at_once: int) -> None:
    order: list[Guest] = []
    guests = queue(Turns(at_once, patience=LONG), order, 9)
    for number, guest in enumerate(guests):
        assert guest.began.wait(LONG)
        for ready in guests[number : number + at_once]:
            assert ready.began.wait(LONG)
        assert not any(waiting.began.is_set() for waiting in guests[number + at_once :])
        guest.goes()
    assert order == guests


def test_a_slow_page_lets_the_next_one_begin() -> None:
    order: list[Guest] = []
    turns = Turns(1, patience=0.2)
    slow, quick, last = queue(turns, order, 3)
    start = time.monotonic()
    assert quick.began.wait(LONG)
    assert 0.1 < time.monotonic() - start < 20
    quick.goes()
    assert last.began.wait(LONG), "the slow one, still there, keeps nobody waiting"
    assert order == [slow, quick, last]
    last.goes()
    slow.goes()
    assert not turns._since and not turns._waiting


def test_a_page_that_fails_gives_its_turn_back() -> None:
    turns = Turns(1, patience=LONG)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), turns.turn():
            raise ZeroDivisionError
    with turns.turn():
        assert len(turns._since) == 1


def test_everybody_gets_a_turn() -> None:
    turns, inside, most, served = Turns(2, patience=LONG), [], [], []

    def page(number: int) -> None:
        for _ in range(5):
            with turns.turn():
                inside.append(number)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.remove(number)
            served.append(number)

    threads = [threading.Thread(target=page, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert len(served) == 150 and max(most) == 2
