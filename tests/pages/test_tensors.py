"""The bench of tensors, run whole: every kind of model and text, odd links, search, ranges, words cut by hand."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui import runs
from lab.ui.parameters import DEFAULT_TEXT, VARIANTS
from tests.checkpoints import Family
from tests.pages.apptest import Offer, open_badge, turn_to, visit, words
from tests.pages.texts import WALKED

PAGE = "54_Tensors.py"
TENSORS, VARIANT_STEP = "tensors", "variants"
FEW = (
    "layer.attention",
    "layer.scaled_scores",
    "hidden_states",
    "layer.weights.w_1",
    "layer.weights.norm_2.gamma",
    "model.weights.embeddings.token",
    "token_ids",
    "logits",
)


def choose(at: AppTest, name: str) -> AppTest:
    at.selectbox(key="_tensor").set_value(name).run()
    return at


def python(at: AppTest) -> str:
    return next(str(block.value) for block in at.code if "lab.trace(" in str(block.value))


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_every_text(family: Family, offer: Offer) -> None:
    """Tiny models are enough: what is drawn of a text depends on its length, not on what was learned."""
    at = visit(PAGE, model=offer(family), layer="2", head="3")
    for text, pair in WALKED.values():
        at.session_state["text"], at.session_state["pair"] = text, pair
        turn_to(at, TENSORS)
        for name in FEW if text == "a" else ("layer.scaled_scores", "logits"):
            choose(at, name)
            assert at.selectbox(key="_tensor").value == name and not at.error
        turn_to(at, VARIANT_STEP)
        for name in VARIANTS if text == "a" else ("Softmax again", "Between words"):
            at.segmented_control(key="variant").set_value(name).run()
            assert not at.error
            assert "Removed mass" in words(at)
            assert ("flattens every head" in words(at)) == (name == "Softmax again")
            assert ("puts no special tokens" in words(at)) == (family == "gpt2")
        at.segmented_control(key="_variant_maps").set_value("All heads").run()
        assert "Removed mass" in words(at)
        at.segmented_control(key="_variant_maps").set_value("Beside raw").run()
        assert "<script" not in words(at).replace("\\<", "")


@pytest.mark.parametrize("weights", ["Constructed", "Random", "Trained live"])
def test_toys(weights: str) -> None:
    at = visit(PAGE, mode="Toy", toy_weights=weights)
    for name in FEW[:-1]:
        choose(at, name)
    assert "toy" in python(at)
    turn_to(at, VARIANT_STEP)
    assert "Removed mass" in words(at)


def test_random_weights_are_named_and_rebuilt() -> None:
    at = visit(PAGE, weights="Random", twin_seed="5")
    assert "Nothing is learned here" in words(at)
    assert f"random_twin(load_model({DEFAULT_MODEL!r}), seed=5)" in python(at)


def test_other_families(offer: Offer) -> None:
    at = visit(PAGE, model=offer("electra"), tensor="model.weights.embeddings.project[0]")
    assert "W\\_E" in words(at) and "Not compared with Hugging Face" in words(at)
    choose(at, "replaced_logits")
    assert "**Not compared with Hugging Face yet.**" in words(at)
    assert "**Hugging Face**" in words(open_badge(at))


def test_no_text_is_answered_with_a_sentence() -> None:
    assert "There is no text yet" in words(visit(PAGE, text="  "))


def test_the_numbers_are_the_trace_s() -> None:
    at = visit(PAGE, layer="2", head="3", tensor="layer.query", tensor_rows="2-5", tensor_columns="7-")
    query = lab.trace(runs.model(DEFAULT_MODEL), DEFAULT_TEXT).layer(1).query[2, 1:5, 6:].numpy()
    table = next(frame.value for frame in at.dataframe if "selection" in frame.value).set_index("selection")["value"]
    assert float(table["maximum"]) == pytest.approx(query.max(), rel=1e-5)
    assert python(at).endswith("array = trace.layer(1).query[2, 1:5, 6:32].numpy()")
    open_badge(at)
    proof = lab.prove(runs.model(DEFAULT_MODEL), lab.trace(runs.model(DEFAULT_MODEL), DEFAULT_TEXT))
    difference = next(row.difference for row in proof.rows if (row.step, row.layer) == ("query", 1))
    assert f"**{difference:.1e}**" in words(at)


def test_search_leads_to_the_tensor_and_says_when_there_is_none() -> None:
    at = visit(PAGE, tensor_rows="2-3")
    at.text_input(key="_search").set_value("selfattn_qkt_scale_hidden").run()
    assert at.session_state["tensor"] == "layer.scaled_scores" and at.session_state["tensor_rows"] == ""
    at.text_input(key="_search").set_value("attention.self.query bias").run()
    assert at.session_state["tensor"] == "layer.weights.b_q"
    at.text_input(key="_search").set_value("<b>xyzzy</b>").run()
    assert "No tensor is called" in words(at) and "<b>" not in words(at).replace("\\<", "")
    assert at.session_state["tensor"] == "layer.weights.b_q"
    at.text_input(key="_search").set_value("").run()
    at.selectbox(key="_group").set_value("Residual stream").run()
    assert set(at.selectbox(key="_tensor").options) == {"layer.input", "hidden_states"}


def test_odd_links_are_mended_and_said() -> None:
    n = len(lab.trace(runs.model(DEFAULT_MODEL), DEFAULT_TEXT))
    at = visit(PAGE, tensor="nonsense", state="99", tensor_rows="5-2", tensor_columns="<i>")
    said = words(at)
    assert "There is no tensor" in said and f"Rows run from 1 to {n}" in said and "is no range of columns" in said
    assert "<i>" not in said.replace("\\<", "")
    at = visit(PAGE, tensor="hidden_states", state="99")
    last = runs.model(DEFAULT_MODEL).config.layers
    assert f"you see {last} instead of 99" in words(at)
    assert "**Hugging Face**" in words(open_badge(at)) and f"hidden_states[{last}].numpy()" in python(at)
    assert "variant must be one of" in words(visit(PAGE, step=VARIANT_STEP, variant="nope"))


def test_what_is_too_large_is_said_instead_of_offered() -> None:
    at = visit(PAGE, model="lab-bert", tensor="model.weights.embeddings.token")
    assert "As csv the selection takes about 27 MB" in words(at)
    assert "You see rows 1 to 96 of the 8,192 selected" in words(at)


def test_words_cut_by_hand() -> None:
    text = "Mary's little lamb slept."
    at = visit(PAGE, step=VARIANT_STEP, text=text, word_cut="mary's | little lamb | slept.")
    assert not at.warning
    at.text_area(key="word_cut").set_value("mary | little lamb | slept").run()
    assert "does not match the text" in at.warning[0].value and "tokenizer’s own words" in at.warning[0].value
    next(button for button in at.button if button.label.startswith("Start from")).click().run()
    assert at.session_state["word_cut"] == "Mary | ' | s | little | lamb | slept | ." and not at.warning


def test_what_the_first_token_of_a_causal_model_takes_stands_beside_an_even_share() -> None:
    traced = lab.trace(lab.load_model("lab-gpt2"), DEFAULT_TEXT)
    first, n = traced.layer(1).attention[3, :, 0].mean().item(), len(traced)
    even = sum(1 / i for i in range(1, n + 1)) / n  # row i of an even head has i cells
    said = words(visit(PAGE, model="lab-gpt2", step="variants", layer="2", head="4"))
    assert f"On average, it gets {first:.0%} of the attention" in said and f"it would get {even:.0%}" in said
    assert "Xiao et al. 2024" in said
