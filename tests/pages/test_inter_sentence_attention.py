"""The inter-sentence lesson, run whole: every step, one text and two, every kind of model, what links can do to it."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.sentences.token_sentences import split
from lab.figures.sentences import read
from lab.lessons.inter_sentence_attention.matrix import strongest_at
from lab.lessons.inter_sentence_attention.view import EXAMPLE, LONGER
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.trace import Trace
from tests.pages.apptest import Offer, click_token, go, looks, opened, press, reveal, sentence_of, visit, walk, words
from tests.sentences import FOLLOWS
from tests.thorough import one_by_day

PAGE = "7_Inter-sentence_attention.py"
ONE = "The sleepy cat sat on the mat."
TEXT = "The dog ran to the park. It found a ball there. The children laughed."
BLANK = "Anna works in Greece. It is warm. Her home is in [MASK]."
STEPS = ("behind-a-cell", "matrix", "pair-or-not", "check")
# Beside what every lesson must bear (test_matrix.py).
ODD = ("a. b.", "[MASK]. _.")


open_step = partial(opened, PAGE, text=TEXT)


def keys(at: AppTest) -> set[str]:
    """The choices in the sidebar."""
    return {str(each.key) for kind in (at.sidebar.selectbox, at.sidebar.segmented_control) for each in kind}


def run(text: str = TEXT, model: str = DEFAULT_MODEL) -> Trace:
    return lab.trace(lab.load_model(model), text)


@one_by_day
@pytest.mark.parametrize("text", ODD)
def test_odd_texts_are_alive(text: str) -> None:
    for model in (DEFAULT_MODEL, "lab-gpt2"):
        at = visit(PAGE, text=text, model=model)
        for step in walk(at):
            reveal(at)
            assert "<script>" not in words(at), step


def test_a_step_shows_only_the_controls_that_it_uses() -> None:
    at = visit(PAGE)
    shown = {step: keys(at) & {"layer", "head", "sentence", "other_sentence", "sinks"} for step in walk(at)}
    two = {"sentence", "other_sentence"}
    assert shown == {
        "behind-a-cell": {*two, "layer", "head"}, "matrix": {*two, "sinks"}, "pair-or-not": two, "check": set(),
    }  # fmt: skip


def test_the_lesson_opens_on_the_course_s_head_and_the_cut_follows_the_answer() -> None:
    at = visit(PAGE)
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (6, 4)
    said = words(at)
    assert "the head of lesson 3" in said and "65 countries" not in said and "**0.24**" not in said
    said = words(reveal(at))
    assert "65 countries" in said and "**0.24**" in said and "6-4 and 6-6" in said
    at.selectbox(key="head").set_value(1).run()
    said = words(at)
    assert "65 countries" not in said and "the head of lesson 3" not in said and "head 6-1 alone" in said


def test_a_text_of_one_s_own_gets_readings_and_the_cut_needs_a_blank() -> None:
    assert "write a blank (_)" in words(open_step("behind-a-cell"))
    said = words(open_step("behind-a-cell", text=BLANK, sentence="3", other_sentence="1"))
    assert "alone, “\u2068athens\u2069” goes from" in said and "65 countries" not in said
    assert "write a blank (_)" in words(open_step("behind-a-cell", text=BLANK, sentence="2", other_sentence="1"))
    assert "write a blank (_)" not in words(open_step("behind-a-cell", model="lab-gpt2", sentence="3"))


def test_the_arcs_are_the_weights_behind_the_chosen_cell_and_a_click_chooses_sentences() -> None:
    trace = run()
    of_token = np.array(split(trace).of_token)
    right = trace.layer(2).attention[9].numpy() * np.outer(of_token == 2, of_token == 0)
    at = open_step("behind-a-cell", sentence="3", other_sentence="1", layer="3", head="10")
    header, arrays = sentence_of(at)
    assert header["across"] and looks(at) == divmod(int(right.argmax()), len(trace))
    np.testing.assert_allclose(arrays["weights"], right, atol=1e-6)
    first, second = (int((of_token == n).argmax()) for n in (1, 2))
    click_token(at, first + 2, second)
    assert (at.session_state["sentence"], at.session_state["other_sentence"]) == (2, 3)
    click_token(at, 0)  # [CLS] is in no sentence
    assert (at.session_state["sentence"], at.session_state["other_sentence"]) == (2, 3)
    assert not sentence_of(go(at, "matrix"))[0]["arcs"]


def test_the_map_opens_on_shares_and_a_click_opens_the_tokens_behind_a_cell() -> None:
    at = open_step("matrix")
    assert at.segmented_control(key="measure").value == "Mean mass"
    at.session_state["sentences"] = {"selection": {"cell": [{"q": 2, "k": 1}]}}
    at.run()
    assert (at.selectbox(key="sentence").value, at.selectbox(key="other_sentence").value) == (3, 2)
    assert "the tokens of sentence 3 to those of sentence 2, as a mean over all heads" in words(at)
    at.button(key="_try").click().run()
    assert at.segmented_control(key="measure").value == "Maximum"
    (layer, head), *_ = strongest_at(run(), 2, 1, left_out=True)
    assert f"sentence 2, in head {layer + 1}-{head + 1}" in words(at)
    at.button(key="_try_back").click().run()
    assert at.segmented_control(key="measure").value == "Mean mass"


@pytest.mark.parametrize("sinks", ["Left out", "Kept"])
@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_the_map_is_of_all_attention_or_without_special_or_first_tokens(model: str, sinks: str) -> None:
    trace, left_out = run(model=model), sinks == "Left out"
    found = read(trace, split(trace), left_out)
    at = open_step("matrix", model=model, sinks=sinks)
    assert f"sentence 2 gives **{found.mass[1, 0]:.0%}** to sentence 1" in words(at)
    assert ("% of the attention of sentence 2 goes" in " ".join(words(at).split())) == left_out
    at.segmented_control(key="measure").set_value("Length-corrected").run()
    assert f"{found.relative[1, 0]:.2f} times as much" in " ".join(words(at).split())


@one_by_day
@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-bert", "lab-gpt2"])
def test_on_a_fresh_visit_every_step_is_alive(model: str) -> None:
    at = visit(PAGE, model=model)
    for step in walk(at):
        reveal(at)
        assert "no second sentence" not in words(at) and "text" not in at.query_params
        if step == "matrix":
            assert ("the long sentence gets" in words(at)) == (model == DEFAULT_MODEL)
            assert sentence_of(at)[0]["count"] == len(run(_read(LONGER, model), model))


def _read(text: str, model: str) -> str:
    return text.partition(" [MASK]")[0] if model == "lab-gpt2" else text


@one_by_day
@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_with_a_single_sentence_every_step_is_alive(model: str) -> None:
    """The learner's sentence is one; the lesson shows the course's, says so, and leaves the text as it is."""
    at = visit(PAGE, model=model, text=ONE)
    for step in walk(at):
        assert ("Your text has no second sentence" in words(at)) == (step != "check")
        if step != "check":
            assert at.text_area(key="text").value == ONE and "sleepy" not in words(at)


def test_the_example_can_be_taken_and_ones_own_text_ends_it() -> None:
    at = visit(PAGE, text="The cat sat.")
    press(at, "Take these")
    assert at.text_area(key="text").value == EXAMPLE
    assert "no second sentence" not in words(at)
    at.text_area(key="text").set_value("The cat sat.").run()
    assert "no second sentence" in words(at)
    at.text_input(key="pair").set_value("It slept.").run()
    assert "no second sentence" not in words(at)


@one_by_day
@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_a_text_and_a_pair_are_compared_with_each_other(model: str) -> None:
    for given in ({}, {"text": FOLLOWS[0], "pair": FOLLOWS[1]}):
        said = words(open_step("pair-or-not", model=model, **given))
        assert "** in one text, and **" in said and "tokens as one text" in said
    assert "cannot compare" in words(open_step("pair-or-not", text="The dog ran home. " * 150))


@one_by_day
@pytest.mark.parametrize("pair", ["", "It sat."])
def test_gpt2_looks_back_only(pair: str, offer: Offer) -> None:
    name = offer("gpt2")
    at = visit(PAGE, model=name, text=TEXT, pair=pair)
    assert at.selectbox(key="model").value == name
    assert set(walk(at)) == set(STEPS)
    assert "You see\nthe other direction" not in words(go(at, "matrix"))
    at = visit(PAGE, model=name, text=TEXT, pair=pair, sentence="1", other_sentence="3", step="matrix")
    assert "no token of sentence 1 can look at sentence 3" in words(at)
    assert re.search(r"entence 3 gives \*\*\d+%\*\* to sentence 1", words(reveal(at)))


def test_a_first_sentence_of_one_token_is_not_emptied() -> None:
    at = visit(PAGE, model="lab-gpt2", text="a", pair="The dog ran.", step="matrix")
    assert "no token is left out" in words(reveal(at))
    assert set(walk(at)) == set(STEPS)


def test_a_long_text_shows_its_first_sentences(offer: Offer) -> None:
    said = words(visit(PAGE, model=offer("bert"), text="The word is here again. " * 200))
    assert "and you see the first 12" in said and "more sentences do not fit" in said


def test_what_is_in_no_sentence_on_screen_is_not_called_special() -> None:
    """Of fifteen sentences twelve are shown: the rest of the attention is not [CLS]'s and [SEP]'s alone."""
    said = words(open_step("matrix", text="The dog ran. " * 15))
    assert "\\[CLS\\] and \\[SEP\\] and the sentences" in said


def test_the_toy_reads_two_sentences_and_every_step_works_on_it() -> None:
    at = visit(PAGE, mode="Toy", toy_sentence="2", toy_other="3")
    assert set(walk(at)) == {"Toy data", "Both heads", "Without segments", *STEPS}
    assert "two heads written by hand" in words(at)
    assert "first “\u2068g f h\u2069”, then “\u2068e h f f e\u2069”" in words(go(at, "Toy data"))
    assert "look at the same letter in the other sentence" in words(go(at, "Both heads"))


def test_what_crosses_in_the_toy_differs_by_direction() -> None:
    """One of its two heads crosses, with the letters that the other sentence has: f e c c a a a and g f h."""
    at = reveal(visit(PAGE, mode="Toy", step="matrix", sinks="Kept"))
    for a, b, share in ((1, 2, 1 / 7), (2, 1, 1 / 3)):
        at.selectbox(key="sentence").set_value(a).run()
        at.selectbox(key="other_sentence").set_value(b).run()
        found = re.search(rf"entence {a} gives \*\*(\d+)%\*\* to sentence {b}", words(at))
        assert found is not None and float(found[1]) / 100 == pytest.approx(share / 2, abs=0.0051)


def test_the_toy_s_second_sentence_is_brought_inside() -> None:
    assert "The toy has 4 sentences" in words(visit(PAGE, mode="Toy", toy_count="4", toy_other="9"))


def test_the_check_asks_three_questions_and_sets_a_challenge() -> None:
    at = open_step("check")
    radios = [radio for radio in at.radio if str(radio.key).startswith("_check.")]
    assert len(radios) == 3 and "**Challenge.**" in words(at)
    at.text_input(key="_challenge.inter-sentence-attention").set_value("Anna works in Greece. Her home is in _.").run()
    assert [box.value for box in at.success if "athens" in box.value]
