"""The summary to print is the teacher's, and nothing that is open is in it."""

from __future__ import annotations

from lab.rooms.server import server
from lab.rooms.states import Phase
from tests.pages.apptest import visit, words
from tests.pages.test_room import ROOM, Browsers, again, begin, browsers, everything

__all__ = ["browsers"]  # a fixture


def test_the_summary_to_print_is_the_teachers_and_leaves_out_what_is_open(browsers: Browsers) -> None:
    _, code, key, question = begin()
    rooms = server().rooms
    for each in range(6):
        rooms.vote(code, rooms.join(code, f"visit {each}"), 1, 1, question.answer, 3)
    printed = visit(ROOM, room=code, summary="1")
    assert "You are in" not in words(printed) and question.options[question.answer].why not in everything(printed)
    printed.session_state["_room_keys"] = {code: key}
    again(printed)
    assert "Questions: 0" in words(printed) and "not on this page yet" in words(printed)
    assert question.options[question.answer].why not in everything(printed)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    rooms.step(code, key, Phase.CLOSED, Phase.REVEALED)
    told = words(again(printed))
    assert "Questions: 1" in told and "save it as PDF" in told and "**100%** of 6" in told
    assert question.options[question.answer].why in told and "@media print" in everything(printed)
