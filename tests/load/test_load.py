"""The load generator on a small scale: it visits real pages, counts what is wrong, and tells a broken bound."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

import lab as api
from benchmarks import load
from benchmarks.bare import bare
from benchmarks.learners import Scenario, learner, sentence
from benchmarks.server import Lab, Usage, running_lab, usage
from benchmarks.visitor import Answer, visiting
from lab.models.catalogue import DEFAULT_MODEL

QUIET = Usage(0.0, 400.0)
T = TypeVar("T")


def run(job: Coroutine[Any, Any, T]) -> T:
    """In a thread of its own: Playwright leaves a loop running in the thread of the tests."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, job).result()


# Two pages: one that counts and waits, one that breaks.
APP = """
import time
import streamlit as st

def count():
    layer = st.selectbox("Layer", [1, 2, 3], key="layer", bind="query-params")
    st.text_area("Text", "none", key="text", bind="query-params")
    st.segmented_control("Step", ["a", "b"], default="a", required=True, key="step", bind="query-params")
    st.markdown(f"layer {layer}")
    if st.button("Wait"):
        time.sleep(0.5)

def broken():
    st.write(1 / 0)

st.navigation([st.Page(count, default=True), st.Page(broken)]).run()
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    script = tmp_path_factory.mktemp("small") / "Home.py"
    script.write_text(APP)
    with running_lab(script) as running:
        yield running


def test_a_visitor_sees_the_page_and_what_breaks(small: Lab) -> None:
    async def look() -> tuple[list[Answer], list[str], list[str]]:
        async with visiting(small.url) as visitor:
            answers = [await visitor.open("", layer="2")]
            layers, steps = visitor.options("layer"), visitor.options("step")
            answers.append(await visitor.choose("layer", "3"))
            assert visitor.query["layer"] == "3"
            answers.append(await visitor.choose("step", "b"))
            answers.append(await visitor.press("Wait"))
            answers.append(await visitor.open("broken"))
            return answers, layers, steps

    answers, layers, steps = run(look())
    assert (layers, steps) == (["1", "2", "3"], ["a", "b"])
    assert [bool(answer.errors) for answer in answers] == [False] * 4 + [True]
    assert "ZeroDivisionError" in answers[-1].errors[0]
    assert answers[3].seconds >= 0.5 > answers[3].running_after, "told that it runs long before the end"
    assert not any(answer.lost for answer in answers)


def test_a_server_that_dies_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "Home.py"
    script.write_text("import streamlit as st, time\nif st.button('Wait'):\n    time.sleep(60)\n")

    async def look(running: Lab) -> Answer:
        async with visiting(running.url) as visitor:
            await visitor.open("")
            waiting = asyncio.create_task(visitor.press("Wait"))
            await asyncio.sleep(0.5)
            running.process.kill()
            return await waiting

    with running_lab(script) as running:
        answer = run(look(running))
        assert answer.lost and "ConnectionClosed" in answer.errors[0]
    # Nobody listens any more: no connection at all is an error too, and not the end of the others.
    (refused,) = run(learner(running, Scenario("gone", 1, None, seconds=1.0), 0))
    assert refused.lost and refused.errors


def test_every_bound_is_judged() -> None:
    quick, slow = Answer(0.1, 0.0, 1.0, ()), Answer(3.0, 0.0, 1.0, ())
    wrong = Answer(0.1, 0.0, 1.0, ("ValueError: no",))
    scenario = Scenario("class", 2, 0.5)

    def broken(answers: list[Answer], used: Usage = QUIET) -> tuple[str, ...]:
        return load.judged(scenario, answers, 1.0, 2.0, [used]).broken

    assert broken([quick] * 99 + [slow]) == ()
    assert broken([quick] * 90 + [slow] * 10) == ("p95 3.00 s, not below 0.5 s",)
    assert broken([quick] * 99 + [wrong]) == ("ValueError: no",)
    assert broken([quick], Usage(0.0, 1300.0)) == ("1300 MB, not below 1200 MB",)
    assert broken([]) == ("nobody got an answer",)
    # On a slow machine, three times what a bare page takes.
    assert load.judged(scenario, [slow] * 5, 1.0, 2.0, [QUIET], 1.1).broken == ()
    assert load.judged(scenario, [slow] * 5, 1.0, 2.0, [QUIET], 0.9).broken == ("p95 3.00 s, not below 2.7 s",)


def test_a_bare_page_is_quick_and_is_chosen_from() -> None:
    assert 0 < bare(2, seconds=3.0) < 2


def test_own_sentences_are_32_tokens_and_differ() -> None:
    model = api.load_model(DEFAULT_MODEL)
    texts = [sentence(number) for number in range(40)]
    assert len(set(texts)) == 40
    assert {len(api.trace(model, text)) for text in texts} == {32}


def test_usage_counts_children() -> None:
    pid = os.getpid()
    before = usage(pid)
    sum(i * i for i in range(2_000_000))
    after = usage(pid)
    assert after.cpu_seconds > before.cpu_seconds
    status = Path(f"/proc/{pid}/status").read_text()
    resident = int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6
    assert after.megabytes >= 0.9 * resident


@pytest.fixture(scope="module")
def real() -> Iterator[Lab]:
    with running_lab() as running:
        yield running


def test_learners_look_around_the_real_lessons(real: Lab) -> None:
    """Few of them for a moment, on a server that nobody has visited: no error, and every column has a figure."""
    found = run(load.play([real], Scenario("class", 3, None, seconds=3.0)))
    assert found.broken == () and len(found.answers) >= 3
    assert all(answer.seconds > 0 and answer.kilobytes > 1 for answer in found.answers)
    name, users, reruns, *figures = found.row().split()
    assert (name, int(users), int(reruns)) == ("class", 3, len(found.answers))
    assert len(figures) == 9, load.HEADER


def test_the_soak_tells_growth(real: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "SOAKING", 2)
    grown = run(load.soak(real, 0.0, sentences=4, warm=2))
    assert len(grown.answers) >= 4 and not any(answer.errors for answer in grown.answers)
    monkeypatch.setattr(load, "GROWTH", 0.1)
    assert any("in the middle" in each for each in run(load.soak(real, 0.0, sentences=3, warm=2)).broken)


@pytest.mark.parametrize("broken", ["room", "classroom", ""])
def test_a_room_is_played_beside_other_scenarios(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    played = []

    monkeypatch.setattr(load, "bare", lambda users: 0.0)

    def measured() -> list[SimpleNamespace]:
        played.append("room")
        return [SimpleNamespace(broken=broken == "room")]

    async def others(labs: object, wanted: Sequence[str], seconds: float, soaking: float, bare_p95: object) -> bool:
        played.extend(each for each in wanted if each != "room")
        return broken == "classroom"

    monkeypatch.setattr(load.room, "measure", measured)
    monkeypatch.setattr(load, "running_lab", nullcontext)
    monkeypatch.setattr(load, "_all", others)
    assert load.main(["room", "classroom"]) == int(bool(broken))
    assert played == ["room", "classroom"]
