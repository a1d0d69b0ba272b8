"""What a page costs beside a bare Streamlit app: the same navigation and links, the same widgets, one chart.

How many learners a server carries is decided by the processor time of a rerun. A bare app is the least that
Streamlit takes; the ratio says how much of a page's time is the lab's own.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamlit.logger import set_log_level
from streamlit.testing.v1 import AppTest, app_test

from benchmarks.pages import METER, MeteredRunner, opened, run_once
from benchmarks.results import table
from lab.course.pages import BENCHES, LESSONS, Bench, Lesson

ROUNDS = 25
GOAL = 1.6
_EVERY: tuple[Lesson | Bench, ...] = (*LESSONS, *BENCHES)
_FILES = ("home", *(Path(page.page).stem for page in _EVERY))
_NAVIGATION = """
import json
from pathlib import Path

import streamlit as st

here = Path(__file__).parent
names = json.loads((here / "pages.json").read_text())
st.navigation([st.Page(str(here / f"{name}.py"), title=name) for name in names]).run()
"""
_PAGE = """
import json
from pathlib import Path

import pandas as pd
import streamlit as st

widgets = json.loads(Path(__file__).with_name("widgets.json").read_text())
for number, (place, kind, label, options) in enumerate(widgets):
    with st.sidebar if place == "sidebar" else st.container():
        key = f"w{number}"
        if kind in ("selectbox", "radio", "segmented_control"):
            getattr(st, kind)(label, options, key=key)
        elif kind == "page_link":
            st.page_link(str(Path(__file__).with_name("home.py")), label=label)
        else:
            getattr(st, kind)(label, key=key)
cells = pd.DataFrame({"row": [i // 9 for i in range(81)], "column": [i % 9 for i in range(81)], "value": range(81)})
st.vega_lite_chart(cells, {"mark": "rect", "encoding": {
    "y": {"field": "row", "type": "ordinal"}, "x": {"field": "column", "type": "ordinal"},
    "color": {"field": "value", "type": "quantitative"}}})
"""
_KINDS = {
    "selectbox": "selectbox",
    "radio": "radio",
    "button_group": "segmented_control",
    "text_area": "text_area",
    "text_input": "text_input",
    "button": "button",
    "checkbox": "checkbox",
    "number_input": "number_input",
    "slider": "slider",
    "page_link": "page_link",
}


@dataclass(frozen=True)
class Cost:
    """The first step of a page: milliseconds of its script's thread, and of the bare app's."""

    page: str
    lesson: bool
    own: float
    bare: float

    @property
    def ratio(self) -> float:
        return self.own / self.bare

    def __str__(self) -> str:
        verdict = "  above the goal" if self.lesson and self.ratio > GOAL else ""
        return f"{self.page:<32} {self.own:>6.1f} {self.bare:>6.1f} {self.ratio:>6.2f}{verdict}"


def costs() -> Iterator[Cost]:
    """Every page, measured in turn with the bare app made after it."""
    with tempfile.TemporaryDirectory() as folder:
        for page in _EVERY:
            at = opened(page)
            bare = _bare(Path(folder), at)
            own_ms: list[float] = []
            bare_ms: list[float] = []
            for _ in range(ROUNDS):
                for app, times in ((at, own_ms), (bare, bare_ms)):
                    run_once(app)
                    times.append(1000 * METER.seconds)
            yield Cost(page.title, isinstance(page, Lesson), statistics.median(own_ms), statistics.median(bare_ms))


def _bare(folder: Path, at: AppTest) -> AppTest:
    """An app with as many pages, and the widgets of the page that ``at`` shows."""
    widgets = [
        (place, _KINDS[element.type], element.proto.label or "-", list(getattr(element, "options", ())))
        for place, block in (("sidebar", at.sidebar), ("main", at.main))
        for element in block
        if element.type in _KINDS
    ]
    (folder / "widgets.json").write_text(json.dumps(widgets), "utf-8")
    (folder / "pages.json").write_text(json.dumps(_FILES), "utf-8")
    for name in _FILES:
        (folder / f"{name}.py").write_text(_PAGE, "utf-8")
    (folder / "app.py").write_text(_NAVIGATION, "utf-8")
    return run_once(AppTest.from_file(str(folder / "app.py"), default_timeout=60))


def run() -> tuple[list[tuple[str, str]], bool]:
    """Print each page's cost; a section of RESULTS.md. Nothing fails: the goal is printed beside."""
    set_log_level("ERROR")
    app_test.LocalScriptRunner = MeteredRunner  # type: ignore[misc]
    print(f"\nWarm reruns beside a bare Streamlit app, medians of {ROUNDS}. The goal for lessons: {GOAL}.\n")
    print(f"{'page':<32} {'ms':>6} {'bare':>6} {'ratio':>6}")
    found = []
    for cost in costs():
        print(cost, flush=True)
        found.append(cost)
    return [("Capacity", _section(found))], False


def _section(found: Sequence[Cost]) -> str:
    rows = [(each.page, f"{each.own:.1f}", f"{each.bare:.1f}", f"{each.ratio:.2f}") for each in found]
    return (
        "Processor time of a warm rerun over that of a bare Streamlit app with the same navigation, the same widgets "
        f"and one chart; the first step of each page. Goal for lessons: {GOAL}.\n\n"
        + table(("page", "ms", "bare app, ms", "ratio"), rows)
    )
