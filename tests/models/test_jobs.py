"""A job goes on as long as somebody watches it; left alone, it rests with what it has done, or ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

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


def counted(done: list[int]) -> Callable[[Job], None]:
    """Work of a million parts, which rests when it is left."""

    def work(job: Job) -> None:
        for part in range(1, 1_000_001):
            done.append(part)
            job.tell(part, 1_000_000)
            if job.forsaken:
                job.rest()
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


def test_it_rests_when_the_last_one_leaves_and_goes_on_for_the_next() -> None:
    done, (first, second, third) = list[int](), (Person(), Person(), Person())
    job = start("key", counted(done), watcher=first)
    assert start("key", counted([]), watcher=second) is job
    until(lambda: len(done) > 10)
    first.here = False
    time.sleep(0.1)
    assert not job.resting, "the second one is still there"
    second.here = False
    until(lambda: job.resting)
    assert stands_still(done) and running("key") is job
    assert start("key", counted([]), watcher=third) is job
    until(lambda: not job.resting and not stands_still(done))
    assert done == list(range(1, len(done) + 1)), "no part was done twice"


def test_who_reloads_finds_it_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "GRACE", 5.0)
    done, person = list[int](), Person()
    job = start("key", counted(done), watcher=person)
    until(lambda: len(done) > 10)
    person.here = False
    assert not stands_still(done)
    person.here = True
    assert not job.resting


def test_a_job_that_nobody_needs_to_watch_goes_on() -> None:
    done: list[int] = []
    job = start("key", counted(done))
    time.sleep(0.2)
    assert not job.resting and not stands_still(done)


def test_only_a_few_rest_and_the_oldest_end() -> None:
    people = [Person() for _ in range(jobs.RESTING + 2)]
    made = []
    for number, person in enumerate(people):
        made.append(start(number, counted([]), watcher=person))
        until(lambda: made[-1].done > 0)
        person.here = False
        until(lambda: made[-1].resting)
    until(lambda: [running(number) for number in range(len(people))] == [None, None, *made[2:]])
    until(lambda: sum(thread.name.startswith("job ") for thread in threading.enumerate()) == jobs.RESTING)


def test_nobody_comes_again_and_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "RESTS", 0.1)
    person = Person()
    job = start("key", counted([]), watcher=person)
    until(lambda: job.done > 0)
    person.here = False
    until(lambda: running("key") is None)


def test_one_that_has_done_nothing_ends_at_once() -> None:
    person, ended = Person(), threading.Event()
    person.here = False

    def work(job: Job) -> None:
        time.sleep(0.1)
        assert job.forsaken
        try:
            job.rest()
        finally:
            ended.set()

    start("key", work, watcher=person)
    assert ended.wait(10)
    until(lambda: running("key") is None)


def holding(places: jobs.Places, have: list[object], name: object) -> Callable[[Job], None]:
    """Work that holds a place until it is stopped, and pauses when it must; ``have`` lists who holds a place."""

    def work(job: Job) -> None:
        with places.place(job):
            have.append(name)
            try:
                while True:
                    job.tell(1, 1_000_000)
                    if places.must_pause(job):
                        have.remove(name)
                        places.pause(job)
                        have.append(name)
                    time.sleep(0.001)
            finally:
                if name in have:
                    have.remove(name)

    return work


def test_a_visitor_who_begins_everything_leaves_a_place_to_the_next() -> None:
    places, have, (greedy, modest) = jobs.Places(2), list[object](), (Person(), Person())
    for number in range(4):
        start(number, holding(places, have, number), watcher=greedy)
    until(lambda: len(have) == 2)
    job = start("modest", holding(places, have, "modest"), watcher=modest)
    until(lambda: "modest" in have and len(have) == 2)
    assert not job.waiting and not stands_changed(have, "modest")
    job.stop()
    until(lambda: "modest" not in have and len(have) == 2)


def stands_changed(have: list[object], name: object) -> bool:
    """Whether ``name`` loses its place, or more than two hold one, within a moment."""
    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        if len(have) > 2 or name not in have:
            return True
        time.sleep(0.002)
    return False


def test_one_that_ends_while_it_waits_takes_no_place() -> None:
    places, have, people = jobs.Places(1), list[object](), [Person() for _ in range(3)]
    first, second, third = (
        start(number, holding(places, have, number), watcher=person) for number, person in enumerate(people)
    )
    until(lambda: have == [0] and second.waiting and third.waiting)
    second.unwatch(people[1])
    until(lambda: second.is_over)
    first.unwatch(people[0])
    until(lambda: have == [2] and not third.waiting)


def test_one_that_rests_while_it_waits_holds_nobody_up() -> None:
    places, have, people = jobs.Places(1), list[object](), [Person() for _ in range(3)]
    first = start(0, holding(places, have, 0), watcher=people[0])
    until(lambda: have == [0])
    left = start(1, holding(places, have, 1), watcher=people[1])
    until(lambda: left.waiting)
    left.tell(1, 2)
    people[1].here = False
    until(lambda: left.resting)
    start(2, holding(places, have, 2), watcher=people[2])
    first.stop()
    until(lambda: have == [2])


def test_who_stops_a_job_that_others_wait_for_stops_it_for_themselves() -> None:
    done, (one, other) = list[int](), (Person(), Person())
    job = start("key", counted(done), watcher=one)
    start("key", counted([]), watcher=other)
    job.unwatch(one)
    assert not stands_still(done) and running("key") is job
    job.unwatch(other)
    until(lambda: job.is_over and running("key") is None)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job is long after a third of a second."""
    monkeypatch.setattr(jobs, "LONG", 0.33)


@pytest.mark.usefixtures("quick")
def test_a_job_of_seconds_does_not_wait_behind_jobs_of_minutes() -> None:
    places, have = jobs.Places(1), list[object]()
    long = [start(number, holding(places, have, number), watcher=Person()) for number in range(3)]
    until(lambda: all(job.spent > jobs.LONG for job in long))

    def brief(job: Job) -> None:
        with places.place(job):
            have.append("brief")
            for _ in range(5):
                job.tell(1, 5)
                assert not places.must_pause(job)
                time.sleep(0.001)
            have.remove("brief")

    job = start("brief", brief, watcher=Person())
    until(lambda: job.is_over)
    assert job.error is None
    until(lambda: len(have) == 1)
    assert not stands_changed(have, have[0]), "long ones do not take the place from each other"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("place", [("here", ""), ("elsewhere", "")], ids=["another browser", "another address"])
def test_visits_of_one_visitor_are_one(place: tuple[str, str]) -> None:
    """Thirty jobs in thirty visits leave the first place to somebody else, also behind the same address."""
    places, have = jobs.Places(2), list[object]()
    crowd = [start(number, holding(places, have, number), watcher=Person("here", "a program")) for number in range(30)]
    until(lambda: len(have) == 2)
    job = start("else", holding(places, have, "else"), watcher=Person(*place))
    until(lambda: "else" in have)
    assert not stands_changed(have, "else")
    assert sum(job.spent > 0 for job in crowd) <= jobs.MOST_BEGUN[2], "nor do they all hold memory"
    job.stop()


@pytest.mark.usefixtures("quick")
def test_few_jobs_are_under_way() -> None:
    places, have = jobs.Places(1), list[object]()
    at_school = [start(number, holding(places, have, number), watcher=Person("s", str(number))) for number in range(15)]
    until(lambda: sum(job.spent > 0 for job in at_school) == jobs.MOST_BEGUN[1])
    time.sleep(0.5)
    assert sum(job.spent > 0 for job in at_school) == jobs.MOST_BEGUN[1]
    others = [start(100 + number, holding(places, have, number), watcher=Person()) for number in range(15)]
    until(lambda: sum(job.spent > 0 for job in (*at_school, *others)) == jobs.MOST_BEGUN[0])
    time.sleep(0.5)
    assert sum(job.spent > 0 for job in (*at_school, *others)) == jobs.MOST_BEGUN[0]


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
