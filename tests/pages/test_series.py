"""A teacher's own series on the pages: what is typed is what the class is asked, in its order, of its model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.words import escaped, plain
from lab.rooms.series import Own, PreparedQuestion, Series, read, written
from lab.rooms.server import server
from lab.rooms.states import Phase
from tests.pages.apptest import press, words
from tests.pages.test_room import ROOM, Browsers, again, browsers, in_a_lesson, labels

__all__ = ["browsers"]  # a fixture
ELSEWHERE = "a-model-of-another-server"


def on_the_page(series: Series, asked: int = 0) -> tuple[AppTest, str, str]:
    """A teacher on the page of a room that has this series, of which so many were asked."""
    at, code, key = in_a_lesson()
    server().rooms.set_series(code, key, written(series), asked)
    at.switch_page(f"pages/{ROOM}").run()
    return again(at), code, key


def kept(code: str, key: str) -> tuple[list[str], int]:
    taught = server().rooms.taught(code, key)
    return [each.said for each in read(taught.series).items], taught.place


def own(*said: str) -> Series:
    return Series(tuple(Own(each, ("no", "yes"), 1) for each in said))


@pytest.mark.parametrize("said", ["Which one\nis it?", "Two  spaces?", "No\u00a0break?", " around? ", "NUL\x00?"])
def test_what_is_typed_is_asked_once_and_the_series_goes_on(browsers: Browsers, said: str) -> None:
    at, code, key = on_the_page(Series())
    at.text_area(key="_series.own.said").input(said)
    at.text_input(key="_series.own.0").input("5\u00a0%")
    at.text_input(key="_series.own.1").input("6  %")
    press(at, "Add to the series")
    press(again(at), "Ask question 1 of 1")
    told = server().rooms.taught(code, key)
    assert told.question is not None and plain(told.question.question.prompt) == " ".join(
        said.replace("\0", "").split()
    )
    assert {plain(each.text) for each in told.question.question.options} == {"5 %", "6 %"}
    assert told.place == 1 and not [label for label in labels(again(at)) if " of 1" in label]


@pytest.mark.parametrize(("right", "wrong"), [("5 %", "5\u00a0%"), ("a b", "a  b"), ("a", "a\u200b"), ("\u200b", "b")])
def test_answers_that_look_the_same_stay_in_the_form_with_a_sentence(
    browsers: Browsers, right: str, wrong: str
) -> None:
    at, code, key = on_the_page(Series())
    at.text_area(key="_series.own.said").input("Which?")
    at.text_input(key="_series.own.0").input(right)
    at.text_input(key="_series.own.1").input(wrong)
    press(at, "Add to the series")
    assert "look the same" in words(at) and kept(code, key) == ([], 0)
    assert at.text_input(key="_series.own.1").value == wrong


def test_a_series_that_a_room_kept_before_an_update_is_said_to_be_unreadable(browsers: Browsers) -> None:
    at, code, key = on_the_page(own("First?", "Second?"))
    broken = written(own("First?", "Second?")).replace('"no"', '"yes "')
    server().rooms.set_series(code, key, broken)
    press(at, "Ask question 1 of 2")  # the page was drawn before
    assert "not a series" in words(at) and server().rooms.seen(code).state.phase is Phase.LOBBY


def test_up_leaves_the_asked_ones_asked(browsers: Browsers) -> None:
    at, code, key = on_the_page(own("A?", "B?", "C?"), asked=1)
    ups = [button for button in at.button if button.label == "Up"]
    assert [button.key for button in ups] == ["series.2.up"], "the one above B was asked already"
    ups[0].click().run()
    assert kept(code, key) == (["A?", "C?", "B?"], 1)
    press(again(at), "Ask question 2 of 3")
    asked = server().rooms.taught(code, key).question
    assert asked is not None and plain(asked.question.prompt) == "C?" and kept(code, key)[1] == 2


@pytest.mark.parametrize("label", ["Up", "Remove", "Ask"])
def test_a_click_on_a_list_that_has_changed_does_what_it_says_or_nothing(browsers: Browsers, label: str) -> None:
    """Two screens of one teacher: the list was changed on the other one after this one was drawn."""
    at, code, key = on_the_page(own("A?", "B?", "C?"))
    server().rooms.set_series(code, key, written(own("C?", "B?")))
    next(button for button in at.button if button.label == label).click()  # Up of B, the others of A
    at.run()
    assert kept(code, key) == ((["B?", "C?"], 0) if label == "Up" else (["C?", "B?"], 0))
    said = [each.value for each in at.warning]
    assert ["no longer" in each for each in said] == [True] * (label != "Up")
    assert server().rooms.seen(code).state.phase is Phase.LOBBY


def test_a_question_about_a_model_of_another_server_says_so(browsers: Browsers) -> None:
    link = {"text": "Birds fly south.", "model": ELSEWHERE, "step": "Where does it look?"}
    item = PreparedQuestion("self-attention", "Where does it look?", link, "Where does it look?")
    here = replace(item, link={**link, "model": "lab-bert"}, said="Another one?")
    at, _, _ = on_the_page(Series((item, here)))
    shown = [each.value for each in at.markdown if "lesson 3" in each.value and "Where" in each.value]
    assert [escaped(ELSEWHERE) in each for each in shown] == [True, False]
    press(at, "Go to question 1 of 2")
    assert "no model called" in words(at) and escaped(ELSEWHERE) in words(at)
