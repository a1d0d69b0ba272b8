"""The feed-forward lesson, run whole: every step, both modes, every kind of model, odd links and odd texts."""

from __future__ import annotations

import math
import re

import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.layers.neurons_off import neurons_off
from lab.course.words import signed
from lab.lessons.feed_forward import figures
from lab.models.catalogue import DEFAULT_MODEL, twin_id
from lab.ui import runs
from lab.ui.parameters import DEFAULT_TEXT
from tests.pages.apptest import Offer, go, looks, reveal, step_of, steps_of, visit, walk, words, worked
from tests.sentences import BOYS, KEYS

PLAIN = lab.Interventions()
PAGE = "8_Feed-forward_and_LayerNorm.py"
STEPS = (
    "order",
    "neurons",
    "excited-by",
    "residual",
    "two-meanings",
    "in-the-blank",
    "through-the-layers",
    "check",
)


def open_step(step: str, **params: str) -> AppTest:
    at = reveal(worked(visit(PAGE, step=step, **params)))
    assert step_of(at) == step
    return at


def unfold(at: AppTest, *keys: str) -> AppTest:
    """Open what is behind clicks."""
    for key in keys:
        at.session_state[key] = True
    at.run()
    assert not at.exception
    return at


def test_the_steps_stand_in_their_order() -> None:
    at = visit(PAGE, layer="3", token="3", pair="It was tired.")
    assert at.title[0].value == "Feed-forward and LayerNorm"
    assert steps_of(at) == STEPS and not at.warning


@pytest.mark.parametrize("weights", ["Constructed", "Random"])
def test_toy_mode_runs_every_step(weights: str) -> None:
    at = visit(PAGE, mode="Toy", toy_weights=weights)
    for step in walk(at, [step for step in STEPS if step != "in-the-blank"]):
        if step == "neurons":
            assert ("All activations of this layer are 0" in words(at)) == (weights == "Constructed")
        if step == "check":
            assert len([radio for radio in at.radio if str(radio.key).startswith("_check.")]) >= 2
        if step == "excited-by":
            assert "of 20 short texts" in words(reveal(worked(at)))


def test_a_gpt2_runs_every_step_and_is_shown_as_pre_norm(offer: Offer) -> None:
    at = visit(PAGE, model=offer("gpt2"))
    for step in walk(at):
        if step == "order":
            assert "**pre-norm**" in words(at) and "**post-norm**" not in words(at)
        if step == "neurons":
            assert any("tanh" in formula.value for formula in unfold(at, "_written_out").latex)
        if step == "residual":
            unfold(at, "_normalized")
            assert at.segmented_control(key="norm").options == ["before attention", "before the feed-forward network"]
            assert any(r"x + \text{FFN}(\text{LayerNorm}(x))" in formula.value for formula in at.latex)


def test_layer_norm_is_written_where_the_layer_has_it(offer: Offer) -> None:
    bert = unfold(open_step("residual"), "_normalized")
    assert any(r"\text{LayerNorm}(x + \text{Attention}(x))" in formula.value for formula in bert.latex)
    first, second = (
        unfold(open_step("residual", model=offer("modernbert"), layer=layer), "_normalized").latex for layer in "12"
    )
    assert any(r"x + \text{Attention}(x)" in formula.value for formula in first)  # its first layer has none there
    assert any(r"x + \text{Attention}(\text{LayerNorm}(x))" in formula.value for formula in second)


def test_a_long_text_is_drawn_in_part(offer: Offer) -> None:
    at = go(visit(PAGE, model=offer("bert"), text="word " * 600, token="5"), "residual")
    assert "tokens 1 to 64 of 512" in words(at)


def test_a_link_to_what_is_not_there_is_mended_and_said() -> None:
    at = visit(PAGE, step="neurons", layer="9", neuron="5000", token="400")
    assert "neuron 5,000 became 1,536" in words(at)
    assert "layers run from 1 to 6" in words(at)
    assert reveal(at).number_input(key="_neuron").value == 1536
    at = unfold(open_step("neurons", first_neuron="1020", neurons_drawn="7"), "_every_token")
    assert at.number_input(key="_first_neuron").value == 1020
    assert at.segmented_control(key="neurons_drawn").value == 96
    at = unfold(open_step("residual", dimension="9999", norm="nonsense"), "_normalized")
    assert at.number_input(key="_dimension").value == 384


def test_the_shown_neuron_is_the_trace_s() -> None:
    at = open_step("neurons", text="She opened the door.", layer="2", token="4", neuron="77")
    unfold(at, "_written_out")
    layer = lab.trace(runs.model(DEFAULT_MODEL), "She opened the door.").layer(1)
    hidden, active = (values[3, 76].item() for values in (layer.ffn_hidden, layer.ffn_activation))
    assert f"{signed(hidden, 3)} × Φ({signed(hidden, 3)})" in words(at) and f"**{signed(active, 3)}**" in words(at)


def test_the_lesson_begins_past_the_middle_where_a_layer_answers_to_words() -> None:
    for model, layer in ((DEFAULT_MODEL, 4), ("lab-bert", 4), ("lab-gpt2", 3)):  # layer 3 of lab-bert is nearly silent
        assert visit(PAGE, model=model).selectbox(key="layer").value == layer


def test_the_first_neurons_drawn_have_the_most_active_one_among_them() -> None:
    at = unfold(open_step("neurons", layer="2", token="4"), "_every_token")
    best = int(lab.trace(runs.model(DEFAULT_MODEL), DEFAULT_TEXT).layer(1).ffn_activation[3].argmax())
    first = int(at.number_input(key="_first_neuron").value or 0)
    assert first <= best + 1 < first + 96 and first % 96 == 1
    at.button(key="_try").click().run()
    assert at.number_input(key="_first_neuron").value != first


def test_the_first_neuron_taken_from_a_blank_is_active() -> None:
    at = unfold(open_step("in-the-blank"), "_excited")
    table = next(frame.value for frame in at.dataframe if "excited most by" in frame.value).set_index("neuron")
    assert table.loc[at.number_input(key="_neuron").value, "activation in the blank"] > 0


def test_a_click_chooses_token_and_neuron() -> None:
    at = unfold(open_step("neurons", first_neuron="101"), "_every_token")
    at.session_state["neurons"] = {"selection": {"cell": [{"q": 2, "k": 4}]}}
    at.run()
    assert (looks(at)[0], at.number_input(key="_neuron").value) == (2, 105)


def test_a_neuron_is_taken_away_and_the_word_in_the_blank_changes_as_a_run_without_it_says() -> None:
    text = BOYS
    at = open_step("in-the-blank", text=text, layer="2")
    neuron = int(at.number_input(key="_neuron").value or 0) - 1
    model = runs.model(DEFAULT_MODEL)
    off = lab.Interventions(zero_neurons=frozenset({(1, neuron)}))
    before, after = (lab.trace(model, text, interventions=each).logits(3).softmax(-1)[0] for each in (PLAIN, off))
    best = int(before.argmax())
    assert f"from {before[best].item():.2f} to {after[best].item():.2f}" in words(at)
    unfold(at, "_excited")
    table = next(frame.value for frame in at.dataframe if "excited most by" in frame.value)
    assert table["change without it"][0] == pytest.approx((after[best] - before[best]).item(), abs=1e-5)
    assert all(abs(table["change without it"][0]) >= abs(each) for each in table["change without it"])
    at.button(key="_try").click().run()
    assert at.number_input(key="_neuron").value != neuron + 1


def test_the_first_blank_is_the_sentence_in_which_one_head_decides_and_no_neuron_of_the_layer_does() -> None:
    at = open_step("in-the-blank")
    run = lab.trace(runs.model(DEFAULT_MODEL), KEYS)
    place = run.labels.index("[MASK]")
    best = int(run.logits(place).argmax())
    turned = sum(each.then != best for each in neurons_off(run, place, 3))
    assert "Of the 64 neurons that add most here, none changes" in words(at) and not turned
    assert re.search("without layer 5, head 11, the model says “\u2068is\u2069”", words(at))
    own = words(open_step("in-the-blank", text="He drank a cup of [MASK]."))
    assert "Lesson 4 took a head away" not in own


def test_excited_tokens_are_marked_in_their_texts() -> None:
    at = open_step("excited-by", layer="1", neuron="9")
    assert words(at).count(":blue-background[") == 12
    unfold(at, "_activations")
    table = next(frame.value for frame in at.dataframe if "in its text" in frame.value)
    assert list(table["activation"]) == sorted(table["activation"], reverse=True)
    assert all(re.search("«.+»", text) for text in table["in its text"])
    assert "of 200 short texts" in words(at)


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_excited_by_begins_with_a_selective_neuron_and_compares(model: str) -> None:
    at = open_step("excited-by", model=model, layer="1", token="5")
    most_active = int(lab.trace(runs.model(model), DEFAULT_TEXT).layer(0).ffn_activation[4].argmax()) + 1
    first = at.number_input(key="_neuron").value
    unfold(at, "_activations", "_trust")
    table = next(frame.value for frame in at.dataframe if "in its text" in frame.value)
    assert first != most_active and table["token"].value_counts().iloc[0] >= 6
    assert "160 neurons of one language model" in words(at) and "found a pattern for every" not in words(at)
    reveal(at.button(key="_try").click().run())
    assert at.number_input(key="_neuron").value == most_active
    reveal(at.button(key="_try").click().run())
    assert at.number_input(key="_neuron").value == first


def test_residual_shows_the_same_with_random_weights_beside() -> None:
    at = unfold(open_step("residual", token="5"), "_by_layer")
    table = next(frame.value for frame in at.dataframe if "feed-forward, trained" in frame.value)
    for column, of in (("trained", DEFAULT_MODEL), ("random weights", twin_id(DEFAULT_MODEL, 0))):
        run = lab.trace(runs.model(of), DEFAULT_TEXT)
        for index in range(run.model.config.layers):
            layer = run.layer(index)
            assert layer.attention_norm is not None
            expected = layer.ffn_output[4].norm() / layer.attention_norm[4].norm()
            assert table[f"feed-forward, {column}"][index] == pytest.approx(expected.item(), rel=1e-4)
            expected = layer.attention_output[4].norm() / layer.input[4].norm()
            assert table[f"attention, {column}"][index] == pytest.approx(expected.item(), rel=1e-4)
    # What is odd about a model is said of it alone.
    assert "Layer 6 adds more than 10 times" in words(at) and "nearly silent" not in words(at)
    of_lab_bert = words(unfold(open_step("residual", model="lab-bert", token="5"), "_by_layer"))
    assert "Layer 3 is nearly silent for words" in of_lab_bert
    assert "Layers 1, 2 and 4 add more than 10 times" in of_lab_bert


def test_with_random_weights_on_screen_nothing_stands_beside_and_nothing_is_odd() -> None:
    at = unfold(open_step("residual", weights="Random"), "_by_layer")
    assert not any("feed-forward, trained" in frame.value for frame in at.dataframe)
    assert "nearly silent" not in words(at) and "This is odd" not in words(at)


def test_a_layer_that_hardly_answers_to_words_is_named() -> None:
    said = "Layer 3 is nearly silent for words"
    assert said in words(open_step("neurons", model="lab-bert", layer="3"))
    for params in ({"model": "lab-bert", "layer": "2"}, {"layer": "3"}):
        assert "nearly silent" not in words(open_step("neurons", **params))


def test_layer_norm_is_written_out_with_the_trace_s_numbers() -> None:
    at = open_step("residual", text="She opened the door.", layer="3", token="2", dimension="11")
    unfold(at, "_normalized")
    layer = lab.trace(runs.model(DEFAULT_MODEL), "She opened the door.").layer(2)
    assert layer.attention_norm is not None
    assert any(f"= {layer.attention_norm[1, 10].item():.4f}" in formula.value for formula in at.latex)
    table = next(frame.value for frame in at.dataframe if "stage" in frame.value)
    assert table["mean"][2] == pytest.approx(0, abs=1e-6) and table["variance"][2] == pytest.approx(1, abs=1e-4)


def test_checks_are_asked_and_counted() -> None:
    at = open_step("check", layer="2", token="3")
    asked = [radio for radio in at.radio if radio.key and radio.key.startswith("_check.")]
    assert len(asked) >= 3
    asked[0].set_value(0).run()
    assert len(at.session_state["progress"].first_tries) == 1


def test_gelu_of_x_is_written_out_as_x_times_phi_of_x() -> None:
    """GELU(x) = x · Φ(x), Φ by the error function; the number is the trace's own."""
    at = unfold(open_step("neurons", layer="2", token="4", neuron="77"), "_written_out")
    assert any(r"\text{GELU}(x) = x \cdot \Phi(x)" in formula.value for formula in at.latex)
    layer = lab.trace(runs.model(DEFAULT_MODEL), DEFAULT_TEXT).layer(1)
    x, active = layer.ffn_hidden[3, 76].item(), layer.ffn_activation[3, 76].item()
    phi = (1 + math.erf(x / math.sqrt(2))) / 2
    assert x * phi == pytest.approx(active, abs=1e-5)
    assert f"× {phi:.3f} = **{active:z.3f}**".replace("-", "−") in words(at)


def test_the_map_of_the_projection_is_the_network_s_output_and_shows_the_rest_on_demand() -> None:
    layer = lab.trace(runs.model(DEFAULT_MODEL), DEFAULT_TEXT).layer(1)
    for first in (1, 49, 350):
        drawn = figures.projection(
            lab.trace(runs.model(DEFAULT_MODEL), DEFAULT_TEXT), 1, first - 1, min(first + 47, 384), 3
        )
        end = min(first + 47, 384)
        theirs = layer.ffn_activation @ layer.weights.w_2 + layer.weights.b_2
        assert drawn.data["value"].to_numpy() == pytest.approx(theirs[:, first - 1 : end].numpy().ravel(), abs=1e-4)
        at = unfold(open_step("neurons", layer="2", token="4", first_dimension=str(first)), "_back")
        assert at.number_input(key="_first_dimension").value == first
    most = int(layer.ffn_output[3].abs().argmax())
    assert f"in dimension {most + 1:,}" in words(at)
    assert "dimension 384 instead of 9,999" in words(unfold(open_step("neurons", first_dimension="9999"), "_back"))


def test_a_word_with_two_meanings_is_offered_where_it_is_one_token(offer: Offer) -> None:
    at = open_step("two-meanings")
    assert {"March", "bank"} <= set(at.segmented_control(key="sense").options)
    at.button(key="_try").click().run()
    assert at.segmented_control(key="sense").value == "bank"
    cased = open_step("two-meanings", model="lab-gpt2", sense="March")
    assert "March" not in cased.segmented_control(key="sense").options
    assert list(open_step("two-meanings", mode="Toy").segmented_control(key="sense").options) == ["from your sentence"]


def test_a_word_of_the_learner_s_own_text_stands_beside_its_row_or_its_other_place() -> None:
    once = open_step("two-meanings", sense="from your sentence", text="The cat sat.", token="3")
    assert "In the token table, “" in words(once)
    twice = open_step("two-meanings", sense="from your sentence", text="The cat saw the other cat.", token="3")
    assert "Nearest to the first “\u2068cat\u2069” are" in words(unfold(twice, "_nearest_now"))
