"""A round with too few answers says how many it takes."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.apptest import words


def drawn(count: int) -> None:
    from lab.rooms.counts import Counts
    from lab.ui.room.room_question import rounds
    from tests.rooms.test_rooms import posed

    rounds([Counts(1, (count, 0, 0), 0, (0, 0, 0))], posed())


@pytest.mark.parametrize("count", [1, 4, 5])
def test_fewer_than_five_answers_are_not_shown(count: int) -> None:
    at = AppTest.from_function(drawn, kwargs={"count": count}).run()
    assert not at.exception
    assert ("fewer than 5 answers" in words(at)) is (count < 5)
