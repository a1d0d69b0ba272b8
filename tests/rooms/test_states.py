"""Who comes into a room and how fast, who is taken out of it, and how long a room lasts that nobody joins."""

from __future__ import annotations

import random

import pytest

from lab.rooms.codes import is_signed, new_seat, new_secret
from lab.rooms.rooms import LIFE, UNUSED_LIFE, NoSuchRoom, NotNow, NotTheTeacher, Rooms, Waits
from lab.rooms.states import AT_ONCE, EVERY, Phase
from tests.rooms.test_rooms import opened, posed, rounds, state

LOOKS = 2.0  # seconds between two tries of a page that waits


class Time:
    """A clock that the rooms read, and that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr("time.time", found.time)
    return found


def comes_in(rooms: Rooms, code: str, visit: str) -> bool:
    try:
        rooms.join(code, visit)
    except Waits:
        return False
    return True


def crowd(rooms: Rooms, clock: Time, code: str, arrivals: list[float], seconds: float) -> list[float]:
    """When each of those who arrive at these seconds is in; whoever waits tries again as the page does."""
    start, tries = clock.now, sorted((at, f"visit {number}") for number, at in enumerate(arrivals))
    came = []
    while tries and tries[0][0] <= seconds:
        at, visit = tries.pop(0)
        clock.now = start + at
        if comes_in(rooms, code, visit):
            came.append(at)
        else:
            tries = sorted([*tries, (at + LOOKS, visit)])
    return came


@pytest.mark.parametrize("spread", [0.0, 5.0, 30.0], ids=lambda spread: f"within {spread:.0f} s")
def test_a_class_of_a_hundred_is_in_after_half_a_minute(rooms: Rooms, clock: Time, spread: float) -> None:
    code, _ = rooms.create()
    chance = random.Random(0)
    came = crowd(rooms, clock, code, [chance.uniform(0, spread) for _ in range(100)], 32.0)
    assert len(came) == 100
    if spread == 30.0:
        assert state(rooms, code).people == 100 and not rooms.states()[code].is_crowded


@pytest.mark.parametrize(("spread", "longest"), [(10.0, 8.0), (20.0, 2.0)])
def test_a_class_of_a_hundred_hardly_waits(rooms: Rooms, clock: Time, spread: float, longest: float) -> None:
    """When fifty came in at once, one load run in fourteen had somebody who waited for more than ten seconds."""
    code, _ = rooms.create()
    chance = random.Random(0)
    assert len(crowd(rooms, clock, code, [chance.uniform(0, spread) for _ in range(100)], spread + longest)) == 100


def test_at_one_moment_so_many_come_in_and_no_more(rooms: Rooms, clock: Time) -> None:
    code, _ = rooms.create()
    assert sum(comes_in(rooms, code, f"visit {number}") for number in range(2 * AT_ONCE)) == AT_ONCE


def test_a_crowd_comes_in_at_a_bounded_rate_and_the_teacher_is_told(rooms: Rooms, clock: Time) -> None:
    code, _ = rooms.create()
    assert not state(rooms, code).is_crowded
    came = crowd(rooms, clock, code, [number / 13 for number in range(160)], 20.0)
    assert len(came) <= AT_ONCE + 20 / EVERY + 1
    found = state(rooms, code)
    assert found.is_crowded and (found.people, found.lately) == (len(came), len(came))
    clock.now += 120
    assert not state(rooms, code).is_crowded and state(rooms, code).lately == 0


def test_whoever_is_in_comes_back_through_a_closed_door_and_a_crowd(rooms: Rooms, clock: Time) -> None:
    code, key = rooms.create()
    seat = rooms.join(code, "early")
    while comes_in(rooms, code, new_secret()):
        pass
    with pytest.raises(Waits, match="at this moment"):
        rooms.join(code, "late")
    assert rooms.join(code, "early") == rooms.join(code, "another connection", seat) == seat
    clock.now += 60
    rooms.set_door(code, key, is_open=False)
    with pytest.raises(Waits, match="closed the door"):
        rooms.join(code, "late")
    assert rooms.join(code, "another connection", seat) == seat
    assert not rooms.states()[code].door.is_open
    rooms.set_door(code, key, is_open=True)
    rooms.join(code, "late")


def test_a_seat_is_made_for_one_visit_and_room_and_no_other_is_taken(rooms: Rooms) -> None:
    (code, _), (elsewhere, _) = rooms.create(), rooms.create()
    seat, foreign = rooms.join(code, "a"), rooms.join(elsewhere, "a")
    assert foreign != seat
    forged = ["", ".", new_secret(), new_seat("a", ""), foreign, seat[:-1], f"{seat[:32]}.{foreign[33:]}", "\ud800.é"]
    for each in forged:
        assert rooms.join(code, "a", each) == seat
    assert rooms.join(code, "b", foreign) not in (seat, foreign)
    assert state(rooms, code).people == 2
    seal = new_secret()
    assert is_signed(new_seat("a", seal), seal) and not any(is_signed(each, seal) for each in forged)
    assert new_seat("a", seal) == new_seat("a", seal) != new_seat("b", seal)


def test_whoever_came_after_a_moment_is_taken_out_with_their_answers(rooms: Rooms, clock: Time) -> None:
    code, key, early = opened(rooms, 3)
    other, other_key, (elsewhere, *_) = opened(rooms, 1)
    clock.now += 100
    moment = clock.now
    late = [rooms.join(code, f"late {number}") for number in range(4)]
    for option, seat in enumerate([*early, *late]):
        rooms.vote(code, seat, 1, 1, option % 3, 1)
    rooms.vote(other, elsewhere, 1, 1, 0, 1)
    with pytest.raises(NotTheTeacher):
        rooms.remove(code, early[0], moment)
    seen = state(rooms, code).version
    assert rooms.remove(code, key, moment) == 4
    found = state(rooms, code)
    assert (found.people, found.answers, found.door.is_open) == (3, 3, False) and found.version > seen
    assert rounds(rooms, code, key)[0].options == (1, 1, 1)
    assert rounds(rooms, other, other_key)[0].count == 1
    assert rooms.seen(code, early[0]).inside and not rooms.seen(code, late[0]).inside
    with pytest.raises(NotNow, match="not in this room"):
        rooms.vote(code, late[0], 1, 1, 0, 1)
    with pytest.raises(Waits):
        rooms.join(code, "late 0", late[0])
    rooms.set_door(code, key, is_open=True)
    assert rooms.join(code, "late 0", late[0]) == late[0]


def test_a_round_is_emptied_and_answered_again(rooms: Rooms) -> None:
    code, key, (who, *_) = opened(rooms)
    rooms.vote(code, who, 1, 1, 0, 1)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    with pytest.raises(NotNow):
        rooms.empty(code, key, 1, 1)
    rooms.step(code, key, Phase.CLOSED, Phase.DISCUSS)
    rooms.step(code, key, Phase.DISCUSS, Phase.OPEN_AGAIN)
    rooms.vote(code, who, 1, 2, 1, 1)
    seen = state(rooms, code).version
    for number, turn in ((1, 1), (2, 2)):
        with pytest.raises(NotNow):
            rooms.empty(code, key, number, turn)
    with pytest.raises(NotTheTeacher):
        rooms.empty(code, who, 1, 2)
    rooms.empty(code, key, 1, 2)
    assert state(rooms, code).version > seen and 2 not in rooms.seen(code, who).mine
    assert [each.options for each in rounds(rooms, code, key)] == [(1, 0, 0)]
    rooms.vote(code, who, 1, 2, 2, 1)
    assert rounds(rooms, code, key)[1].options == (0, 0, 1)


def test_a_room_ends_an_hour_after_the_last_sign_of_its_teacher_and_after_a_day(rooms: Rooms, clock: Time) -> None:
    start = int(clock.now)
    (left, _), (taught, key) = rooms.create(), rooms.create()
    rooms.join(left, "somebody")  # a participant is no sign of the teacher
    assert rooms.tidy() == start + UNUSED_LIFE
    clock.now = start + UNUSED_LIFE
    with pytest.raises(NoSuchRoom, match="after an hour"):
        rooms.join(left, "somebody else")
    clock.now = start + UNUSED_LIFE - 1
    with pytest.raises(NotTheTeacher):
        rooms.sign(taught, "made up")
    rooms.sign(taught, key)
    clock.now = start + UNUSED_LIFE
    assert rooms.tidy() == start + 2 * UNUSED_LIFE - 1 and rooms.states().keys() == {taught}
    while clock.now < start + LIFE:
        rooms.sign(taught, key)
        clock.now += UNUSED_LIFE / 2
    assert rooms.tidy() is None and not rooms.states()


def test_many_rooms_are_read_as_each_is_alone(rooms: Rooms) -> None:
    opened(rooms, 0)
    rooms.create()
    code, key, people = opened(rooms, 2)
    rooms.vote(code, people[0], 1, 1, 0, 1)
    for now, then in ((Phase.OPEN, Phase.CLOSED), (Phase.CLOSED, Phase.REVEALED), (Phase.REVEALED, Phase.LOBBY)):
        rooms.step(code, key, now, then)
    rooms.ask(code, key, posed())
    rooms.vote(code, people[1], 2, 1, 0, 1)
    found = rooms.states()
    assert len(found) == 3 and found == {each: state(rooms, each) for each in found}
    assert (found[code].people, found[code].answers, found[code].number) == (2, 1, 2)


@pytest.mark.parametrize("hours", [1, 24 * 365])
def test_a_clock_that_goes_back_keeps_nobody_out(rooms: Rooms, clock: Time, hours: int) -> None:
    code, _ = rooms.create()
    for number in range(AT_ONCE):
        rooms.join(code, f"early {number}")
    clock.now -= 3600 * hours
    assert crowd(rooms, clock, code, [0.0, 1.0, 2.0], 10.0) and not rooms.states()[code].is_crowded
