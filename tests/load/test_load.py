"""The load generator on a small scale: it visits real pages, counts what is wrong, and tells a broken bound."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

import lab as api
from benchmarks import load
from benchmarks.learners import learner, looking, sentence
from benchmarks.new_server import first_visit
from benchmarks.runner import COLUMNS, HEADER, Figure, Row, Stage, bare_p95, staged
from benchmarks.server import Lab, Usage, running_lab, usage
from benchmarks.visitor import Answer, visiting
from lab.models.catalogue import DEFAULT_MODEL
from tests.thorough import at_night

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


@at_night
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


@at_night
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
    (refused,) = run(learner(running, 0, 1.0, looking("")))
    assert refused.lost and refused.errors


async def answered(*answers: Answer) -> Sequence[Answer]:
    return answers


def test_every_bound_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    quick, slow, wrong = Answer(0.1, 0.0, ()), Answer(3.0, 0.0, ()), Answer(0.1, 0.0, ("ValueError: no",))
    took = [0.0]

    async def slow_machine(users: int) -> float:
        return took[0] * users

    monkeypatch.setattr("benchmarks.runner.bare_p95", slow_machine)

    def broken(answers: Sequence[Answer], bare: float = 0.0, **most: float) -> tuple[str, ...]:
        took[0] = bare
        bounds = {"p95 s": 0.5} | {name.replace("_", " "): bound for name, bound in most.items()}
        return run(Stage([], []).play("class", [answered(*answers)], bounds)).broken

    used = Usage(1.0, 500.0)
    monkeypatch.setattr(Stage, "look", lambda self: used)
    assert broken([quick] * 99 + [slow]) == ()
    assert broken([quick] * 90 + [slow] * 10) == ("p95 s 3.00, at most 0.5",)
    assert broken([quick] * 99 + [wrong]) == ("ValueError: no",)
    assert broken([quick], MB=1.0) == (f"MB {used.megabytes:.0f}, at most 1",)
    assert broken([quick], peak_MB=-1.0) == ("peak MB 0, at most -1",)
    assert broken([]) == ("nobody got an answer",)
    # On a slow machine, three times what a bare page takes.
    assert broken([slow] * 5, 1.1) == () and broken([slow] * 5, 0.9) == ("p95 s 3.00, at most 0.5",)


def test_whoever_looks_again_may_wait_for_the_pause_too_and_a_count_for_nothing() -> None:
    assert Figure("click s", 3.5, 3.0, pause=0.5).broken() and not Figure("click s", 3.5, 3.0, pause=0.5).broken(1.0)
    assert Figure("click s", 3.5, 3.0, pause=0.9).broken(0.8) and Figure("lost", 1, 0).broken(100.0)
    assert not Figure("pages", math.inf).broken() and not Figure("wall s", 3.0, 3.0, pause=0.0).broken()


@at_night
def test_a_bare_page_is_quick_and_is_chosen_from() -> None:
    assert 0 < run(bare_p95(2, seconds=3.0)) < 2


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
def real() -> Iterator[Stage]:
    with staged(seconds=3.0) as stage:
        yield stage


@at_night
def test_learners_look_around_the_real_lessons(real: Stage) -> None:
    """Few of them for a moment, on a server that nobody has visited: no error, and every column has a figure."""
    run(load.looks(real, "class", 3))
    found = real.rows[-1]
    assert found.broken == () and (found["pages"], found["errors"]) >= (3, 0) and found["p50 s"] > 0
    assert found["peak MB"] >= found["MB"] > 100 and found["CPU ms"] > 0
    assert str(found).split()[:2] == ["class", "3"] and len(str(found).split()) == 2 + len(COLUMNS)
    assert len(str(found)) == len(HEADER)


@at_night
def test_the_first_visit_finds_what_it_clicks(real: Stage) -> None:
    run(first_visit(real))
    assert len(real.rows) >= 5 and all(row.broken == () for row in real.rows[-5:])


@at_night
def test_a_task_is_taught_and_strangers_hold_nobody_up(real: Stage) -> None:
    run(load.task(real, 2))
    run(load.strangers(real, 2))
    assert all(row["pages"] > 0 and row["errors"] == 0 for row in real.rows[-2:])


@at_night
def test_the_soak_tells_growth(real: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    run(load.soak(real, 0.0, users=2, sentences=4, warm=2))
    assert real.rows[-1]["sentences"] >= 4 and real.rows[-1]["errors"] == 0
    monkeypatch.setattr(load, "GROWTH", 0.1)
    run(load.soak(real, 0.0, users=2, sentences=3, warm=2))
    assert any("grown" in each for each in real.rows[-1].broken)


@pytest.mark.parametrize("broken", ["room", "classroom", ""])
def test_a_room_is_played_beside_other_scenarios(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    played = list[tuple[str, int, str]]()

    @contextmanager
    def servers(count: int, environment: Mapping[str, str] | None = None, seconds: float = 30.0) -> Iterator[Stage]:
        stage = Stage([], [])
        yield stage
        played.extend((row.name, count, (environment or {}).get("LAB_ROOMS", "")) for row in stage.rows)

    async def play(stage: Stage, name: str, url: str = "") -> None:
        stage.rows.append(Row(name, 1, (), ("no",) * (name == broken)))

    async def classroom(stage: Stage) -> None:
        await play(stage, "classroom")

    @contextmanager
    def databases() -> Iterator[dict[str, str]]:
        yield {"room": "file", "other": "server"}

    monkeypatch.setattr(load, "staged", servers)
    monkeypatch.setattr(load.room, "play", play)
    monkeypatch.setattr(load.room, "databases", databases)
    monkeypatch.setattr(load, "SCENARIOS", {"classroom": classroom})
    assert load.main(["room", "classroom", "--servers", "3"]) == int(bool(broken))
    assert played == [("room", 1, "file"), ("other", 2, "server"), ("classroom", 3, "")]
