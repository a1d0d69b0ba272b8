"""Work that begins by itself: it begins once in a visit, so Stop stops it, and an error does not begin it again."""

from __future__ import annotations

import threading

import pytest
from streamlit.testing.v1 import AppTest

from lab.models import jobs
from lab.models.jobs import Failed, running
from lab.ui import long_work
from lab.ui.long_work import Visit
from lab.ui.visitor import Visitor


def page(key: str, fails: bool) -> None:
    """A page with work that lasts until it is stopped, or that fails at once."""
    import time

    import streamlit as st

    from lab.models.batches import ProgressFunction
    from lab.ui.long_work import unasked

    begun: list[str] = st.session_state.setdefault("begun", [])

    def work(tell: ProgressFunction) -> None:
        begun.append(key)
        if fails:
            raise ValueError("broken")
        while True:
            tell(0.5)
            time.sleep(0.01)

    unasked(key, "Read 3 texts", work)


def labels(at: AppTest) -> list[str]:
    assert not at.exception
    return [button.label for button in at.button]


def ended(key: str) -> None:
    for thread in threading.enumerate():
        if thread.name == f"job {key}":
            thread.join(10)
    found = running(key)
    assert found is None or found.error is not None


def test_what_was_stopped_waits_for_the_button() -> None:
    at = AppTest.from_function(page, args=("stopped", False)).run()
    assert labels(at) == ["Stop"]
    at.button[0].click().run()
    ended("stopped")
    assert labels(at.run()) == ["Read 3 texts"] and running("stopped") is None
    (said,) = at.caption
    assert "stopped this run" in said.value
    at.button[0].click().run()
    assert labels(at) == ["Stop"] and at.session_state["begun"] == ["stopped"] * 2 and not at.caption
    at.button[0].click().run()
    ended("stopped")


def test_what_failed_is_not_begun_again_by_itself_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    at = AppTest.from_function(page, args=("failed", True)).run()
    ended("failed")
    for _ in range(3):
        at.run()
    assert at.session_state["begun"] == ["failed"] and labels(at) == ["Read 3 texts"]
    (told,) = at.error
    assert told.value == str(Failed()) and "broken" not in told.value
    (line,) = (each for each in caplog.records if each.name == "lab.jobs")
    assert "failed" in line.getMessage() and line.exc_info and "broken" in str(line.exc_info[1])
    at.button[0].click().run()
    ended("failed")
    assert at.session_state["begun"] == ["failed", "failed"], "the button begins it again"
    running("failed").stop()  # type: ignore[union-attr]


def test_who_stops_a_run_stops_it_for_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    person = ["one"]
    monkeypatch.setattr(long_work, "this_visit", lambda: Visit(person[0], Visitor(person[0], "")))
    one = AppTest.from_function(page, args=("shared", False)).run()
    person[0] = "another"
    other = AppTest.from_function(page, args=("shared", False)).run()
    assert labels(other) == ["Stop"]
    other.button[0].click().run()
    job = running("shared")
    assert job is not None and labels(other)[0].startswith("Follow")
    person[0] = "one"
    assert labels(one.run()) == ["Stop"]
    one.button[0].click().run()
    ended("shared")
    assert running("shared") is None


def test_who_has_too_many_runs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MOST", (2, 2, 1))
    one = AppTest.from_function(page, args=("one of one", False)).run()
    at = AppTest.from_function(page, args=("one too many", False)).run()
    (told,) = at.toast
    assert "was not started" in told.value and labels(at) == ["Read 3 texts"] and running("one too many") is None
    one.button[0].click().run()
    ended("one of one")
    at.button[0].click().run()
    assert labels(at) == ["Stop"] and not at.toast
    at.button[0].click().run()
    ended("one too many")
