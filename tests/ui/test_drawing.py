"""A figure is made once for a run, stays as it is when it is drawn, and follows what it is asked about."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import pytest
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


def told_page() -> None:
    import streamlit as st

    from lab.ui import taking
    from lab.ui.drawing import draw

    draw(st.session_state["call"], "one")
    taking.tell("**Bold**, *slanted* and `code`, \\*a star\\*.")
    first = taking.told_of("one")
    draw(st.session_state["call"], "other")
    other = taking.told_of("other")
    draw(st.session_state["call"], "beside it")
    taking.tell("Of both.")
    st.session_state["told"] = first, other, taking.told_of("beside it")


def test_what_is_said_of_a_figure_is_kept_with_it_as_plain_text_and_once() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "The cat sat.")
    at = AppTest.from_function(told_page, default_timeout=30)
    at.session_state["call"] = partial(attention_map, trace, 0, 0)
    for _ in range(2):
        at.run()
        assert not at.exception
        assert at.session_state["told"] == (["Bold, slanted and code, *a star*."], ["Of both."], ["Of both."])


def long_page() -> None:
    import streamlit as st

    from lab.charts.components.model_view import ModelView
    from lab.ui.drawing import show_numbers

    figure = st.session_state["figure"]
    assert isinstance(figure, ModelView)
    st.session_state["view.table"] = True
    show_numbers(figure.table, "view", None, figure)


def test_the_size_of_a_large_file_is_said_before() -> None:
    from lab.benches.model_view.view import all_heads

    model = lab.load_model("lab-minilm")
    for text, label in (
        ("The cat sat.", "Keep it"),
        (" ".join(["the cat sat on the green mat and"] * 24), "Keep it (0.5 MB)"),
    ):
        at = AppTest.from_function(long_page, default_timeout=30)
        at.session_state["figure"] = all_heads(lab.trace(model, text))
        at.run()
        assert not at.exception
        labels = [each.proto.label for each in at.get("download_button")]
        assert label in labels, labels


def test_the_frame_shows_the_file_that_the_button_beside_it_keeps() -> None:
    from lab.benches.model_view.view import all_heads

    at = AppTest.from_function(long_page, default_timeout=30)
    at.session_state["figure"] = all_heads(lab.trace(lab.load_model("lab-bert"), 'a "quoted" <b> & text'))
    at.run()
    (frame,) = (block.value for block in at.code if "iframe" in block.value)
    assert frame.startswith('<iframe src="view.html" ') and "<b>" not in frame


def test_a_file_of_a_text_that_a_model_can_hardly_read_says_so() -> None:
    from lab.ui import taking

    for text, warned in (("The cat sat.", False), ("القطة جلست على السجادة", True)):
        call = partial(attention_map, lab.trace(lab.load_model("lab-bert"), text), 0, 0)
        figure = call()
        file = taking._write(figure, call, figure.table(), ("A page", ["A meaning."], "")).decode()
        assert "<p>A meaning.</p>" in file and ("knows few words of this language" in file) == warned


@pytest.mark.parametrize(("link", "says"), [("http://localhost:8501/", True), ("https://lab.example/", False)])
def test_a_file_says_if_its_link_leads_nowhere_on_another_computer(link: str, says: bool) -> None:
    from lab.ui import taking

    call = partial(attention_map, lab.trace(lab.load_model("lab-bert"), "The cat sat."), 0, 0)
    file = taking._write(call(), call, call().table(), ("A page", [], link)).decode()
    assert f'href="{link}"' in file and ("on the computer on which it was kept" in file) == says


def sentence_page() -> None:
    import streamlit as st

    from lab.ui import taking

    found = [taking.told_of("sentence")]
    if st.session_state["between"]:
        taking.begin_figure("other")
    taking.tell("What it means.")
    st.session_state["told"] = found[0]


@pytest.mark.parametrize("between", [False, True])
def test_a_meaning_is_the_sentence_s_if_no_figure_is_between(between: bool) -> None:
    at = AppTest.from_function(sentence_page, default_timeout=30)
    at.session_state["between"] = between
    at.run()
    assert at.session_state["told"] == ([] if between else ["What it means."])
