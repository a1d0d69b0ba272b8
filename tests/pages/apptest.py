"""Drive the whole app without a browser: Streamlit's AppTest, always from Home.py."""

from __future__ import annotations

import html
import json
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import Element
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

import benchmarks.routed  # noqa: F401 (a server that has been visited before)
from lab.course.pages import BENCHES, LESSONS, Lesson, Toy
from lab.questions.progress import MAX_BYTES
from lab.ui.parameters import CONSTRUCTED, TOY
from lab.ui.quiz import keeping
from lab.ui.reports import FileChosen, heard
from tests.charts.payloads import unpack
from tests.checkpoints import Family

ROOT = Path(__file__).parents[2]
Offer = Callable[[Family], str]
# AppTest reads the metadata of every installed package at every first visit, half a second of it; once is enough.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
# By its hash a browser knows a message that it has already; no browser is here.
script_run_context.populate_hash_if_needed = lambda msg: None
_ask_whether_it_ended = local_script_runner.require_widgets_deltas


def _wait_until_it_ended(runner: LocalScriptRunner, timeout: float = 3) -> None:
    """AppTest asks a thousand times a second whether the script has ended, and the script waits for each answer."""
    if runner._script_thread is not None:
        runner._script_thread.join(timeout)
    _ask_whether_it_ended(runner, timeout if runner.script_stopped() else 0)


local_script_runner.require_widgets_deltas = _wait_until_it_ended
_run = AppTest._run


def _run_without_an_exception(self: AppTest, *args: Any, **more: Any) -> AppTest:
    """AppTest only collects the exception of a page; here it ends the test, whichever run it is in."""
    _run(self, *args, **more)
    if self.exception:
        told = self.exception[0]
        raise AssertionError(f"{told.proto.type}: {told.message}\n{told.stack_trace}")
    return self


AppTest._run = _run_without_an_exception  # type: ignore[method-assign]


# Tests call a step by its id; only here is it translated into what the screen and the address say. Each page's record
# has both, and no two pages call a step of one id by two names. The steps of toys have no ids: there the name is one.
_NAMES = {step.id: step.name for page in (*LESSONS, *BENCHES) for step in page.steps}
_IDS = {name: id for id, name in _NAMES.items()}
_WITH_HEADS = {lesson.page.removeprefix("pages/") for lesson in LESSONS if lesson.toy is Toy.HEADS}


def on_screen(step: str) -> str:
    """What a step is called on screen and in the address, by its id."""
    return _NAMES.get(step, step)


def visit(page: str | None = None, **params: str) -> AppTest:
    """A first visit to a page (its file in pages/) with URL parameters; it must come up without an exception.

    ``step`` is a step's id. A toy is the one written by hand unless its weights are named.
    """
    if params.get("mode") == TOY and page in _WITH_HEADS:
        params = {"toy_weights": CONSTRUCTED, **params}
    at = AppTest.from_file(str(ROOT / "Home.py"), default_timeout=120)
    for name, value in params.items():
        at.query_params[name] = on_screen(value) if name == "step" else value
    if page is not None:
        at.switch_page(f"pages/{page}")
    at.run()
    return at


def lesson_at(page: str) -> Lesson:
    """The lesson whose page is this file in pages/."""
    return next(lesson for lesson in LESSONS if lesson.page == f"pages/{page}")


@contextmanager
def choosing(data: bytes) -> Iterator[None]:
    """While the block lasts, the browser says that the learner has just chosen a progress file with this in it."""
    told = [secrets.token_hex(8), len(data), "" if len(data) > MAX_BYTES else data.decode("utf-8-sig", "replace")]
    with patch.object(keeping, "chosen_file", lambda *_: heard({"file": told}, FileChosen)):
        yield


# A technical word that explains itself at a touch (lab/ui/screen.py).
_TERM = re.compile(r'\[((?:\[[^\]]*\]|[^\]])+)\]\(Glossary\?look_up=\S+ "[^"]*"\)')


def without_marks(text: str) -> str:
    """The text as a reader sees it: without the links behind its technical words."""
    return _TERM.sub(r"\1", text)


def words(at: AppTest) -> str:
    """All text on the page that AppTest can read, in one string."""
    parts = [*at.title, *at.markdown, *at.warning, *at.info, *at.error, *at.success, *at.caption]
    return without_marks("\n".join(part.value for part in parts))


def html_of(at: AppTest) -> str:
    """All HTML of the page, as the browser gets it."""
    return "\n".join(str(block.value) for block in at.get("html") if isinstance(block, Element))


def badges(at: AppTest) -> list[str]:
    """What the badges of the comparison with Hugging Face say, with their icons."""
    faces = [(block.proto.popover.icon, block.proto.popover.label) for block in at.get("popover")]
    told = ("Hugging Face", "Differs", "compare", "changed from")
    return [f"{icon} {label}" for icon, label in faces if any(each in label for each in told)]


def open_badge(at: AppTest, place: int = 0) -> AppTest:
    """Open a badge, which asks for the comparison."""
    at.session_state[f"_proof_{place}"] = True
    at.run()
    return at


def components(at: AppTest) -> list[Any]:
    """The hand-written components that draw something; the strip at the top and the keys of every page do not count."""
    others = {"turning", "terms", "translation", "strip", "address", "keeping", "from_file", "seat", "_sentence"}
    return [element for element in at.get("bidi_component") if element.key not in others]


def component(at: AppTest, key: str) -> dict[str, Any]:
    """What the header of a hand-written component says, by the component's key."""
    (element,) = [each for each in at.get("bidi_component") if each.key == key]
    return unpack(element.proto.bytes)[0]


def sent(at: AppTest) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What the page's one hand-written component gets: its header and its arrays."""
    (element,) = components(at)
    return unpack(element.proto.bytes)


def largest(at: AppTest) -> int:
    """The bytes of the largest message to the browser; figures are among them."""
    return max(len(element.proto.SerializeToString()) for element in at.main if element.proto is not None)


def sentence_of(at: AppTest) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The sentence at the top of the step: what its header says, and its weights."""
    (element,) = [each for each in at.get("bidi_component") if each.key == "_sentence"]
    return unpack(element.proto.bytes)


def looks(at: AppTest) -> tuple[int, int | None]:
    """The token that attends and the one that it attends to, from 0, as the sentence shows them."""
    header, _ = sentence_of(at)
    other = header["other"]
    return header["first"] + header["chosen"], None if other is None else header["first"] + other


def click_token(at: AppTest, token: int, other: int = -1) -> AppTest:
    """What a browser reports of a click in the sentence: ``token``, and the ``other`` one, counted from 0."""
    (element,) = [each for each in at.get("bidi_component") if each.key == "_sentence"]
    states = at._tree.get_widget_states()
    states.widgets.add(id=element.proto.id, json_value=json.dumps({"choice": [secrets.token_hex(4), token, other]}))
    at._run(states)
    return at


def reveal(at: AppTest) -> AppTest:
    """Skip the prediction, if one is asked, so that what stands behind it is drawn."""
    for button in at.button:
        if button.label == "Show me":
            button.click().run()
            break
    assert not at.error
    return at


def opened(page: str, step: str, **params: str) -> AppTest:
    """A first visit to a step, past its prediction."""
    return reveal(visit(page, step=step, **params))


def press(at: AppTest, label: str) -> AppTest:
    """Press the first button with this label."""
    next(button for button in at.button if button.label == label).click().run()
    return at


def unfold(at: AppTest, *folds: str) -> AppTest:
    """Open the folds of these keys."""
    for fold in folds:
        at.session_state[fold] = True
    at.run()
    return at


def worked(at: AppTest) -> AppTest:
    """Wait until the work that goes on in the background is over, and draw the page again."""
    for thread in threading.enumerate():
        if thread.name.startswith("job "):
            thread.join(60)
            assert not thread.is_alive()
    at.run()
    return at


def steps_of(at: AppTest) -> tuple[str, ...]:
    """The steps of the page, those beside the way before the last one; none where it has none."""
    row = row_of(at) if any(control.key == "step" for control in at.segmented_control) else []
    menu = [_id(step) for control in at.menu_button if control.key == "more_steps" for step in control.options]
    way = [step for step in row if step not in menu]
    return (*way[:-1], *menu, *way[-1:])


def _id(name: object) -> str:
    return _IDS.get(str(name), str(name))


def row_of(at: AppTest) -> list[str]:
    """The steps that stand in the row now."""
    return [_id(step) for step in at.segmented_control(key="step").options]


def step_of(at: AppTest) -> str:
    """The step on screen."""
    return _id(at.segmented_control(key="step").value)


def turn_to(at: AppTest, step: str, *, keep: bool = True) -> AppTest:
    """Choose a step, in the row or in the menu beside it.

    It opens on the course's sentence. With ``keep``, the learner's own is then chosen again if there is one.
    """
    assert step in steps_of(at), (step, steps_of(at))
    chooser = at.segmented_control(key="step") if step in row_of(at) else at.menu_button(key="more_steps")
    chooser.set_value(on_screen(step)).run()
    switch = [each for each in at.get("button_group") if each.key == "_whose"]
    if keep and switch and "_own_texts" in at.session_state:
        at.segmented_control(key="_whose").set_value("Yours").run()
    return at


def go(at: AppTest, step: str) -> AppTest:
    """To a step of a page that is open, and past its prediction."""
    reveal(turn_to(at, step))
    assert step_of(at) == step
    return at


def walk(at: AppTest, steps: Iterable[str] = ()) -> Iterator[str]:
    """Visit these steps, or all that the page has, in one session; yields the one on screen."""
    for step in tuple(steps) or steps_of(at):
        go(at, step)
        yield step


def check_answers(at: AppTest, least: int = 3) -> None:
    """The step with the checks has so many at least, and the first one answers."""
    radios = [radio for radio in at.radio if str(radio.key).startswith("_check.")]
    assert len(radios) >= least
    radios[0].set_value(0).run()
    assert len(at.success) + len(at.error) + len(at.warning) == 1


def drawn(at: AppTest, index: int) -> NDArray[np.float64]:
    """The numbers of a chart, in the order they are drawn."""
    chart = at.get("vega_lite_chart")[index]
    return np.asarray(pa.ipc.open_stream(chart.proto.data.data).read_pandas()["value"], dtype=np.float64)


def titles(at: AppTest) -> list[str]:
    """The title of each chart."""
    found = []
    for chart in at.get("vega_lite_chart"):
        spec = json.loads(chart.proto.spec)
        lines = next(parameter["value"] for parameter in spec["params"] if parameter["name"] == "title_lines")
        found.append(" ".join(lines))
    return found


def shows_claims(at: AppTest) -> bool:
    """The page has the table of the claims."""
    return any('class="claims"' in block.proto.body for block in at.get("html"))


def claims(at: AppTest) -> pd.DataFrame:
    """The claims of an experiment's table, by the names of its columns, as texts."""
    (table,) = [body for each in at.get("html") if 'class="claims"' in (body := each.proto.body)]
    rows = re.findall(r"<tr>(<td.*?)</tr>", table)
    cells = (re.findall(r'<td[^>]*data-name="([^"]+)">(.*?)</td>', row) for row in rows)
    return pd.DataFrame([{name: html.unescape(re.sub(r"<[^>]+>", "", text)) for name, text in row} for row in cells])
