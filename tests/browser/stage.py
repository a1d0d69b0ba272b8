"""A hand-written component on a page without a server: a few lines of script stand for Streamlit.

They give the component its data and write down what it reports. What a component does by itself is tried here; that the
lab hears of a choice and acts on it is tried on the server.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

import lab.charts.kept
from lab.charts.components import javascript, style
from lab.charts.kept.file import Live
from lab.charts.kept.keepable import Keepable
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import load_model
from lab.models.trace import Trace, trace

_COLOURS = Path(lab.charts.kept.__file__).with_name("page.css")
_SCRIPT = """
const place = document.getElementById("figure").attachShadow({ mode: "open" });
place.append(make("style", {}, CSS));
const reports = [];
const report = (name, value) => reports.push([name, value]);
window.reported = () => reports.splice(0);
window.give = (text) => component({
  data: Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)),
  parentElement: place,
  setStateValue: report,
  setTriggerValue: report,
});
"""


@dataclass(frozen=True)
class Stage:
    """A page with one component on it."""

    page: Page

    def show(self, figure: Keepable) -> Page:
        """Draw the figure with a component that has just been put on the page."""
        drawing = self._drawing(figure)
        before, _, after = javascript(drawing.name).partition("export default ")
        script = f"{before}const component = {after}\n{_SCRIPT.replace('CSS', _safe(style(drawing.name)))}"
        self.page.set_content(
            f'<!doctype html><html lang="en"><title>{drawing.name}</title><style>{_COLOURS.read_text("utf-8")}</style>'
            f'<main><h1>A figure</h1><div id="figure"></div></main><script type="module">{script}</script></html>'
        )
        self.give(figure)
        return self.page

    def give(self, figure: Keepable) -> None:
        """Give the component on the page other data, as a rerun does."""
        self.page.evaluate("text => { give(text); }", b64encode(self._drawing(figure).payloads[0]).decode())

    def reported(self) -> list[Any]:
        """What the component has told Streamlit since this was last asked: names of states with their values."""
        return list(self.page.evaluate("reported()"))

    def hears(self) -> Any:
        """Wait for a report, and return the latest value that nobody has asked for."""
        self.page.wait_for_function("() => (window.latest = reported().at(-1) ?? window.latest)")
        return self.page.evaluate("() => { const told = window.latest[1]; delete window.latest; return told; }")

    def _drawing(self, figure: Keepable) -> Live:
        drawing = figure.drawing()
        assert isinstance(drawing, Live)
        return drawing


def _safe(text: str) -> str:
    return json.dumps(text).replace("<", "\\u003c")


@lru_cache(maxsize=16)
def run(text: str, pair: str | None = None, model: str = DEFAULT_MODEL) -> Trace:
    """The run of a text, once for all tests of a process."""
    return trace(load_model(model), text, pair)
