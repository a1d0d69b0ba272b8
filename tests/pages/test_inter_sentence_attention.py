"""The inter-sentence lesson, run whole: every step, one text and two, every kind of model, what links can do to it."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.sentence_split import split
from lab.analysis.sentences import inter_sentence
from tests.pages.apptest import Offer, go, reveal, visit, walk, words

PAGE = "7_Inter-sentence_attention.py"
TEXT = "The dog ran to the park. It found a ball there. The children laughed."
STEPS = ("Sentences", "Matrix", "Direction", "By hand", "Special tokens", "Pair or not", "Check")


def open_step(step: str, **params: str) -> AppTest:
    return reveal(visit(PAGE, step=step, **{"text": TEXT, **params}))


@pytest.mark.parametrize("measure", ["Maximum", "Length-corrected"])
def test_every_step_draws(measure: str) -> None:
    at = visit(PAGE, text=TEXT, measure=measure)
    assert tuple(walk(at)) == STEPS
    go(at, "Matrix")
    assert at.segmented_control(key="measure").value == measure


def test_a_pair_is_compared_with_one_segment() -> None:
    at = visit(PAGE, text="The children went to the park.", pair="They played until it was dark.")
    go(at, "Pair or not")
    assert "1 special token more between the texts, and another segment vector" in words(at)


def test_one_sentence_is_explained_and_three_are_one_click_away() -> None:
    at = visit(PAGE, text="The cat sat.")
    assert "Attention between sentences needs two of them" in words(at)
    next(button for button in at.button if button.label == "Take three sentences").click().run()
    assert not at.exception
    assert str(at.text_area(key="text").value).count(".") == 3
    assert "**3 sentences**" in words(at)


def test_a_button_makes_a_pair_of_the_sentences() -> None:
    at = open_step("Pair or not")
    next(button for button in at.button if button.label.startswith("Make sentence 1")).click().run()
    reveal(at)
    assert at.text_input(key="pair").value == "It found a ball there. The children laughed."
    assert "The model ran twice" in words(at)


@pytest.mark.parametrize("pair", ["", "It sat."])
def test_gpt2_looks_back_only(pair: str, offer: Offer) -> None:
    name = offer("gpt2")
    at = visit(PAGE, model=name, text=TEXT, pair=pair)
    assert at.selectbox(key="model").value == name
    assert tuple(walk(at)) == STEPS
    for step, said in (("Matrix", "its tokens cannot look there"), ("By hand", "So this is the way back")):
        assert said in words(go(at, step))


def test_a_long_text_shows_its_first_sentences() -> None:
    said = words(visit(PAGE, text="The word is here again. " * 200))
    assert "you see the first 12" in said and "more have no token left at 512 tokens" in said


def test_there_is_no_toy() -> None:
    assert "There is no toy here" in words(visit(PAGE, text=TEXT, mode="Toy"))


def test_the_matrix_names_head_and_tokens_of_the_maximum() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), TEXT)
    members = [[i for i, s in enumerate(split(trace).of_token) if s == n] for n in range(3)]
    attention = np.stack([np.asarray(trace.layer(i).attention) for i in range(trace.model.config.layers)])
    block = attention[:, :, members[2]][..., members[0]]
    layer, head, query, key = np.unravel_index(int(block.argmax()), block.shape)
    at = open_step("Matrix", sentence="3", other_sentence="1")
    assert f"From sentence 3 to sentence 1: **{block.max():.3f}**" in words(at)
    assert f"`trace.layer({layer}).attention[{head}, {members[2][query]}, {members[0][key]}]`" in words(at)


def test_a_click_on_the_matrix_chooses_two_sentences() -> None:
    at = open_step("Matrix")
    at.session_state["sentences"] = {"selection": {"cell": [{"q": 2, "k": 1}]}}
    at.run()
    assert (at.selectbox(key="sentence").value, at.selectbox(key="other_sentence").value) == (3, 2)


def test_bad_links_are_told() -> None:
    said = words(visit(PAGE, text=TEXT, sentence="9", other_sentence="x", measure="Best"))
    assert "There is no sentence" in said and "There is no other sentence" in said and "measure must be one of" in said


def test_by_hand_asks_for_the_way_back() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), TEXT)
    value = float(inter_sentence(trace, split(trace).of_token).relative[1, 0])
    at = open_step("By hand", sentence="1", other_sentence="2")
    field = next(each for each in at.number_input if str(each.key).startswith("_sentences."))
    field.set_value(round(value, 2)).run()
    assert at.success and not at.error


def test_checks_are_three_at_least() -> None:
    at = open_step("Check")
    radios = [radio for radio in at.radio if str(radio.key).startswith("_check.")]
    assert len(radios) >= 3
    radios[0].set_value(0).run()
    assert len(at.success) + len(at.error) == 1
