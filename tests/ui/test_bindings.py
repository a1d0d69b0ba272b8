"""A parameter of the URL is one object: nothing else is bound, and a copied link has all of it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qsl, urlencode

import pytest
from streamlit.testing.v1 import AppTest

from lab.analysis.layers import sublayers
from lab.analysis.layers.embeddings import Order, SegmentChange
from lab.course.pages import MENUS, Lesson
from lab.models import loading
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.trace import trace
from lab.ui import parameters
from lab.ui.parameter_kinds import Choice, Parameter, TextParameter, Whole
from lab.ui.parameters import PARAMETERS
from lab.ui.parameters_of_a_run import Counted, Model, PlaceParameter, StepParameter
from lab.ui.selection import Selection
from tests.pages.apptest import ROOT, visit

OWNERS = {"parameter_kinds.py", "parameters_of_a_run.py"}
MODELS = ("lab-bert", "lab-gpt2")
BY_NAME = {each.name: each for each in PARAMETERS}
# The places of a run, and what decides them: read and written by hand, under keys of their own.
WIDGETS = {
    "button",
    "chat_input",
    "checkbox",
    "data_editor",
    "file_uploader",
    "multiselect",
    "number_input",
    "pills",
    "radio",
    "segmented_control",
    "select_slider",
    "selectbox",
    "slider",
    "text_area",
    "text_input",
    "toggle",
}


def calls() -> Iterator[tuple[Path, ast.Call, dict[str | None, ast.expr]]]:
    """Every call in the lab and its pages, with its keyword arguments."""
    for path in sorted([*ROOT.glob("pages/*.py"), *ROOT.glob("lab/**/*.py")]):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call):
                yield path, call, {each.arg: each.value for each in call.keywords}


def test_only_a_parameter_is_bound_to_the_url() -> None:
    """By hand, out of a dictionary, or with what a parameter gives its own widgets."""
    words = re.compile(r"""\bbind=|["']bind["']|\b_bound\(""")
    paths = [*ROOT.glob("pages/*.py"), *ROOT.glob("lab/**/*.py")]
    assert {path.name for path in paths if words.search(path.read_text("utf-8"))} == OWNERS


def test_no_other_widget_has_the_key_of_a_parameter() -> None:
    taken = [
        f"{path.name}:{call.lineno}: {key.value}"
        for path, call, named in calls()
        if getattr(call.func, "attr", "") in WIDGETS
        and isinstance(key := named.get("key"), ast.Constant)
        and key.value in BY_NAME
    ]
    assert not taken


def test_only_the_selection_and_the_parameters_touch_the_url() -> None:
    touching = {
        path.name
        for path in [*ROOT.glob("pages/*.py"), *ROOT.glob("lab/**/*.py")]
        if "st.query_params" in path.read_text("utf-8")
    }
    # The bench of flow understands links that name its layer as other pages do.
    assert touching <= OWNERS | {"selection.py", "address.py", "view.py"}


def test_every_parameter_has_a_name_of_its_own_and_a_field_with_its_default() -> None:
    twice = [name for name, count in Counter(each.name for each in PARAMETERS).items() if count > 1]
    assert not twice
    assert all(Selection()[each] == each.default for each in PARAMETERS)
    assert all(each.default in each.options for each in PARAMETERS if isinstance(each, Choice))
    assert all(each.least <= each.default <= each.most for each in PARAMETERS if isinstance(each, Whole))


def test_choices_are_those_of_the_modules_that_bring_torch() -> None:
    assert get_args(Order) == parameters.ORDER.options
    assert get_args(SegmentChange) == parameters.SEGMENTS.options
    runs = [trace(loading.load_model(model), "The cat sat.") for model in MODELS]
    norms = [name for run in runs for name in sublayers.layer_norms(run.layer(0))]
    assert tuple(norms) == parameters.NORM.options


def another(parameter: Parameter[Any]) -> Any:
    """A value that a link may have, and that is not the default."""
    if isinstance(parameter, Model):
        return next(model for model in MODELS if model != parameter.default)
    if isinstance(parameter, Choice):
        return next(option for option in parameter.options if option != parameter.default)
    if isinstance(parameter, TextParameter):
        return "Straße & 100 % = [MASK]\n?"
    return "2.3" if isinstance(parameter.default, str) else type(parameter.default)(parameter.default + 1)


def start() -> None:
    """A page that takes over a link and copies it; what a link keeps comes back by :func:`selection.take`, too."""
    import streamlit as st

    from lab.ui import selection
    from lab.ui.parameters import PARAMETERS

    models = ("lab-bert", "lab-gpt2")
    selection.start(models)
    st.session_state["_copied"] = selection.link()
    now = selection.current()
    st.session_state["_now"] = {each.name: now[each] for each in PARAMETERS}
    st.session_state["_notes"] = selection.take_notes()


def opened(link: dict[str, str], page: str = "self-attention") -> AppTest:
    at = AppTest.from_function(start)
    at.session_state["_page"] = page
    at.query_params |= link
    at.run()
    return at


def test_a_copied_link_has_what_its_page_uses_and_loses_nothing_of_it() -> None:
    wanted = {each.name: another(each) for each in PARAMETERS}
    kept = {each.name for each in PARAMETERS if each.kept}
    assert kept == wanted.keys() - {"step", "card", "look_up", "seed", "teach", "room", "projector", "summary", "plan"}
    read = {"mode", "text", "pair", "model", "weights", *(each.name for each in parameters.TOYS)}
    carried = set()
    for page in (page for menu in MENUS.values() for page in menu):
        at = opened({name: str(value) for name, value in wanted.items()}, page.id)
        assert at.session_state["_notes"] == []
        assert at.session_state["_now"] == wanted
        copied = at.session_state["_copied"]
        way = {"way"} if isinstance(page, Lesson) else set()  # a lesson is on both ways through the course
        assert copied.keys() == read | way | {*page.parameters}, page.id
        again = opened(dict(parse_qsl(urlencode(copied))), page.id).session_state
        assert {name: again["_now"][name] for name in copied} == {name: wanted[name] for name in copied}
        carried |= copied.keys()
    assert carried == kept


def test_the_learner_s_toy_is_in_no_link_to_a_sentence() -> None:
    at = opened(
        {"toy_seed": "7", "toy_rule": parameters.TOY_RULE.options[1], "twin_seed": "3"}, "masked-language-model"
    )
    assert at.session_state["_copied"] == {}
    assert opened({"twin_seed": "3", "weights": "Random"}).session_state["_copied"].keys() == {"weights", "twin_seed"}


def test_a_link_names_a_head_even_where_it_is_the_default() -> None:
    """A lesson may begin with another one."""
    at = visit("3_Self-attention.py", step="map")
    assert at.selectbox(key="head").value == 4
    at.selectbox(key="head").set_value(1).run()
    at.button(key="_next_step").click().run()
    assert opened({"head": "1"}).session_state["_copied"] == {"head": "1"}
    assert visit("3_Self-attention.py", step="map", head="1").selectbox(key="head").value == 1


# What a page draws in a later step is known before, and survives the way to another page.
@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("9_Masked_language_model.py", {"temperature": "0.5", "top": "20"}),
        ("8_Feed-forward_and_LayerNorm.py", {"norm": "after attention"}),
        ("2_Embeddings.py", {"segments": "left out", "order": "shuffled"}),
        ("3_Self-attention.py", {"mode": "Toy", "toy_weights": "Random"}),
    ],
)
def test_the_way_to_the_next_lesson_keeps_what_was_chosen(page: str, link: dict[str, str]) -> None:
    at = visit(page, **link)
    at.segmented_control(key="step").set_value("Check").run()
    at.button(key="_next_page").click().run()
    assert {name: str(at.session_state[name]) for name in link} == link


# Links that somebody may have: what each of them selects, and whether the learner is told of a change.
LINKS: list[tuple[dict[str, str], dict[str, Any], str]] = [
    ({"change": "No positions"}, {"change": "No positions"}, ""),
    ({"colour": "Bag of words"}, {"colour": "Bag of words"}, ""),
    ({"metric": "Focus"}, {"metric": "Spread (entropy)"}, "metric must be one of"),
    ({"tau": "0.03"}, {"tau": "0.03"}, ""),
    ({"tau": "0.02"}, {"tau": "0.01"}, "tau must be one of"),
    ({"temperature": "0.7"}, {"temperature": 0.7}, ""),
    ({"temperature": "-1"}, {"temperature": 1.0}, "temperature must be a number from 0.1 to 2; it is 1"),
    ({"temperature": "nan"}, {"temperature": 1.0}, "temperature must be a number"),
    ({"toy_vocabulary": "0007"}, {"toy_vocabulary": 7}, ""),
    ({"toy_vocabulary": "3.0"}, {"toy_vocabulary": 8}, "toy_vocabulary must be a number from 2 to 50; it is 8 now."),
    ({"toy_seed": "99999"}, {"toy_seed": 0}, "toy_seed must be a number from 0 to 9999"),
    ({"toy_count": "1e1"}, {"toy_count": 20}, "toy_count must be a number"),
    ({"mode": "Toys"}, {"mode": "Sentence"}, "mode must be one of"),
    ({"token": "-1"}, {"token": 0}, "token must be a number from 0 to"),
    ({"place": "3", "masked": "3.7"}, {"place": 3, "masked": "3.7"}, ""),
    ({"layer": "2", "head": "٣"}, {"layer": 2, "head": 1}, ""),  # the page tells, when it knows how many there are
    ({"model": "../secret"}, {"model": DEFAULT_MODEL}, "no model called"),
    ({"other_model": "nope"}, {"other_model": "lab-gpt2"}, "no model called"),
    (
        {"norm": "somewhere", "sinks": "Kept"},
        {"norm": "after the feed-forward network", "sinks": "Kept"},
        "norm must be one of",
    ),
    ({"text": "a" * 5000}, {"text": "a" * 4000}, "longer than 4000 characters"),
    ({"text": "\U0001f600", "pair": ""}, {"text": "\U0001f600", "pair": ""}, ""),
    ({"pe_base": "100", "pe_width": "1"}, {"pe_base": 100, "pe_width": 64}, "pe_width must be a number from 4 to 512"),
    ({"teach": "1", "seed": "7", "utm_source": "x"}, {"teach": 1, "seed": 7}, ""),
]


@pytest.mark.parametrize(("link", "selected", "told"), LINKS, ids=[str(link)[:60] for link, _, _ in LINKS])
def test_links_and_bad_ones(link: dict[str, str], selected: dict[str, Any], told: str) -> None:
    at = opened(link)
    now, notes = at.session_state["_now"], " ".join(at.session_state["_notes"])
    assert {name: now[name] for name in selected} == selected
    assert told in notes and bool(told) == bool(notes)
    assert {name: value for name, value in now.items() if name not in (*link, *selected)}.items() <= {
        each.name: each.default for each in PARAMETERS
    }.items()


def test_a_widget_reads_no_more_out_of_a_link_than_the_parameter() -> None:
    """Streamlit's own number field would take "3.0", and the note would be wrong."""
    at = visit("3_Self-attention.py", mode="Toy", toy_vocabulary="3.0")
    assert at.number_input(key="toy_vocabulary").value == 8
    assert "toy_vocabulary" not in at.query_params


def test_the_kinds_know_what_the_model_or_the_text_decides() -> None:
    fitted = {each.name for each in PARAMETERS if isinstance(each, Counted)}
    assert fitted == {"layer", "head", "sentence", "other_sentence"}
    assert all(each.written for each in PARAMETERS if isinstance(each, PlaceParameter))
    assert [each.name for each in PARAMETERS if isinstance(each, StepParameter)] == ["step"]
