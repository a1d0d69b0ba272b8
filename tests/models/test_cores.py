"""Long work in the background holds a core, and lets others have it between two parts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from lab.models import cores
from lab.models.cores import alone, breathe, give_way, on_every_core, one_core
from lab.ui.long_work import begin


@pytest.fixture(autouse=True)
def single(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_FOR_PAGES", threading.BoundedSemaphore(1))
    monkeypatch.setattr(cores, "_FOR_LONG_WORK", threading.BoundedSemaphore(1))
    cores.begin_in_front()


def waiting(served: threading.Event) -> threading.Thread:
    """Somebody who needs the only core for a moment."""

    def page() -> None:
        with one_core():
            served.set()

    thread = threading.Thread(target=page, daemon=True)
    thread.start()
    return thread


def test_who_waits_goes_first() -> None:
    served = threading.Event()
    with one_core():
        thread = waiting(served)
        assert not served.wait(0.05)
        for _ in range(50):
            give_way()
        assert served.is_set()
    thread.join(1)
    with one_core():  # it is free again, once
        assert not cores._FOR_PAGES.acquire(blocking=False)


def test_who_holds_no_core_gives_none_away() -> None:
    give_way()
    assert cores._FOR_PAGES.acquire(blocking=False)
    assert not cores._FOR_PAGES.acquire(blocking=False)


def test_an_experiment_lets_a_page_in_before_it_ends() -> None:
    served, begun, ended = threading.Event(), threading.Event(), threading.Event()
    let_in: list[bool] = []

    def work(progress: Callable[[float], None]) -> None:
        begun.set()
        until = time.monotonic() + 3
        while not served.is_set() and time.monotonic() < until:
            progress(0.5)
        let_in.append(served.is_set())
        ended.set()

    begin("an experiment", work, brief=False)
    assert begun.wait(5)
    waiting(served).join(5)
    assert ended.wait(5) and let_in == [True]


def test_work_on_every_core_keeps_its_order_and_gives_the_core_back(monkeypatch: pytest.MonkeyPatch) -> None:
    for queue in ("_FOR_PAGES", "_FOR_LONG_WORK"):
        monkeypatch.setattr(cores, queue, threading.BoundedSemaphore(2))
    monkeypatch.setattr(cores, "COUNT", 2)
    both, told = threading.Barrier(2, timeout=5), list[int]()

    def work(item: int) -> int:
        if item < 2:
            both.wait()  # passes only if two parts are under way at once, though the asking thread held a core
        return item * item

    with one_core():
        assert on_every_core(work, range(9), told.append) == [item * item for item in range(9)]
    assert told == list(range(1, 10))
    assert all(cores._FOR_PAGES.acquire(blocking=False) for _ in range(2))


@pytest.mark.parametrize("in_part", [True, False], ids=["a part", "who is told"])
def test_what_goes_wrong_ends_the_work_on_every_core(in_part: bool) -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        time.sleep(0.01)
        if in_part and item == 1:
            raise KeyError(item)

    def tell(done: int) -> None:
        if not in_part and done == 2:
            raise KeyError(done)

    with pytest.raises(KeyError), one_core():
        on_every_core(work, range(1000), tell)
    assert len(begun) < 50
    assert cores._FOR_PAGES.acquire(blocking=False) and not cores._FOR_PAGES.acquire(blocking=False)


def test_who_has_computed_for_long_goes_on_in_the_second_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "LONG", 0.02)
    with one_core():
        time.sleep(0.03)
        assert not cores._FOR_PAGES.acquire(blocking=False)
        give_way()
        assert cores._FOR_PAGES.acquire(blocking=False) and not cores._FOR_LONG_WORK.acquire(blocking=False)
        cores._FOR_PAGES.release()
    cores.begin_in_front()
    with one_core():
        assert not cores._FOR_PAGES.acquire(blocking=False) and cores._FOR_LONG_WORK.acquire(blocking=False)


def test_a_breath_is_taken_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    gave = list[int]()
    monkeypatch.setattr(cores, "give_way", lambda: gave.append(1))
    breathe()
    with one_core():
        breathe()
        assert not gave
        time.sleep(2 * cores._BREATH)
        breathe()
    breathe()
    assert gave == [1]


def test_who_waits_for_a_lock_holds_no_core_meanwhile() -> None:
    """Its owner gives way to others, and takes the core again."""
    lock, inside, done = threading.Lock(), threading.Event(), list[str]()

    def owner() -> None:
        with alone(lock):
            inside.set()
            time.sleep(0.05)
            give_way()
            done.append("owner")

    def other() -> None:
        with one_core(), alone(lock):
            done.append("other")

    threads = [threading.Thread(target=owner, daemon=True)]
    threads[0].start()
    assert inside.wait(1)
    threads.append(threading.Thread(target=other, daemon=True))
    threads[1].start()
    for thread in threads:
        thread.join(cores._PATIENCE / 2)
    assert done == ["owner", "other"]


def test_nobody_waits_for_a_core_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_PATIENCE", 0.05)
    assert cores._FOR_PAGES.acquire(blocking=False)
    with one_core(), one_core():
        pass
    cores._FOR_PAGES.release()
    with one_core():
        assert not cores._FOR_PAGES.acquire(blocking=False)
