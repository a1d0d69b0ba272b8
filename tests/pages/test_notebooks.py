"""Every figure that can be taken home as a notebook is made again by it, with the numbers on the screen."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import pandas as pd
import pytest

import lab
from lab.course.pages import BENCHES, LESSONS
from lab.figures.notebook import python_of
from lab.models import loading as catalogue
from lab.ui import drawing as figures
from tests.pages.apptest import on_screen, reveal, steps_of, visit
from tests.thorough import THOROUGH, some

# All screens are there before a function of theirs is replaced for a while.
for found in pkgutil.walk_packages(lab.__path__, "lab."):
    importlib.import_module(found.name)

# The first lesson looks at no tensor.
PAGES = (
    [lesson.page for lesson in LESSONS if lesson.weights] + [bench.page for bench in BENCHES] + ["pages/20_Models.py"]
)
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
    "random": ("pages/3_Self-attention.py", "pages/50_Head_view.py", "pages/20_Models.py"),
}
EVERY = [(page, way) for way in WAYS for page in PAGES if page in SOME.get(way, PAGES)]
# By day each page in the default way, and in every other way every fourth page.
CASES = [case for place, case in enumerate(EVERY) if THOROUGH or case[1] == "default" or place % 4 == 0]


# The call that makes a figure, and what makes the table under it.
Taken = tuple[partial[Any], Callable[[], pd.DataFrame]]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Taken]]:
    """The figures on the screens visited, by key, that a notebook can make again."""
    found: dict[str, Taken] = {}
    show = figures.show_numbers

    def remember(table: Any, key: str, call: partial[Any] | None = None, figure: Any = None, **given: Any) -> None:
        if call is not None:
            found[key] = (call, table)
        show(table, key, call, figure, **given)

    for name, module in list(sys.modules.items()):
        if name.startswith("lab.") and getattr(module, "show_numbers", None) is show:
            monkeypatch.setattr(module, "show_numbers", remember)
    yield found


@pytest.fixture(scope="module", autouse=True)
def loaded_once() -> Iterator[None]:
    """Each notebook loads its model anew; here it is the same, for all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "_load_folder", cache(catalogue._load_folder))
        yield


def numbers(figure: Any) -> pd.DataFrame:
    """What a figure shows as a table."""
    return figure if isinstance(figure, pd.DataFrame) else figure.table()


@pytest.mark.parametrize(("page", "way"), some(CASES, 12))
def test_the_lines_of_a_notebook_give_the_figure_on_the_screen(page: str, way: str, taken: dict[str, Taken]) -> None:
    at = visit(page.removeprefix("pages/"), **WAYS[way])
    steps = steps_of(at)
    for step in steps or ["the only one"]:
        if steps:
            at.session_state["step"] = on_screen(step)
            at.run()
        reveal(at)
    assert taken
    for key, (call, table) in taken.items():
        setup, expression = python_of(call)
        names: dict[str, object] = {}
        exec(setup, names)
        pd.testing.assert_frame_equal(numbers(eval(expression, names)), table(), obj=f"{page} {key}")
