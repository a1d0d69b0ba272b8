"""A room goes from the lobby to the reveal and back; nobody votes late, twice or from outside."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from sqlalchemy import Engine, func, select, update

from lab.questions.question import Option, Question
from lab.rooms import rooms as module
from lab.rooms import states
from lab.rooms.codes import ALPHABET, LENGTH, hashed, new_secret
from lab.rooms.counts import Counts
from lab.rooms.database import open_database
from lab.rooms.rooms import Full, NoSuchRoom, NotNow, NotTheTeacher, Rooms
from lab.rooms.schema import ANSWERS, ROOMS
from lab.rooms.seen import State
from lab.rooms.states import NEXT, ROUND, Phase


def posed(answer: int = 0) -> Question:
    options = tuple(Option(text, f"Why {text}.", place == answer) for place, text in enumerate("abc"))
    return Question(
        "most-attended", "Which?", options, lesson="self-attention", about="Asked about “x”", link={"text": "x"}
    )


def state(rooms: Rooms, code: str) -> State:
    return rooms.seen(code).state


def rounds(rooms: Rooms, code: str, key: str) -> tuple[Counts, ...]:
    """What the teacher sees."""
    found = rooms.taught(code, key).question
    assert found is not None
    return found.rounds


def opened(rooms: Rooms, people: int = 3) -> tuple[str, str, list[str]]:
    """A room with a question open and some people in it: its code, its key, their seats."""
    code, key = rooms.create()
    inside = [rooms.join(code, new_secret()) for _ in range(people)]
    rooms.ask(code, key, posed())
    return code, key, inside


def test_a_room_has_a_code_and_keeps_no_key(rooms: Rooms, engine: Engine) -> None:
    code, key = rooms.create()
    assert len(code) == LENGTH and set(code) <= set(ALPHABET)
    with engine.begin() as connection:
        row = connection.execute(select(ROOMS)).one()
    assert row.key_hash == hashed(key) and key not in str(tuple(row))
    assert state(rooms, code).phase is Phase.LOBBY


def test_peer_instruction_from_the_lobby_to_the_next_question(rooms: Rooms) -> None:
    code, key, people = opened(rooms, 6)
    for who in people:
        rooms.vote(code, who, 1, 1, 1, 2)
    assert (state(rooms, code).people, state(rooms, code).answers) == (6, 6)
    assert rooms.seen(code).rounds == ()
    (first,) = rounds(rooms, code, key)
    assert (first.options, first.answer, first.right) == ((0, 6, 0), 0, 0)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    rooms.step(code, key, Phase.CLOSED, Phase.DISCUSS)
    rooms.step(code, key, Phase.DISCUSS, Phase.OPEN_AGAIN)
    assert state(rooms, code).answers == 0
    for place, who in enumerate(people):
        rooms.vote(code, who, 1, 2, 0 if place else 2, 3)
    assert rooms.seen(code).rounds == ()
    rooms.step(code, key, Phase.OPEN_AGAIN, Phase.REVEALED)
    before, after = rooms.seen(code).rounds
    assert (before.options, after.options, after.sure_and_wrong) == ((0, 6, 0), (5, 0, 1), 1)
    rooms.step(code, key, Phase.REVEALED, Phase.LOBBY)
    with pytest.raises(NotNow, match="Only a question"):
        rooms.step(code, key, Phase.LOBBY, Phase.OPEN)
    rooms.ask(code, key, posed(2))
    assert state(rooms, code).number == 2
    assert rooms.seen(code).question == posed(2).hidden()
    told, new = rooms.summary(code, key)
    assert (told.question, len(told.rounds)) == (posed(), 2)
    assert (new.question, new.rounds) == (posed(2), ())


def test_a_vote_is_kept_once_and_can_be_changed(rooms: Rooms, engine: Engine) -> None:
    code, key, (who, *_) = opened(rooms)
    for option in (0, 2, 2):
        rooms.vote(code, who, 1, 1, option, 1)
    assert rooms.seen(code, who).mine == {1: (2, 1)}
    assert rooms.seen(code, new_secret()).mine == rooms.seen(code).mine == {}
    (found,) = rounds(rooms, code, key)
    assert found.options == (0, 0, 1)
    with engine.begin() as connection:
        assert connection.scalar(select(func.count()).select_from(ANSWERS)) == 1


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase not in ROUND])
def test_nobody_votes_where_nothing_is_open(rooms: Rooms, engine: Engine, phase: Phase) -> None:
    code, _, (who, *_) = opened(rooms)
    with engine.begin() as connection:
        connection.execute(update(ROOMS).values(phase=phase.value))
    for turn in ROUND.values():
        with pytest.raises(NotNow):
            rooms.vote(code, who, 1, turn, 0, 1)


def test_nobody_votes_in_another_round_from_outside_or_for_nothing(rooms: Rooms) -> None:
    code, _, (who, *_) = opened(rooms)
    for number, turn, option, confidence in ((1, 2, 0, 1), (2, 1, 0, 1), (1, 1, 3, 1), (1, 1, -1, 1), (1, 1, 0, 4)):
        with pytest.raises(NotNow):
            rooms.vote(code, who, number, turn, option, confidence)
    with pytest.raises(NotNow, match="not in this room"):
        rooms.vote(code, new_secret(), 1, 1, 0, 1)
    with pytest.raises(NoSuchRoom):
        rooms.vote("222222", who, 1, 1, 0, 1)


def test_only_the_teacher_steps_and_only_along_the_way(rooms: Rooms) -> None:
    code, key, (who, *_) = opened(rooms)
    for stranger in (who, "", "é\ud800"):
        with pytest.raises(NotTheTeacher):
            rooms.step(code, stranger, Phase.OPEN, Phase.CLOSED)
        with pytest.raises(NotTheTeacher):
            rooms.delete(code, stranger)
        with pytest.raises(NotTheTeacher):
            rooms.taught(code, stranger)
    for now in Phase:
        for then in Phase:
            if now is not Phase.OPEN or then not in NEXT[Phase.OPEN]:
                with pytest.raises(NotNow):
                    rooms.step(code, key, now, then)
    assert state(rooms, code).phase is Phase.OPEN
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    with pytest.raises(NotNow, match="at a later stage"):
        rooms.step(code, key, Phase.OPEN, Phase.CLOSED)


def test_what_everybody_sees_holds_no_answer_before_the_reveal(rooms: Rooms) -> None:
    """In every phase: neither which option is right, nor why, nor the link to it, nor a count of an option."""
    code, key, people = opened(rooms, 6)
    for who in people:
        rooms.vote(code, who, 1, 1, 1, 1)
    for now, then in pairwise((Phase.OPEN, Phase.CLOSED, Phase.DISCUSS, Phase.OPEN_AGAIN)):
        found = rooms.seen(code, people[0])
        assert (found.question, found.rounds) == (posed().hidden(), ())
        assert found.state.asks and "Why" not in str(found) and "correct=True" not in str(found)
        rooms.step(code, key, now, then)
    assert rooms.seen(code, people[0]).question == posed().hidden()
    rooms.step(code, key, Phase.OPEN_AGAIN, Phase.REVEALED)
    assert (rooms.seen(code).question, state(rooms, code).asks) == (posed(), False)


def test_a_version_grows_with_every_step_and_no_vote(rooms: Rooms) -> None:
    code, key, (who, *_) = opened(rooms)
    seen = state(rooms, code).version
    rooms.vote(code, who, 1, 1, 0, 1)
    assert state(rooms, code).version == seen
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    assert state(rooms, code).version == seen + 1


def test_rooms_and_people_are_limited(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROOMS", 2)
    monkeypatch.setattr(module, "MOST_PARTICIPANTS", 1)
    code, _ = rooms.create()
    rooms.create()
    with pytest.raises(Full):
        rooms.create()
    seat = rooms.join(code, "a visit")
    assert rooms.join(code, "a visit") == rooms.join(code, "another visit", seat) == seat  # comes back
    with pytest.raises(Full):
        rooms.join(code, new_secret())


def test_a_room_goes_with_all_that_was_answered(rooms: Rooms, engine: Engine) -> None:
    code, key, (who, *_) = opened(rooms)
    rooms.vote(code, who, 1, 1, 0, 1)
    rooms.delete(code, key)
    with pytest.raises(NoSuchRoom):
        state(rooms, code)
    assert code not in rooms.states()
    with engine.begin() as connection:
        assert connection.scalar(select(func.count()).select_from(ANSWERS)) == 0


def test_a_day_later_a_room_is_gone(rooms: Rooms, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, (who, *_) = opened(rooms)
    rooms.vote(code, who, 1, 1, 0, 1)
    now = module.time.time()
    monkeypatch.setattr(module.time, "time", lambda: now + module.LIFE + 1)
    with pytest.raises(NoSuchRoom):
        state(rooms, code)
    rooms.create()
    with engine.begin() as connection:
        assert connection.scalar(select(func.count()).select_from(ROOMS)) == 1
        assert connection.scalar(select(func.count()).select_from(ANSWERS)) == 0


def test_a_hundred_votes_at_once_are_all_counted(rooms: Rooms, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "AT_ONCE", 100)
    code, key, people = opened(rooms, 100)
    other = Rooms(open_database(url))  # another server on the same database
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda each: (rooms, other)[each[0] % 2].vote(code, each[1], 1, 1, 0, 2), enumerate(people)))
    (found,) = rounds(rooms, code, key)
    assert found.options == (100, 0, 0)


def test_what_is_acknowledged_before_the_close_counts_and_nothing_after(rooms: Rooms) -> None:
    code, key, people = opened(rooms, 40)
    kept: list[str] = []
    begun = threading.Event()

    def vote(who: str) -> None:
        try:
            rooms.vote(code, who, 1, 1, 0, 2)
            kept.append(who)
        except NotNow:
            pass
        begun.set()

    with ThreadPoolExecutor(8) as pool:
        for who in people:
            pool.submit(vote, who)
        begun.wait()
        rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
        closed = rounds(rooms, code, key)
    assert rounds(rooms, code, key) == closed
    assert sum(each.count for each in closed) == len(kept)


def test_an_address_has_a_quota_of_rooms(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OF_ADDRESS", 3)
    now = module.time.time()
    clock = [now]
    monkeypatch.setattr(module.time, "time", lambda: clock[0])
    (idle, _), (used, key), _ = (rooms.create("one") for _ in range(3))
    with pytest.raises(Full, match="opened from here"):
        rooms.create("one")
    elsewhere, _ = rooms.create("another")
    unknown = [rooms.create()[0] for _ in range(4)]  # no quota where nobody knows the address
    clock[0] += module.IDLE
    rooms.sign(used, key)
    rooms.create("one")
    assert rooms.states().keys() > {used, elsewhere, *unknown} and idle not in rooms.states()


def test_the_room_that_is_unused_for_longest_goes_for_a_new_one(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROOMS", 3)
    clock = [module.time.time()]
    monkeypatch.setattr(module.time, "time", lambda: clock[0])
    taught, key = rooms.create()
    made = []
    for _ in range(2):
        clock[0] += 60
        made.append(rooms.create()[0])
    with pytest.raises(Full, match="in use"):
        rooms.create()
    for _ in range(3):  # the class goes on for a quarter of an hour
        clock[0] += module.SIGN
        rooms.sign(taught, key)
    fourth, _ = rooms.create()
    assert rooms.states().keys() == {taught, made[1], fourth}


def test_the_operator_ends_what_is_unused(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [module.time.time()]
    monkeypatch.setattr(module.time, "time", lambda: clock[0])
    rooms.create()
    rooms.create()
    clock[0] += 600
    code, _ = rooms.create()
    assert rooms.end_unused(300) == 2 and rooms.states().keys() == {code}
    assert rooms.end_unused(0) == 1 and not rooms.states()


def test_round_two_is_closed_without_a_reveal(rooms: Rooms) -> None:
    code, key, people = opened(rooms, 6)
    steps = (Phase.OPEN, Phase.CLOSED, Phase.DISCUSS, Phase.OPEN_AGAIN, Phase.CLOSED_AGAIN, Phase.REVEALED)
    for now, then in pairwise(steps):
        if now is Phase.OPEN_AGAIN:
            rooms.vote(code, people[0], 1, 2, 0, 1)
        if then is Phase.REVEALED:
            seen = rooms.seen(code)
            assert seen.rounds == () and seen.question is not None and seen.question.is_open and seen.state.asks
            with pytest.raises(NotNow):
                rooms.vote(code, people[1], 1, 2, 0, 1)
        rooms.step(code, key, now, then)
    assert [each.turn for each in rooms.seen(code).rounds] == [2]


@pytest.mark.parametrize("people", [4, 5])
def test_the_result_of_a_class_of_four_is_nobody_s(rooms: Rooms, people: int) -> None:
    code, key, inside = opened(rooms, people)
    for who in inside:
        rooms.vote(code, who, 1, 1, 0, 3)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    rooms.step(code, key, Phase.CLOSED, Phase.REVEALED)
    (found,) = rooms.seen(code, inside[0]).rounds
    assert found.withheld is (people < 5) and rooms.summary(code, key)[0].rounds == (found,)
    assert rooms.seen(code, inside[0]).mine == {1: (0, 3)} and rooms.seen(code).mine == {}


def test_the_clock_of_a_round_ends_with_it_and_never_runs_for_days(rooms: Rooms) -> None:
    code, key, people = opened(rooms)
    with pytest.raises(NotTheTeacher):
        rooms.set_clock(code, people[0], 60)
    rooms.set_clock(code, key, 90)
    now = time.time()
    assert state(rooms, code).left(now) in (89, 90) and state(rooms, code).left(now + 200) == 0
    assert state(rooms, code).left(now - 10**6) == 3600  # the server's time was set back
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    assert state(rooms, code).left(now) is None
    with pytest.raises(NotNow):
        rooms.set_clock(code, key, 60)
    rooms.step(code, key, Phase.CLOSED, Phase.DISCUSS)
    rooms.set_clock(code, key, 60)
    assert state(rooms, code).left(time.time()) in (59, 60)


def test_a_round_that_was_closed_too_early_opens_again_with_its_answers(rooms: Rooms) -> None:
    code, key, people = opened(rooms)
    rooms.vote(code, people[0], 1, 1, 2, 1)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    rooms.step(code, key, Phase.CLOSED, Phase.OPEN)
    rooms.vote(code, people[1], 1, 1, 1, 1)
    assert rooms.seen(code, people[0]).mine == {1: (2, 1)} and state(rooms, code).answers == 2
    with pytest.raises(NotNow):
        rooms.step(code, key, Phase.LOBBY, Phase.OPEN)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    with pytest.raises(NotNow, match="Reveal"):  # the page to keep would have its answer
        rooms.step(code, key, Phase.CLOSED, Phase.LOBBY)
    assert rooms.history(code, people[0]) == ()


def test_a_participant_keeps_what_was_revealed_and_no_more(rooms: Rooms) -> None:
    code, key, people = opened(rooms)
    rooms.vote(code, people[0], 1, 1, 2, 1)
    assert rooms.history(code, people[0]) == ()
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    rooms.step(code, key, Phase.CLOSED, Phase.REVEALED)
    (mine,) = rooms.history(code, people[0])
    assert (mine.question, mine.answers) == (posed(), {1: (2, 1)})
    rooms.step(code, key, Phase.REVEALED, Phase.LOBBY)
    rooms.ask(code, key, posed(1))
    assert [each.question for each in rooms.history(code, people[0])] == [posed()]
    assert [each.answers for each in rooms.history(code, people[1])] == [{}]
