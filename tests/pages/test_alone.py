"""A figure alone: nothing else is sent or made, it stays alive, and whatever is no figure says so."""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.balancer import CONFIG
from lab.course.pages import BENCHES, EXPERIMENTS, LESSONS
from lab.course.words import plain
from lab.ui import drawing, taking
from tests.charts.payloads import unpack
from tests.pages.apptest import go, reveal, steps_of, visit
from tests.thorough import some

# What every page's tree has: the two roots, the end of the run, the place of the figure, its style sheet, its name.
FRAME = {"main", "sidebar", "event", "flex_container", "html", "caption"}
TEXT = "The cat sat on the mat."
PLAIN = "[A-Za-z0-9_.-]+"
PAGES = [each.page.removeprefix("pages/") for each in (*LESSONS, *BENCHES, *EXPERIMENTS)]


def alone(page: str | None, figure: str, **params: str) -> AppTest:
    return visit(page, alone=figure, **params)


def kinds(at: AppTest) -> set[str]:
    """The kinds of elements of the whole page, without the frame."""
    found, todo = set(), [at._tree]
    while todo:
        for child in getattr(todo.pop(), "children", {}).values():
            found.add(child.type)
            todo.append(child)
    return found - FRAME


@pytest.mark.parametrize(
    ("page", "figure", "params", "kind"),
    [
        ("3_Self-attention.py", "attention-map", {"step": "map"}, "vega_lite_chart"),
        ("3_Self-attention.py", "row-built", {"step": "build-a-row"}, "bidi_component"),
        ("3_Self-attention.py", "sentence", {"step": "build-a-row", "text": TEXT}, "bidi_component"),
        ("4_Multi-head_attention.py", "lesson-forms", {"step": "through-several-layers"}, "bidi_component"),
        ("6_Head_specialization.py", "radar", {"step": "radar"}, "plotly_chart"),
        ("9_Masked_language_model.py", "token-scores", {"step": "likelihood"}, "vega_lite_chart"),  # in a fold
        ("50_Head_view.py", "head_view", {}, "bidi_component"),
        ("51_Model_view.py", "model-view", {}, "bidi_component"),
        ("52_Neuron_view.py", "neuron-view", {}, "bidi_component"),
        ("53_Flow.py", "influence-tree", {"step": "influence-tree"}, "bidi_component"),
        (None, "first-picture", {}, "bidi_component"),  # without a guess
        (None, "machine", {}, "bidi_component"),
    ],
)
def test_nothing_but_the_figure_is_sent(page: str | None, figure: str, params: dict[str, str], kind: str) -> None:
    at = alone(page, figure, **params)
    assert kinds(at) == {kind}
    assert len(at.get(kind)) == 1


def test_other_figures_are_not_made() -> None:
    made: list[str] = []
    make = drawing._made

    def counted(figure: Any, clickable: bool) -> Any:
        made.append(figure.func.__name__)
        return make(figure, clickable)

    with patch.object(drawing, "_made", counted):
        reveal(visit("3_Self-attention.py", step="all-rows", text="A bird sang in the green tree."))
        whole, made[:] = list(made), []
        alone("3_Self-attention.py", "all-scores", step="all-rows", text="A bird sang in the green tree.")
    assert "contexts" in whole and len(whole) > 1
    assert made == ["scores"]


def test_a_figure_alone_answers_a_click() -> None:
    at = alone("3_Self-attention.py", "sentence", step="build-a-row", text=TEXT)

    def header() -> dict[str, Any]:
        return unpack(at.get("bidi_component")[0].proto.bytes)[0]

    assert header()["chosen"] != 2
    states = at._tree.get_widget_states()
    id = at.get("bidi_component")[0].proto.id
    states.widgets.add(id=id, json_value=json.dumps({"choice": [secrets.token_hex(4), 2, -1]}))
    at._run(states)
    assert not at.exception and kinds(at) == {"bidi_component"}
    assert header()["chosen"] == 2


def test_a_way_to_another_page_is_not_offered() -> None:
    for page, figure in ((None, "first-picture"), (None, "machine")):
        at = alone(page, figure)
        header = unpack(at.get("bidi_component")[0].proto.bytes)[0]
        assert not header.get("doors") and not header.get("exit")
        assert not any(part["doors"] for part in header.get("parts", ()))


def test_a_visit_that_began_with_a_figure_stays_with_it() -> None:
    at = alone("3_Self-attention.py", "attention-map", step="map")
    del at.query_params["alone"]
    at.run()
    assert kinds(at) == {"vega_lite_chart"}
    at.switch_page("pages/40_Room.py")
    at.run()
    assert kinds(at) == {"info"}


@pytest.mark.parametrize("figure", ["", "nonsense", "<b>x</b>", "x" * 5000])
@pytest.mark.parametrize("page", [None, "3_Self-attention.py", "40_Room.py", "21_Glossary.py", "31_Copying.py"])
def test_what_is_no_figure_says_so_and_shows_nothing_of_the_page(page: str | None, figure: str) -> None:
    at = alone(page, figure)
    assert kinds(at) == {"info"}
    assert "this page has no figure" in at.info[0].value and len(at.info[0].value) < 500


@pytest.mark.parametrize("params", [{"room": "ABCDEF"}, {"teach": "1"}, {"room": "ABCDEF", "teach": "1"}])
def test_a_room_or_a_class_changes_nothing(params: dict[str, str]) -> None:
    assert kinds(alone("3_Self-attention.py", "attention-map", step="map", **params)) <= {"vega_lite_chart", "info"}


def test_a_model_that_has_learned_nothing_is_labelled() -> None:
    at = alone("3_Self-attention.py", "attention-map", step="map", weights="Random", twin_seed="3")
    assert kinds(at) == {"vega_lite_chart"}
    said = plain(at.caption[0].value)
    assert said.startswith("Attention weights, layer ") and said.endswith("seed 3: nothing is learned here.")
    at = alone("3_Self-attention.py", "attention-map", step="map", mode="Toy")
    assert "A toy model." in at.caption[0].value


def test_a_figure_alone_names_itself_and_links_to_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(taking.address.st.context), "url", "https://lab.example/Self-attention")
    at = alone("3_Self-attention.py", "row-built", step="build-a-row", text=TEXT)
    assert at.caption[0].value.startswith("The row of “")
    link = re.search(r"\[Inside BERT\]\((https://lab\.example/Self-attention\?[^)]*)\)", at.caption[0].value)
    assert link is not None and "text=The+cat" in link[1] and "alone" not in link[1] and "embed" not in link[1]


@pytest.fixture
def on_page(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The keys of the figures that a page draws with a button to take them along."""
    found: list[str] = []
    show = drawing.show_numbers

    def note(table: Any, key: str, call: partial[Any] | None = None, figure: Any = None, **given: Any) -> None:
        if figure is not None:
            found.append(key)
        show(table, key, call, figure, **given)

    for name, module in list(sys.modules.items()):
        if name.startswith("lab.") and getattr(module, "show_numbers", None) is show:
            monkeypatch.setattr(module, "show_numbers", note)
    yield found


@pytest.mark.parametrize("page", some(PAGES, 8))
def test_every_figure_of_a_page_can_be_alone(page: str, on_page: list[str]) -> None:
    at = visit(page, text=TEXT)
    for step in steps_of(at) or [""]:
        if step:
            go(at, step)
        on_page.clear()
        reveal(at.run())
        keys = list(dict.fromkeys(on_page))
        for key in keys:
            assert re.fullmatch(PLAIN, key), "the balancer lets only such names into a frame"
            shown = alone(page, key, text=TEXT, **({"step": step} if step else {}))
            assert len(kinds(shown)) == 1 and "info" not in kinds(shown), (step, key, kinds(shown))


def test_the_corner_gives_the_address_and_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(taking.address.st.context), "url", "https://lab.example/Self-attention")
    at = visit("3_Self-attention.py", step="map", text='a "quoted" <b> & text')
    reveal(at)
    at.session_state["attention-map.table"] = True
    at.run()
    address, frame = (block.value for block in at.code if "alone=attention-map" in block.value)
    assert address.startswith("https://lab.example/Self-attention?") and address.endswith(
        "alone=attention-map&embed=true"
    )
    assert "text=a+%22quoted%22+%3Cb%3E+%26+text" in address and "step=Where+does+it+look" in address
    assert frame.startswith('<iframe src="https://lab.example/Self-attention?') and "&amp;embed=true" in frame


def test_the_balancer_frames_the_names_that_figures_have() -> None:
    assert f"alone={PLAIN}(&|$)" in CONFIG.read_text("utf-8")
