"""A job goes on as long as somebody watches it; left alone, it ends. Jobs take turns by visitor."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator

import pytest

from lab.models import jobs
from lab.models.jobs import Job, running, start


class Person:
    """Somebody who is there until they leave; everybody has an address of their own unless it is given."""

    here = True

    def __init__(self, address: str = "", browser: str = "") -> None:
        self.address = address or str(id(self))
        self.browser = browser

    def __call__(self) -> bool:
        return self.here


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(jobs, "GRACE", 0.05)
    monkeypatch.setattr(jobs, "_LOOK", 0.01)
    yield
    for job in list(jobs._RUNNING.values()):
        job.stop()


@pytest.fixture
def pool() -> jobs.Pool:
    """One place, and one that is kept for brief jobs."""
    return jobs.Pool(1)


def counted(done: list[int]) -> Callable[[Job], None]:
    """Work of a million parts."""

    def work(job: Job) -> None:
        for part in range(1, 1_000_001):
            done.append(part)
            job.tell(part, 1_000_000)
            time.sleep(0.001)

    return work


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def stands_still(done: list[int]) -> bool:
    before = len(done)
    time.sleep(0.1)
    return len(done) == before


def test_it_ends_when_the_last_one_leaves_and_begins_anew_for_the_next(pool: jobs.Pool) -> None:
    done, again, (first, second, third) = list[int](), list[int](), (Person(), Person(), Person())
    job = start("key", counted(done), watcher=first, pool=pool)
    assert start("key", counted([]), watcher=second, pool=pool) is job
    until(lambda: len(done) > 10)
    first.here = False
    time.sleep(0.1)
    assert not stands_still(done), "the second one is still there"
    second.here = False
    until(lambda: job.is_over)
    assert running("key") is None and job.error is None and not pool._held
    start("key", counted(again), watcher=third, pool=pool)
    until(lambda: again[:2] == [1, 2])


def test_who_reloads_finds_it_running(pool: jobs.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "GRACE", 5.0)
    done, person = list[int](), Person()
    job = start("key", counted(done), watcher=person, pool=pool)
    until(lambda: len(done) > 10)
    person.here = False
    assert not stands_still(done)
    person.here = True
    assert not job.is_over


def test_a_part_that_takes_long_is_no_absence(pool: jobs.Pool) -> None:
    """Who is there before a long part and gone for a moment after it has not left."""
    person, told, go_on = Person(), threading.Event(), threading.Event()

    def work(job: Job) -> None:
        job.tell(1, 3)
        told.set()
        assert go_on.wait(10)
        job.tell(2, 3)
        person.here = True
        job.tell(3, 3)
        told.set()

    job = start("key", work, watcher=person, pool=pool)
    assert told.wait(10)
    time.sleep(2 * jobs.GRACE)
    person.here = False
    told.clear()
    go_on.set()
    until(lambda: job.is_over)
    assert told.is_set()


def test_a_download_goes_on_without_a_watcher() -> None:
    done, person = list[int](), Person()
    job = start("key", counted(done), watcher=person)
    until(lambda: len(done) > 10)
    person.here = False
    time.sleep(0.2)
    assert not stands_still(done) and running("key") is job
    job.unwatch(person)
    until(lambda: job.is_over)


def holding(have: list[object], name: object) -> Callable[[Job], None]:
    """Work that goes on until it is stopped; ``have`` lists whose work goes on."""

    def work(job: Job) -> None:
        have.append(name)
        try:
            while True:
                job.tell(1, 1_000_000)
                time.sleep(0.001)
        finally:
            have.remove(name)

    return work


def asked(pool: jobs.Pool, have: list[object], names: Iterable[object], person: Person) -> list[Job]:
    return [start(name, holding(have, name), watcher=person, pool=pool) for name in names]


def ends_and_then(job: Job, have: list[object], then: object) -> None:
    job.stop()
    until(lambda: job.is_over and have == [then])


def test_visitors_take_turns(pool: jobs.Pool) -> None:
    have, (greedy, modest, third) = list[object](), (Person(), Person(), Person())
    one, two, three, _ = asked(pool, have, ["one", "two", "three", "four"], greedy)
    (first,) = asked(pool, have, ["first"], modest)
    until(lambda: have == ["one"])
    assert two.waiting and first.waiting
    ends_and_then(one, have, "first")
    asked(pool, have, ["last"], third)
    ends_and_then(first, have, "two")
    ends_and_then(two, have, "last")
    assert three.waiting


def test_who_has_a_place_comes_after_who_has_none() -> None:
    pool, have, (greedy, modest, third) = jobs.Pool(2), list[object](), (Person(), Person(), Person())
    asked(pool, have, ["greedy"], greedy)
    (other,) = asked(pool, have, ["other"], third)
    until(lambda: len(have) == 2)
    asked(pool, have, ["more"], greedy)
    asked(pool, have, ["modest"], modest)
    other.stop()
    until(lambda: len(have) == 2 and "other" not in have)
    assert have == ["greedy", "modest"]


@pytest.mark.parametrize("place", [("here", ""), ("elsewhere", "")], ids=["another browser", "another address"])
def test_visits_of_one_visitor_are_one(pool: jobs.Pool, place: tuple[str, str]) -> None:
    """Many jobs in many visits leave the next place to somebody else, also behind the same address."""
    have = list[object]()
    crowd = [
        start(number, holding(have, number), watcher=Person("here", "a program"), pool=pool) for number in range(4)
    ]
    asked(pool, have, ["else"], Person(*place))
    until(lambda: have == [0])
    ends_and_then(crowd[0], have, "else")


def test_a_job_of_seconds_does_not_wait_behind_jobs_of_minutes(pool: jobs.Pool) -> None:
    have = list[object]()
    long = [start(number, holding(have, number), watcher=Person(), pool=pool) for number in range(3)]
    brief = start("brief", holding(have, "brief"), watcher=Person(), pool=pool, brief=True)
    until(lambda: set(have) == {0, "brief"})
    late = start("late", holding(have, "late"), watcher=Person(), pool=pool, brief=True)
    assert late.waiting, "one place is kept"
    brief.stop()
    until(lambda: set(have) == {0, "late"})
    ends_and_then(late, have, 0)
    assert long[1].waiting, "the kept place is for brief jobs only"


def test_one_that_ends_while_it_waits_takes_no_place(pool: jobs.Pool) -> None:
    have, people = list[object](), [Person() for _ in range(4)]
    first, second, left, _ = (
        start(number, holding(have, number), watcher=person, pool=pool) for number, person in enumerate(people)
    )
    until(lambda: have == [0])
    second.unwatch(people[1])
    people[2].here = False
    until(lambda: second.is_over and left.is_over)
    first.unwatch(people[0])
    until(lambda: have == [3])


def test_a_browser_an_address_and_all_fill_only_their_part(pool: jobs.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MOST", (6, 4, 2))
    have = list[object]()

    def ask(name: object, address: str, browser: str) -> Job:
        return start(name, holding(have, name), watcher=Person(address, browser), pool=pool)

    one, _ = ask(0, "s", "a"), ask(1, "s", "a")
    with pytest.raises(jobs.TooMany, match="Stop one of your runs"):
        ask(2, "s", "a")
    assert running(2) is None and ask(0, "s", "a") is one, "who joins a job asks for nothing more"
    ask(2, "s", "b"), ask(3, "s", "b")
    with pytest.raises(jobs.TooMany):
        ask(4, "s", "c")
    ask(4, "t", "d"), ask(5, "u", "e")
    with pytest.raises(jobs.TooMany):
        ask(6, "v", "f")
    one.stop()
    until(lambda: one.is_over)
    ask(6, "v", "f")


def test_who_stops_a_job_that_others_wait_for_stops_it_for_themselves() -> None:
    done, (one, other) = list[int](), (Person(), Person())
    job = start("key", counted(done), watcher=one)
    start("key", counted([]), watcher=other)
    job.unwatch(one)
    assert not stands_still(done) and running("key") is job
    job.unwatch(other)
    until(lambda: job.is_over and running("key") is None)


def test_who_joins_while_the_last_one_stops_gets_a_job_that_goes_on() -> None:
    first, second, got = Person(), Person(), list[Job]()
    job = start("key", counted([]), watcher=first)

    class Watchers(set):
        """Lets somebody join in the middle of :meth:`Job.unwatch`."""

        def discard(self, watcher: object) -> None:
            super().discard(watcher)
            joining = threading.Thread(target=lambda: got.append(start("key", counted([]), watcher=second)))
            joining.start()
            joining.join(0.2)

    job._watchers = Watchers(job._watchers)
    job.unwatch(first)
    until(lambda: bool(got))
    time.sleep(0.05)
    assert not got[0].is_over and running("key") is got[0]
    assert not job.watch(second), "a job that was stopped takes nobody in"


class Panic(BaseException):
    """As a library in Rust raises it."""


@pytest.mark.parametrize("raised", [SystemExit, Panic, KeyboardInterrupt, ValueError])
def test_whatever_ends_a_job_is_told(raised: type[BaseException], caplog: pytest.LogCaptureFixture) -> None:
    def work(job: Job) -> None:
        job.tell(1, 2)
        raise raised("broken")

    job = start(("key", raised), work)
    until(lambda: job.is_over)
    assert isinstance(job.error, jobs.Failed) and "broken" in caplog.text
