"""The multi-head lesson, run whole: every step, both modes, every family, bad input, clicks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.heads.ablation import head_off
from lab.analysis.heads.comparing import head_divergence, head_sum
from lab.analysis.words.masking import hide, place_to_start
from lab.course.words import share, signed
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.trace import trace_encoding
from lab.ui.parameters import DEFAULT_TEXT
from tests.checkpoints import Family
from tests.pages.apptest import (
    Offer,
    click_token,
    reveal,
    sentence_of,
    steps_of,
    turn_to,
    visit,
    walk,
    words,
)

PAGE = "4_Multi-head_attention.py"
OFF = ("one-head-off", "each-head-off")
STEPS = ("all-heads", "join", *OFF, "check")
ASIDE = ("through-several-layers", "alike-or-different")
TEXT = "She opened the door."


def charts(at: AppTest) -> list[str]:
    """What the charts say to those who do not see them."""
    return [chart.proto.alt for chart in at.get("vega_lite_chart")]


def test_the_steps_stand_in_their_order() -> None:
    at = visit(PAGE, layer="2", head="3")
    assert at.title[0].value == "Multi-head attention"
    assert sorted(steps_of(at)) == sorted((*STEPS, *ASIDE))


def test_the_random_toy_in_any_cut() -> None:
    at = visit(PAGE, mode="Toy", toy_weights="Random", toy_heads="8", head="8", toy_seed="5")
    for step in walk(at, STEPS):
        assert at.number_input(key="toy_heads").value == 8
        assert at.selectbox(key="head").value == 8
        if step in OFF:
            assert "In this toy, no word is hidden" in words(at)


def test_heads_that_do_not_divide_the_width_get_a_sentence() -> None:
    at = visit(PAGE, mode="Toy", toy_weights="Random", toy_heads="5", step="join")
    assert "32 ÷ 5 = 6.40. You see 4; possible numbers are 1, 2, 4, 8, 16, 32" in words(at)
    for heads in (1, 32):
        at.number_input(key="toy_heads").set_value(heads).run()
        assert not at.exception
        assert "How large would the matrix W_O be?" in words(at)
    turn_to(at, "alike-or-different")


def test_one_head_has_none_beside_it() -> None:
    at = visit(PAGE, mode="Toy", toy_weights="Random", toy_heads="1", step="alike-or-different")
    assert "there is no other head to compare it with" in words(at)


@pytest.mark.parametrize("family", ["gpt2", "electra", "bert-headless"])
def test_every_family(family: Family, offer: Offer) -> None:
    name = offer(family)
    predicts = family == "gpt2"
    at = visit(PAGE, model=name, head="2")
    for step in walk(at, ("all-heads", "join", *OFF, "check")):
        assert at.selectbox(key="model").value == name
        if step in OFF:
            assert ("So the figure shows how its vectors move" in words(at)) != predicts


def test_a_single_token_has_no_other_to_attend_to(offer: Offer) -> None:
    at = reveal(visit(PAGE, model=offer("gpt2"), text="a", step="alike-or-different"))
    assert "no other token to look at" in words(at)


def test_a_long_text_is_asked_for_before_every_head_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.ui.shared.heads_off._UNASKED", 1e6)
    at = visit(PAGE, step="each-head-off", text=TEXT)
    button = next(button for button in at.button if button.label == "Switch off each head")
    assert "72 heads, one run each over 7 tokens" in words(at)
    button.click().run()
    assert "change the probability" in words(at)


def test_a_text_too_long_for_the_memory_says_how_long_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.ui.shared.heads_off._NUMBERS", 6 * 12 * 384 * 5)
    assert "Shorten the text to 5 tokens" in words(visit(PAGE, step="each-head-off", text=TEXT))


def test_url_out_of_range_is_clamped_and_said() -> None:
    at = visit(PAGE, layer="99", other_head="77", step="alike-or-different", toy_heads="99", token="500")
    said = words(at)
    assert "layers run from 1 to 6" in said
    assert "other heads run from 1 to 12" in said
    assert "toy_heads must be a number from 1 to 32" in said
    assert at.selectbox(key="other_head").value == 12
    at = visit(PAGE, head="3", other_head="3", step="alike-or-different")
    assert "cannot be compared with itself" in words(at)
    assert at.selectbox(key="other_head").value != 3


def test_a_click_on_a_small_map_chooses_its_head() -> None:
    at = visit(PAGE, layer="2")
    at.session_state["_maps"] = True
    at.run()
    at.session_state["head-maps"] = {"selection": {"map": [{"map": 6}]}}
    at.run()
    assert at.selectbox(key="head").value == 7
    at.selectbox(key="head").set_value(2).run()
    assert at.selectbox(key="head").value == 2  # the click is taken once


def test_a_click_on_a_row_chooses_its_head() -> None:
    at = visit(PAGE, layer="2")
    at.session_state["head-rows"] = {"selection": {"cell": [{"q": 4, "k": 1}]}}
    at.run()
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (2, 5)


def test_a_click_on_the_map_of_all_heads_chooses_layer_and_head() -> None:
    at = visit(PAGE, step="each-head-off")
    reveal(at)
    at.session_state["head-effects"] = {"selection": {"cell": [{"q": 3, "k": 4}]}}
    at.run()
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (4, 5)


def chances(layer: int, head: int) -> tuple[float, float]:
    """The probability of the word that the model says, in the whole model and without a head (both from 0)."""
    model = lab.load_model(DEFAULT_MODEL)
    plain, mask = lab.trace(model, TEXT), model.mask
    assert mask is not None
    (place,) = place_to_start(plain.encoding, mask[1])
    masked = trace_encoding(model, hide(plain.encoding, (place,), mask))
    logits = head_off(masked, layer, head, place).logits
    assert logits is not None
    both = (masked.logits(place)[0].double(), torch.from_numpy(logits))
    whole, without = (each.softmax(0)[both[0].argmax()].item() for each in both)
    return whole, without


def test_the_largest_changes_are_of_runs_without_the_head() -> None:
    at = reveal(visit(PAGE, step="each-head-off", text=TEXT))
    at.session_state["_strongest"] = True
    at.run()
    table = next(frame.value for frame in at.dataframe if "head off" in frame.value)
    for row in (0, 1):
        layer, head = (int(number) - 1 for number in table["head off"][row].removeprefix("layer ").split(", head "))
        whole, without = chances(layer, head)
        assert table.iloc[row, 1] == share(without)
        assert table["change"][row] == signed(without - whole, 3, plus=True)


def test_the_heads_shown_add_up() -> None:
    at = visit(PAGE, step="join", text=TEXT, layer="3")
    added = head_sum(lab.trace(lab.load_model(DEFAULT_MODEL), TEXT).layer(2))
    assert added.difference < 1e-5
    at.session_state["_joined"] = True
    at.run()
    assert f"as large as {np.abs(added.output).max():.3g} and differ by at most {added.difference:.1e}" in words(at)
    table = next(frame.value for frame in at.dataframe if "part" in frame.value)
    column = table[table.columns[1]].astype(float)
    assert column[:-2].sum() == pytest.approx(column.iloc[-2], abs=1e-3) == pytest.approx(column.iloc[-1], abs=1e-3)


def test_the_divergence_shown_is_the_layer_s() -> None:
    at = visit(PAGE, step="alike-or-different", text=TEXT, layer="3", head="2", other_head="5")
    reveal(at)
    at.session_state["_pairs"] = True
    at.run()
    apart = head_divergence(lab.trace(lab.load_model(DEFAULT_MODEL), TEXT).layer(2).attention, causal=False)
    assert f"Heads 2 and 5 are **{apart[1, 4]:.2f}** nats apart" in words(at)


def test_the_probability_shown_is_that_of_the_run_without_the_head() -> None:
    said = words(reveal(visit(PAGE, step="one-head-off", text=TEXT, layer="2", head="4")))
    whole, without = chances(1, 3)
    assert share(whole) in said and share(without) in said


def test_the_steps_have_no_controls_below_their_answers() -> None:
    """The layer, the head and the head to compare with are chosen in the sidebar."""
    for step in (*STEPS[:4], "alike-or-different"):
        at = reveal(visit(PAGE, step=step))
        assert not at.main.selectbox and [each.key for each in at.main.get("button_group")] in ([], ["step"])
        assert {"layer", "head"} <= {each.key for each in at.sidebar.selectbox}


def test_the_story_s_blank_is_shown_until_somebody_brings_a_text() -> None:
    """*are* becomes *is* without layer 5, head 11; with a text of one's own, that is asked about."""
    at = reveal(visit(PAGE, step="one-head-off"))
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (5, 11)
    header, drawn = sentence_of(at)
    assert "keys" in header["labels"] and header["hidden"][header["chosen"]]
    (weights,) = drawn.values()
    assert header["labels"][int(weights.reshape(len(header["labels"]), -1)[header["chosen"]].argmax())] == "keys"
    assert "the model says **“\u2068is\u2069”**" in words(at) and "instead of “\u2068are\u2069”" in words(at)
    assert at.text_area(key="text").value == DEFAULT_TEXT and "masked" not in at.query_params
    click_token(at, 2)
    assert sentence_of(at)[0] == header, "the step's own sentence stays"
    at.text_area(key="text").set_value(TEXT).run()
    assert "opened" in sentence_of(at)[0]["labels"]


def test_checks_ask_at_least_three_questions() -> None:
    at = visit(PAGE, step="check", layer="2", head="3")
    asked = [radio for radio in at.radio if radio.key and radio.key.startswith("_check.")]
    assert len(asked) >= 3
    asked[0].set_value(0).run()
    assert len(at.session_state["progress"].first_tries) == 1
    assert len(at.success) + len(at.error) + len(at.warning) == 1


def test_charts_describe_themselves() -> None:
    at, n = visit(PAGE, layer="1"), len(lab.trace(lab.load_model(DEFAULT_MODEL), DEFAULT_TEXT))
    at.session_state["_maps"] = True
    at.run()
    assert any(alt.startswith(f"12 maps, each {n} by {n}") for alt in charts(at))
