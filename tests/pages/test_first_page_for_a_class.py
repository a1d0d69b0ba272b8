"""The first page asks a class what a cut does: the right answer again from a run with that token blocked."""

from __future__ import annotations

import pytest

from lab.analysis.flow.cuts import Cuts, Way, cut_run
from lab.analysis.words.predictions import prediction_at
from lab.course.sentences.first import FIRST, First
from lab.front.first_minute import asked
from lab.front.for_a_class import about_parts, without, words_now
from lab.models.loading import load_model
from lab.rooms.server import server
from lab.rooms.states import Phase
from tests.pages.apptest import visit
from tests.pages.test_room import Browsers, browsers, press

__all__ = ["browsers"]  # a fixture


@pytest.mark.parametrize("first", FIRST, ids=lambda each: each.short)
def test_the_right_answer_is_that_of_the_cut_run(first: First) -> None:
    found = asked(load_model("lab-minilm"), first.text)
    assert found is not None
    trace, place, seen = found.trace, found.place, 0
    best = int(prediction_at(trace, place, None).best(1)[0])
    most = prediction_at(trace, place, None).probabilities[best]
    assert words_now(trace, place).table().iloc[0, 0] == pytest.approx(most, abs=1e-3)
    for token, special in enumerate(trace.encoding.special):
        question = None if special or token == place else without(trace, place, token)
        if question is None:
            continue
        seen += 1
        after = prediction_at(cut_run(trace, place, Cuts().cut(token, Way.BOTH)), place, None).probabilities
        wanted = "No word" if after.max() < 0.1 else "Another" if int(after.argmax()) != best else "stays"
        assert wanted in question.options[question.answer].text
    assert seen >= 2


def test_each_part_is_right_once() -> None:
    every = about_parts()
    assert len({each.options[each.answer].text for each in every}) == len(every) == 3


def test_the_teacher_of_a_room_asks_the_class_from_the_first_page(browsers: Browsers) -> None:
    code, key = server().create()
    at = visit(None, room=code, teach="1")
    assert "_first_class" not in [each.key for each in at.selectbox]
    at.session_state["_room_keys"] = {code: key}
    at.run()
    assert not at.exception, at.exception
    press(at, "Ask the class")
    told = server().rooms.taught(code, key).question
    assert server().rooms.seen(code).state.phase is Phase.OPEN and told is not None
    assert told.question.picture is not None and "cut off" in told.question.prompt
    at.selectbox(key="_first_class").select_index(len(at.selectbox(key="_first_class").options) - 1).run()
    assert not at.exception
