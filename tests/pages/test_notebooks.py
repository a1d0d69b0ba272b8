"""Every figure that can be taken home as a notebook is made again by it, with the numbers on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lab.course.pages import BENCHES, LESSONS
from lab.figures.notebook import python_of
from lab.models import loading as catalogue
from tests.pages.apptest import go, press, reveal, visit, worked
from tests.pages.taken import Taken, look_at_all_steps, taken_figures
from tests.scripts import run_all
from tests.thorough import THOROUGH, one_by_day, some

LINES = 14  # the most of a figure's script: a comment, imports and an empty line among them
# The first lesson looks at no tensor.
PAGES = [lesson.page for lesson in LESSONS if lesson.weights] + [bench.page for bench in BENCHES]
WITH_TOYS = {lesson.page for lesson in LESSONS if lesson.toy} | {bench.page for bench in BENCHES if bench.toy}
PAIR = {"text": "The cat sat on the mat. It slept.", "pair": "Then it ran home."}
WAYS: dict[str, dict[str, str]] = {
    "default": PAIR,
    "lab-gpt2": {"model": "lab-gpt2", **PAIR},
    "random": {"weights": "Random", "twin_seed": "3", **PAIR},
    "toy": {"mode": "Toy"},
    "otherwise": {
        "sinks": "Kept",
        "measure": "Maximum",
        "tree": "One layer repeated",
        "flow_residual": "With residual",
        "flow_layer": "2",
        **PAIR,
    },
}
OTHERWISE = ("pages/7_Inter-sentence_attention.py", "pages/53_Flow.py")  # whose figures those choices change
# The lines that draw random weights are the same for every figure.
SOME = {
    "otherwise": OTHERWISE,
    "toy": WITH_TOYS,
    "random": ("pages/3_Self-attention.py", "pages/50_Head_view.py"),
}
EVERY = [(page, way) for way in WAYS for page in PAGES if page in SOME.get(way, PAGES)]
# By day each page in the default way, and in every other way every fourth page.
CASES = [case for place, case in enumerate(EVERY) if THOROUGH or case[1] == "default" or place % 4 == 0]


@pytest.fixture
def taken() -> Iterator[dict[str, Taken]]:
    """The figures on the screens visited, by key."""
    with taken_figures() as figures:
        yield figures


@pytest.fixture(scope="module", autouse=True)
def loaded_once() -> Iterator[None]:
    """Each notebook loads its model anew; here it is the same, for all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "_load_folder", cache(catalogue._load_folder))
        yield


def numbers(figure: Any) -> pd.DataFrame:
    """What a figure shows as a table."""
    return figure if isinstance(figure, pd.DataFrame) else figure.table()


def run_lines(taken: dict[str, Taken], folder: Path, *, scripts: bool = True) -> None:
    """Make each figure again, by the lines of its notebook and by its script, which has the same lines."""
    assert taken
    for key, figure in taken.items():
        assert figure.call is not None, key
        setup, expression = python_of(figure.call)
        names: dict[str, object] = {}
        exec(setup, names)
        pd.testing.assert_frame_equal(numbers(eval(expression, names)), figure.table(), obj=key)
        lines = figure.script(key)
        assert len(lines.splitlines()) <= LINES, lines
        if scripts:
            run_all({key: lines}, folder)
            assert (folder / f"{key}.html").exists() == figure.kept


@one_by_day
@pytest.mark.parametrize(("page", "way"), some(CASES, 12))
def test_the_lines_of_a_notebook_give_the_figure_on_the_screen(
    page: str, way: str, taken: dict[str, Taken], tmp_path: Path
) -> None:
    look_at_all_steps(page, **WAYS[way])
    run_lines(taken, tmp_path)


@pytest.mark.usefixtures("short")
def test_what_was_trained_is_trained_again(taken: dict[str, Taken], tmp_path: Path) -> None:
    at = reveal(visit("10_How_it_learns.py", step="many-steps"))
    at.button(key="_train.start").click().run()
    assert {"toy-loss", "toy-map"} <= set(taken)
    at = visit("11_A_task_of_your_own.py", step="teach-it", model="lab-bert")
    at.button(key="_thirty").click().run()
    next(each for each in go(at, "change-the-model").button if each.label.startswith("Train the last")).click().run()
    go(worked(at), "why-this-answer")
    assert {"taught", "cls-before-and-after", "turning", "cls-looks"} <= set(taken)
    run_lines(taken, tmp_path, scripts=THOROUGH)  # each would train once more


def test_the_own_sentences_of_a_learner_are_in_the_lines(taken: dict[str, Taken], tmp_path: Path) -> None:
    at = visit("11_A_task_of_your_own.py", step="teach-it", taught="Your own")
    rows = [f"I {verb} this {thing}.\t{verb}" for verb in ("love", "hate") for thing in ("book", "film", "song")]
    next(each for each in at.text_area if each.label.startswith("Your sentences")).input("\n".join(rows))
    press(at, "Add")
    assert "I love this book." in taken["taught"].script("taught")
    run_lines(taken, tmp_path)
