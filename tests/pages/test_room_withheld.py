"""A round with too few answers says how many it takes, whatever its room takes."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.apptest import words


def drawn(least: int) -> None:
    from dataclasses import replace

    from lab.rooms.counts import Counts
    from lab.rooms.seen import Told
    from lab.ui.room.question import rounds
    from tests.rooms.test_rooms import posed

    found = Counts(1, (1, 0, 0), 0, (0, 0, 0), least)
    asked = replace(posed(), link={})
    rounds([found], Told(1, asked, None, (found,)), "test")


@pytest.mark.parametrize("least", [1, 2, 5, 9])
def test_the_least_number_of_answers_is_the_one_that_counts(least: int) -> None:
    at = AppTest.from_function(drawn, kwargs={"least": least}).run()
    assert not at.exception
    assert (f"fewer than {least} answers" in words(at)) is (least > 1)
