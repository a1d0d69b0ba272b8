"""A browser's report on its seats: whose report this visit takes."""

from __future__ import annotations

import pytest

from lab.ui.room import seat


def test_a_visit_hears_only_the_report_that_answers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    report = {"seat": ["K7W2QD", "a.b", "key", "another visit"]}
    state = {seat._BY: "this visit", seat.KEY: report}
    monkeypatch.setattr(seat.st, "session_state", state)
    seat._hear()
    assert seat.told("K7W2QD") is None
    report["seat"][-1] = "this visit"
    seat._hear()
    assert seat.told("K7W2QD") == seat.ToldSeat("a.b", "key")
