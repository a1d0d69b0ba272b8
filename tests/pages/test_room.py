"""A class in a room: teacher and learners on their pages, from the door to the end; nothing leaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from lab.classroom import entrance, page, printed
from lab.questions.question import Question
from lab.rooms import log
from lab.rooms.codes import new_secret
from lab.rooms.database import Unreachable
from lab.rooms.questions import class_teaches
from lab.rooms.rooms import Rooms
from lab.rooms.seen import Mine
from lab.rooms.series import Own, own_question, read, written
from lab.rooms.server import Limit, RoomServer, server
from lab.rooms.states import Phase
from lab.ui.room import ask_class, seat, waiting
from lab.ui.room.seat import ToldSeat
from tests.pages.apptest import components, press, reveal, turn_to, visit, words

ROOM, LESSON = "40_Room.py", "5_Attention_metrics.py"


class Browsers:
    """Who the next visit is. Its browser has kept nothing, and tells so at once."""

    who = ""

    def visit(self) -> str:
        return self.who

    def told(self, _: str) -> ToldSeat:
        return ToldSeat("", "")


@pytest.fixture
def browsers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Browsers]:
    monkeypatch.setenv("LAB_ROOMS", f"sqlite:///{tmp_path / 'rooms.db'}")
    server.cache_clear()
    found = Browsers()
    monkeypatch.setattr(seat, "visit", found.visit)
    for module in (ask_class, page, waiting):
        monkeypatch.setattr(module, "told", found.told)
    yield found
    server.cache_clear()


def labels(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def again(at: AppTest) -> AppTest:
    """The page looks again, as its browser lets it do every few seconds."""
    server().forget()
    at.run()
    return at


def everything(at: AppTest) -> str:
    """All that the server sends to this visit, and all that it keeps for it."""
    drawn = b"".join(node.proto.SerializeToString() for node in at._tree if getattr(node, "proto", None) is not None)
    return drawn.decode("utf-8", "replace") + repr(at.session_state._state.filtered_state)


def asked(at: AppTest, lesson: str = LESSON, step: str = "check") -> tuple[str, str]:
    """A new room in which the teacher has asked the first question of a step: its code and key."""
    press(at, "Open a room")
    code = at.session_state["room"]
    at.session_state["teach"] = 1
    at.switch_page(f"pages/{lesson}").run()
    turn_to(at, step)
    press(at, "Ask the class")
    assert server().rooms.seen(code).state.phase is Phase.OPEN
    return code, at.session_state["_room_keys"][code]


def begin() -> tuple[AppTest, str, str, Question]:
    """A teacher who has asked: the page, the room's code and key, the question."""
    teacher = visit(ROOM)
    code, key = asked(teacher)
    found = server().rooms.taught(code, key).question
    assert found is not None
    return teacher, code, key, found.question


def fill(at: AppTest, option: int, sure: int) -> None:
    """A form, which is sent by its button."""
    at.radio[0].set_value(option)
    say_sure(at, sure)


def say_sure(at: AppTest, sure: int) -> None:
    next(each for each in at.segmented_control if each.label == "How sure are you?").set_value(sure)


def send(at: AppTest) -> AppTest:
    return press(at, next(label for label in labels(at) if label.startswith("Send")))


def answer(at: AppTest, option: int, sure: int = 3) -> AppTest:
    fill(at, option, sure)
    return send(at)


def test_a_class_from_the_door_to_the_end(browsers: Browsers) -> None:
    teacher, code, _, question = begin()
    for each in range(5):
        browsers.who = f"{each:032x}"
        learner = answer(visit(ROOM, room=code.lower()), question.answer if each else (question.answer + 1) % 2)
        assert "Your answer is in" in words(learner)
    teacher.switch_page(f"pages/{ROOM}")
    again(teacher)
    assert "5 of 5 people answered" in words(teacher)
    press(teacher, "Close the round")
    assert "80% of the answers are right" in words(teacher) and "Sure of a wrong answer: 1" in words(teacher)
    press(teacher, "Let them discuss")
    press(teacher, "Open round 2")
    assert "answer again" in words(again(learner))
    answer(learner, question.answer)
    press(teacher, "Reveal to the class")
    again(learner)
    why = question.options[question.answer].why
    assert why in words(learner) and why in words(teacher)
    assert "fewer than 5 answers" in words(learner)  # of round 2
    press(teacher, "Done with this question")
    assert "Wait for the next question" in words(again(learner))
    press(teacher, "Delete the room")
    assert "deleted" in words(teacher)
    assert "no room with this code" in words(again(learner))


@pytest.mark.parametrize("wall", ["", "1"], ids=["participant", "projector"])
def test_nothing_of_the_answer_reaches_a_learner_or_the_wall_before_the_reveal(browsers: Browsers, wall: str) -> None:
    """Neither an explanation, nor the link to the answer, nor a count: not on the page, not in its session."""
    code, key = asked(visit(ROOM), lesson="8_Feed-forward_and_LayerNorm.py")
    rooms = server().rooms
    told = rooms.taught(code, key).question
    assert told is not None
    for each in range(6):
        rooms.vote(code, rooms.join(code, f"visit {each}"), 1, 1, 0, 3)
    browsers.who = "f" * 32
    at = visit(ROOM, room=code, **({"projector": wall} if wall else {}))
    for now, then in ((Phase.OPEN, Phase.CLOSED), (Phase.CLOSED, Phase.DISCUSS), (Phase.DISCUSS, Phase.OPEN_AGAIN)):
        sent = everything(again(at))
        assert [each for each in (*at.header, *at.markdown) if told.question.prompt in each.value]
        assert [each.text for each in told.question.options if each.why in sent] == []
        assert "correct=True" not in sent and "Answer(" not in sent and "Counts(" not in sent and key not in sent
        assert len(at.success) == 0 and 'class="votes"' not in sent
        rooms.step(code, key, now, then)
    rooms.step(code, key, Phase.OPEN_AGAIN, Phase.REVEALED)
    sent = everything(again(at))
    shown = [each for each in told.question.options if each.correct or not wall]  # the wall has the right one's reason
    assert [each.text for each in shown if each.why not in sent] == []  # the search finds
    assert 'class="votes"' in sent


def test_a_wall_without_bars_names_the_right_answer(browsers: Browsers) -> None:
    """Below five answers there are no bars, which would name it."""
    code, key = asked(visit(ROOM))
    rooms = server().rooms
    told = rooms.taught(code, key).question
    assert told is not None
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    at = visit(ROOM, room=code, projector="1")
    right = told.question.options[told.question.answer].text
    assert all(f"{right}. " not in each.value for each in at.markdown)
    rooms.step(code, key, Phase.CLOSED, Phase.REVEALED)
    assert [each for each in again(at).markdown if right in each.value]


def test_the_rest_of_the_lab_waits_for_the_reveal(browsers: Browsers) -> None:
    code, key = asked(visit(ROOM))
    learner = visit(LESSON, room=code)
    assert "The class is answering a question." in words(learner)
    assert "step" not in [each.key for each in learner.segmented_control]
    assert not components(visit("50_Head_view.py", room=code))
    assert visit(LESSON).segmented_control
    rooms = server().rooms
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    rooms.step(code, key, Phase.CLOSED, Phase.REVEALED)
    assert "step" in [each.key for each in again(learner).segmented_control]


def test_a_made_up_key_does_not_pass_the_notice(browsers: Browsers) -> None:
    code, key = asked(visit(ROOM))
    learner = visit(LESSON, room=code)
    for given, waits in ((new_secret(), True), (key, False)):
        learner.session_state["_room_keys"] = {code: given}
        assert ("The class is answering a question." in words(again(learner))) is waits


def test_codes_that_lead_nowhere_are_counted_on_lessons_too(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log.forget()
    monkeypatch.setattr(server(), "_wrong", Limit(2))
    learner = visit(LESSON, room="222222")
    for _ in range(5):
        again(learner)  # yesterday's link is one guess, however often its page is drawn
    assert len(server()._wrong._times) == 1 and not [line for line in caplog.messages if "guessing" in line]
    for code in ("333333", "444444"):
        visit(LESSON, room=code)
    assert [line for line in caplog.messages if "guessing" in line]


def test_only_a_teacher_with_a_room_can_ask(browsers: Browsers) -> None:
    assert "Ask the class" not in labels(visit(LESSON, teach="1", step="check"))
    code, _ = Rooms(server().rooms._engine).create()
    assert "Ask the class" not in labels(visit(LESSON, teach="1", step="check", room=code))


def test_an_answer_waits_for_a_database_that_is_away(browsers: Browsers, monkeypatch: pytest.MonkeyPatch) -> None:
    code, key = asked(visit(ROOM))
    browsers.who = "a" * 32
    learner = visit(ROOM, room=code)
    assert "Choose an answer" in words(press(learner, "Send"))
    fill(learner, 1, 2)

    def away(*_: object) -> None:
        raise Unreachable("The database does not answer.")

    with monkeypatch.context() as patched:
        patched.setattr(Rooms, "vote", away)
        press(learner, "Send")
        assert "is kept here" in words(learner)
        assert learner.radio[0].value == 1
    again(learner)
    assert "Your answer is in" in words(learner)
    told = server().rooms.taught(code, key).question
    assert told is not None and told.rounds[0].options[1] == told.rounds[0].count == 1


def test_a_database_that_is_away_is_a_sentence(browsers: Browsers, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise Unreachable("The database does not answer.")

    with monkeypatch.context() as patched:
        patched.setattr(RoomServer, "_look", away)
        at = visit(ROOM, room="222222")
        assert "does not respond" in words(at)
        assert "does not respond" in words(press(visit(ROOM), "Open a room"))
        reveal(visit(LESSON, room="222222"))
    assert "no room with this code" in words(again(at))


def test_wrong_codes_and_false_keys_are_refused_in_a_sentence(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no room with this code" in words(visit(ROOM, room="222222"))
    assert "six letters and digits" in words(visit(ROOM, room="hello"))
    code, _ = server().create()
    at = visit(ROOM)
    at.session_state["_room_keys"] = {code: new_secret()}
    at.session_state["room"] = code
    at.run()
    assert "You are in" in words(at)


def in_a_lesson(step: str = "effective") -> tuple[AppTest, str, str]:
    """A teacher who has opened a room in a lesson, with a sentence, a layer and a head of their own."""
    at = visit(LESSON, teach="1", step=step, text="Birds fly south in winter.", layer="2", head="3")
    press(at, "Open a room")
    code = at.session_state["room"]
    return at, code, at.session_state["_room_keys"][code]


def test_asking_leaves_the_lesson_as_it_is_and_takes_the_figure_along(browsers: Browsers) -> None:
    at, code, key = in_a_lesson()
    press(at, "Ask the class")
    rooms = server().rooms
    told = rooms.taught(code, key).question
    assert told is not None and told.question.picture is not None
    assert told.question.hidden().picture == told.question.picture and not told.question.about
    for label in ("Close the round", "Let them discuss", "Open round 2", "Close round 2", "Reveal to the class"):
        press(again(at), label)
        place = (at.text_area(key="text").value, at.selectbox(key="layer").value, at.selectbox(key="head").value)
        assert place == ("Birds fly south in winter.", 2, 3), label
        assert at.session_state["step"] == "How many does it look at?"
    browsers.who = "e" * 32
    assert told.question.picture.source[:200] in everything(visit(ROOM, room=code))
    press(again(at), "Done with this question")
    assert rooms.seen(code).state.phase is Phase.LOBBY


def test_a_prepared_question_is_two_clicks_away_and_an_own_one_is_one(browsers: Browsers) -> None:
    at, code, key = in_a_lesson()
    press(at, "Keep for later")
    rooms = server().rooms
    series = read(rooms.taught(code, key).series)
    assert [each.said for each in series.items] and series.items[0].kind == "prepared"
    rooms.set_series(code, key, written(series.with_items([Own("<b>Own</b> question?", ("yes", "no"), 0)])))
    shown = visit(ROOM, room=code)
    shown.session_state["_room_keys"] = {code: key}
    again(shown)
    assert "Go to question 1 of 2" in labels(shown)
    # The lesson that asks the question: the bar asks it, and goes on to the next.
    press(again(at), "Ask question 1 of 2")
    taught = rooms.taught(code, key)
    assert taught.question is not None and taught.question.question.picture is not None and taught.place == 1
    assert not [label for label in labels(again(at)) if "question 2" in label], "a question is open"
    press(at, "Ask the class")
    assert "Another question is open" in at.toast[0].value
    for now, then in ((Phase.OPEN, Phase.CLOSED), (Phase.CLOSED, Phase.REVEALED)):
        rooms.step(code, key, now, then)
    press(again(shown), "Ask question 2 of 2")
    seen = rooms.seen(code)
    assert seen.state.phase is Phase.OPEN and seen.question is not None and seen.question.id == "own"
    browsers.who = "d" * 32
    learner = visit(ROOM, room=code)
    assert r"\<b\>Own" in learner.header[0].value
    assert rooms.taught(code, key).place == 2
    answer(learner, 0)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    rooms.step(code, key, Phase.CLOSED, Phase.REVEALED)
    assert "That is right" in words(again(learner))
    assert not [label for label in labels(again(shown)) if " of 2" in label]


def test_a_series_grows_and_loses_nothing(browsers: Browsers) -> None:
    at, code, key = in_a_lesson()
    press(at, "Keep for later")
    assert "The series has 1 now" in at.toast[0].value
    press(at, "Keep for later")
    assert "already" in at.toast[0].value
    at.switch_page(f"pages/{ROOM}").run()
    press(at, "Add the plan for 45 minutes")
    found = read(server().rooms.taught(code, key).series).items
    assert len(found) == 5 and len({each.said for each in found}) == 5
    press(at, "Add the plan for 45 minutes")
    assert read(server().rooms.taught(code, key).series).items == found


def test_an_own_question_that_is_refused_stays_in_its_form(browsers: Browsers) -> None:
    at, code, key = in_a_lesson()
    at.switch_page(f"pages/{ROOM}").run()
    at.text_area(key="_series.own.said").input("What is *attention*?")
    at.text_input(key="_series.own.0").input("A weighted mean")
    press(at, "Add to the series")
    assert "a right and a wrong answer" in words(at)
    assert at.text_area(key="_series.own.said").value == "What is *attention*?"
    at.text_input(key="_series.own.1").input("A copy")
    press(at, "Add to the series")
    (item,) = read(server().rooms.taught(code, key).series).items
    assert isinstance(item, Own) and item.options[item.right] == "A weighted mean"
    assert not at.text_area(key="_series.own.said").value and not at.text_input(key="_series.own.0").value


def written_nothing() -> tuple[AppTest, str, str, Rooms]:
    """A teacher on the page of rooms, whose class was asked to teach and wrote nothing."""
    at, code, key = in_a_lesson()
    rooms = server().rooms
    rooms.ask(code, key, class_teaches("polite", "rude"))
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    at.switch_page(f"pages/{ROOM}")
    return at, code, key, rooms


def test_a_class_that_writes_too_little_writes_on_or_is_asked_something_else(browsers: Browsers) -> None:
    at, code, key, rooms = written_nothing()
    assert "written 0 sentences" in "".join(each.value for each in again(at).info)
    press(at, "Let them write on")
    assert rooms.seen(code).state.phase is Phase.OPEN
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    at.switch_page(f"pages/{LESSON}").run()
    press(turn_to(at, "effective"), "Ask the class")
    seen = rooms.seen(code)
    assert seen.state.phase is Phase.OPEN and seen.question is not None and seen.question.id != "class-teaches"


def test_after_a_class_has_taught_the_lobby_offers_nothing_more_of_it(browsers: Browsers) -> None:
    at, code, _, rooms = written_nothing()
    press(again(at), "Done with teaching")
    assert rooms.seen(code).state.phase is Phase.LOBBY and "Let them write on" not in labels(again(at))


def test_a_link_makes_a_second_teacher_and_a_false_one_a_participant(browsers: Browsers) -> None:
    code, key = server().create()
    for given, teaches in ((key, True), (new_secret(), False), ("x" * 5_000, False)):
        at = visit(ROOM, room=code, key=given)
        assert ("Delete the room" in labels(at)) is teaches is ("teach" in at.session_state)
        assert "key" not in at.query_params


def test_this_browsers_rooms_are_on_the_page_of_rooms(browsers: Browsers, monkeypatch: pytest.MonkeyPatch) -> None:
    code, key = server().create()
    monkeypatch.setattr(entrance, "rooms_kept", lambda: [(code, key), ("222222", new_secret()), (code, new_secret())])
    at = visit(ROOM)
    backs = [label for label in labels(at) if label.startswith("Back to room")]
    assert backs == [f"Back to room {code[:3]} {code[3:]}: 0 people, 0 asked"]
    press(at, backs[0])
    assert "Delete the room" in labels(at)


def test_the_page_to_keep_has_the_answers_and_is_text(browsers: Browsers) -> None:
    hostile = "<img src=x onerror=alert(1)> **x**"
    asked_ = own_question(Own(hostile, ("yes", hostile), 0))
    html = printed.page([Mine(asked_, {1: (1, 2), 2: (0, 3)})])
    assert "<img src=x" not in html and "&lt;img" in html and "default-src 'none'" in html
    assert html.count('class="right"') == html.count('class="wrong"') == 1
