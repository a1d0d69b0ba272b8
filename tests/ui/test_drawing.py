"""A figure is made once for a run, stays as it is when it is drawn, and follows what it is asked about."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

from streamlit.testing.v1 import AppTest

import lab
from lab.figures.attention import attention_map
from lab.models.trace import Trace
from lab.ui import drawing

MADE: list[tuple[int, object]] = []


def counted(traced: Trace, layer: int, title: object = "") -> Any:
    MADE.append((layer, title))
    return attention_map(traced, layer, 0, title=str(title))


def page() -> None:
    import streamlit as st

    from lab.ui.drawing import draw

    draw(st.session_state["call"], "figure", clickable=True)


def shown(call: Any) -> AppTest:
    at = AppTest.from_function(page, default_timeout=30)
    at.session_state["call"] = call
    at.run()
    assert not at.exception
    return at


def test_a_figure_is_made_once_for_a_run_and_plain_values() -> None:
    one, other = (lab.trace(lab.load_model("lab-bert"), text) for text in ("The cat sat.", "A dog ran home."))
    MADE.clear()
    for call in (partial(counted, one, 0), partial(counted, one, 1), partial(counted, other, 0)):
        for _ in range(2):
            shown(call)
    assert MADE == [(0, ""), (1, ""), (0, "")]
    shown(partial(counted, one, 0, title="named"))
    shown(partial(counted, one, 0, "named"))  # said in another way: made again, and never mixed up
    assert MADE[3:] == [(0, "named")] * 2


def test_what_is_no_plain_value_is_made_each_time() -> None:
    trace, title = lab.trace(lab.load_model("lab-bert"), "The cat sat."), ["a", "list"]
    MADE.clear()
    for _ in range(2):
        shown(partial(counted, trace, 0, title))
    assert [(0, title)] * 2 == MADE


def test_drawing_leaves_the_figure_that_is_kept_as_it_is() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "The cat sat.")
    call = partial(attention_map, trace, 1, 2, 1, 0)
    kept = drawing._made(call, True)
    before = copy.deepcopy((kept.spec, kept.figure.spec))
    shown(call)
    assert drawing._made(call, True) is kept
    assert (kept.spec, kept.figure.spec) == before
    assert kept.nbytes > 16 * 4
