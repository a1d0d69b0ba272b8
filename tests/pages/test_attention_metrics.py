"""The attention-metrics lesson, run whole: every step, every kind of model, what links and texts can do to it."""

from __future__ import annotations

from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.heads.metrics import METRICS, trace_metrics
from lab.lessons.attention_metrics import EVERY
from lab.models.catalogue import DEFAULT_MODEL
from tests.pages.apptest import drawn, go, opened, titles, turn_to, unfold, visit, walk, words
from tests.sentences import CAT

PAGE = "5_Attention_metrics.py"
STEPS = ("effective", "numbers", "at-rest", "check")


open_step = partial(opened, PAGE, text=CAT)


def test_every_step_draws_corrected_values() -> None:
    at = visit(PAGE, text=CAT, layer="2", head="3", version="Corrected")
    assert tuple(walk(at)) == STEPS
    go(at, "numbers")
    assert at.segmented_control(key="version").value == "Corrected"


def test_the_card_shows_the_metric_of_the_chosen_head() -> None:
    found = trace_metrics(lab.trace(lab.load_model(DEFAULT_MODEL), CAT))
    at = unfold(open_step("numbers", layer="2", head="3"), "_formula")
    for metric in METRICS[1:3]:  # one list has all of them: what is true of two is true of each
        at.selectbox(key="metric").set_value(metric.name).run()
        for version in ("Corrected", "Raw"):
            at.segmented_control(key="version").set_value(version).run()
            value = found.values(metric.id, version == "Corrected")[1, 2]
            assert f"**{value:.3f}**" in words(at), metric.name
            assert any(f"{value:.3f}" in formula.value for formula in at.latex), metric.name


def test_tau_counts_the_cells_below_it() -> None:
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), CAT)
    attention = trace.layer(1).attention[2].numpy()
    at = unfold(open_step("numbers", layer="2", head="3", tau="0.1", version="Raw", metric="Sparsity"), "_formula")
    assert f"**{(attention < 0.1).mean():.3f}**" in words(at)
    at.segmented_control(key="tau").set_value("0.03").run()
    assert f"**{(attention < 0.03).mean():.3f}**" in words(at)
    at.selectbox(key="metric").set_value("Confidence (average)").run()
    assert "tau" not in {each.key for each in at.get("button_group")}


def test_a_link_with_tau_holds_before_its_control_is_drawn() -> None:
    found = trace_metrics(lab.trace(lab.load_model(DEFAULT_MODEL), CAT), threshold=0.3).raw["sparsity"]
    at = open_step("numbers", version="Raw", tau="0.3")
    place = next(at for at, title in enumerate(titles(at)) if "Sparsity" in title)
    assert drawn(at, place).tolist() == pytest.approx(found.ravel().tolist(), abs=1e-6)


def test_a_click_on_the_map_chooses_a_head() -> None:
    at = open_step("numbers")
    at.session_state["all-heads-spread"] = {"selection": {"cell": [{"q": 2, "k": 4}]}}
    at.run()
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (3, 5)


def head_of(at: AppTest) -> tuple[object, object]:
    return at.selectbox(key="layer").value, at.selectbox(key="head").value


def click_head(at: AppTest, layer: int, head: int, chart: str) -> AppTest:
    at.session_state[chart] = {"selection": {"cell": [{"q": layer - 1, "k": head - 1}]}}
    at.run()
    assert head_of(at) == (layer, head)
    return at


def test_a_head_chosen_in_the_sidebar_or_in_another_step_comes_along() -> None:
    at = click_head(visit(PAGE, step="numbers"), 1, 3, f"{EVERY}-{METRICS[0].id}")
    at.selectbox(key="layer").set_value(4).run()
    assert head_of(turn_to(at, "effective")) == (4, 3)
    click_head(turn_to(at, "numbers"), 2, 6, f"{EVERY}-{METRICS[0].id}")
    assert head_of(turn_to(at, "at-rest")) == (2, 6)
