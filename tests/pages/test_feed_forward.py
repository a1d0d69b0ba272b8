"""The feed-forward lesson, run whole: every step, both modes, every kind of model, odd links and odd texts."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.ui import cached
from lab.ui.parameters import DEFAULT_TEXT
from tests.pages.apptest import Offer, go, reveal, visit, walk, words

PAGE = "8_Feed-forward_and_LayerNorm.py"
STEPS = (
    "Order", "Neurons", "Activation", "One neuron", "Excited by", "Writes", "Residual", "LayerNorm",
    "By hand", "Check",
)  # fmt: skip


def open_step(step: str, **params: str) -> AppTest:
    at = reveal(visit(PAGE, step=step, **params))
    assert at.segmented_control(key="step").value == step
    return at


def test_every_step_draws() -> None:
    at = visit(PAGE, layer="3", token="3", pair="It was tired.")
    assert at.title[0].value == "Feed-forward and LayerNorm"
    for _ in walk(at, STEPS):
        assert "every step against" not in words(at) and not at.warning


@pytest.mark.parametrize("weights", ["Constructed", "Random"])
def test_toy_mode_runs_every_step(weights: str) -> None:
    at = visit(PAGE, mode="Toy", toy_weights=weights)
    for step in walk(at, STEPS):
        if step in ("Neurons", "Activation", "One neuron"):
            assert ("All activations of this layer are 0" in words(at)) == (weights == "Constructed")
        if step == "Writes":
            assert "no head that predicts words" in words(at)
        if step == "Check":
            assert len([radio for radio in at.radio if str(radio.key).startswith("_check.")]) >= 3
        if step == "Excited by":
            assert "of 20 short texts" in words(at)


def test_a_gpt2_runs_every_step_and_is_shown_as_pre_norm(offer: Offer) -> None:
    at = visit(PAGE, model=offer("gpt2"))
    for step in walk(at):
        if step == "Order":
            assert "**Pre-norm**" in words(at) and "**Post-norm**" not in words(at)
        if step == "Activation":
            assert any("tanh" in formula.value for formula in at.latex)
        if step == "LayerNorm":
            assert at.segmented_control(key="norm").options == ["before attention", "before the feed-forward network"]
        if step == "Writes":
            assert "random direction" in words(at)


def test_a_model_without_a_vocabulary_head_says_so(offer: Offer) -> None:
    assert "no head that predicts words" in words(open_step("Writes", model=offer("electra")))


def test_a_long_text_is_drawn_in_part() -> None:
    at = go(visit(PAGE, text="word " * 600), "Residual")
    assert "tokens 1 to 64 of 512" in words(at)


def test_a_link_to_what_is_not_there_is_mended_and_said() -> None:
    at = visit(PAGE, step="One neuron", layer="9", neuron="5000", token="400")
    assert "neuron 5,000 became 1,024" in words(at)
    assert "layers run from 1 to 4" in words(at)
    assert reveal(at).number_input(key="_neuron").value == 1024
    at = open_step("Neurons", first_neuron="1020", neurons_drawn="7")
    assert at.number_input(key="_first_neuron").value == 1020
    assert at.segmented_control(key="neurons_drawn").value == 96
    at = open_step("LayerNorm", dimension="9999", norm="nonsense")
    assert at.number_input(key="_dimension").value == 256


def test_the_shown_neuron_is_the_trace_s() -> None:
    at = open_step("One neuron", text="She opened the door.", layer="2", token="4", neuron="77")
    layer = lab.trace(cached.model("lab-bert"), "She opened the door.").layer(1)
    shown = " ".join(formula.value for formula in at.latex)
    assert f"= {layer.ffn_hidden[3, 76].item():.3f}" in shown
    assert f"= {layer.ffn_activation[3, 76].item():.3f}" in shown
    table = next(frame.value for frame in at.dataframe if "x · w" in frame.value)
    assert table["x · w"][:-1].sum() == pytest.approx(table["x · w"].iloc[-1], abs=1e-4)


def test_nobody_chose_a_neuron_so_it_is_the_most_active_one() -> None:
    at = open_step("Excited by", layer="2", token="4")
    layer = lab.trace(cached.model("lab-bert"), DEFAULT_TEXT).layer(1)
    assert at.number_input(key="_neuron").value == layer.ffn_activation[3].argmax().item() + 1


def test_a_click_chooses_token_and_neuron() -> None:
    at = open_step("Neurons", first_neuron="101")
    at.session_state["neurons"] = {"selection": {"cell": [{"q": 2, "k": 4}]}}
    at.run()
    reveal(at.segmented_control(key="step").set_value("One neuron").run())
    assert (at.selectbox(key="_token").value, at.number_input(key="_neuron").value) == (2, 105)


def test_excited_tokens_are_marked_in_their_texts() -> None:
    at = open_step("Excited by", layer="1", neuron="9")
    table = next(frame.value for frame in at.dataframe if "in its text" in frame.value)
    assert list(table["activation"]) == sorted(table["activation"], reverse=True)
    assert all(re.search("«.+»", text) for text in table["in its text"])
    assert "of 200 short texts" in words(at)


def test_layer_norm_is_written_out_with_the_trace_s_numbers() -> None:
    at = open_step("LayerNorm", text="She opened the door.", layer="3", token="2", dimension="11")
    layer = lab.trace(cached.model("lab-bert"), "She opened the door.").layer(2)
    assert layer.attention_norm is not None
    assert any(f"= {layer.attention_norm[1, 10].item():.4f}" in formula.value for formula in at.latex)
    table = next(frame.value for frame in at.dataframe if "stage" in frame.value)
    assert table["mean"][2] == pytest.approx(0, abs=1e-6) and table["variance"][2] == pytest.approx(1, abs=1e-4)


def test_by_hand_goes_on_only_with_right_numbers() -> None:
    at = open_step("By hand")

    def fill(key: str, *values: float) -> None:
        for i, value in enumerate(values):
            at.number_input(key=f"_hand.{key}.{i}").set_value(value)
        at.run()

    fill("neuron", -0.5, 0.15)
    assert "a: not yet" in at.error[0].value
    fill("neuron", -0.5, -0.15)
    fill("output", 1.71, 2.8, -0.62)
    fill("moments", 4, 9)
    fill("norm", 0.33, -4, 1, 0)
    assert not at.error
    assert "That is all a layer does after attention" in at.success[0].value


def test_checks_are_asked_and_counted() -> None:
    at = open_step("Check", layer="2", token="3")
    asked = [radio for radio in at.radio if radio.key and radio.key.startswith("_check.")]
    assert len(asked) >= 3
    asked[0].set_value(0).run()
    assert len(at.session_state["progress"].first_tries) == 1


def test_old_links_of_two_pages_that_shared_a_parameter_still_work() -> None:
    """``change`` was once the measure of the step Residual, too."""
    at = visit(PAGE, step="Residual", change="cosine")
    assert "must be one of" not in words(at)
    assert reveal(at).segmented_control(key="residual").value == "cosine"
    assert "change" not in at.query_params and at.query_params["residual"] == "cosine"
    at = visit("15_Compare.py", compare="An intervention", change="No positions")
    assert "must be one of" not in words(at)
    assert at.selectbox(key="change").value == "No positions"
    assert "change must be one of" in words(visit(PAGE, step="Residual", change="nonsense"))
