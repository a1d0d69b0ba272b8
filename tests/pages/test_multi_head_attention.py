"""The multi-head lesson, run whole: every step, both modes, every family, bad input, clicks."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.sentences.looks import STORY_TEXT
from lab.models.catalogue import DEFAULT_MODEL
from tests.checkpoints import Family
from tests.pages.apptest import Offer, reveal, turn_to, visit, walk, words

PAGE = "4_Multi-head_attention.py"
BRINGS = ("word-brings", "head-brings")
STEPS = ("all-heads", "join", *BRINGS, "find-the-head", "check")
TEXT = "She opened the door."


def charts(at: AppTest) -> list[str]:
    """What the charts say to those who do not see them."""
    return [chart.proto.alt for chart in at.get("vega_lite_chart")]


def head_of(at: AppTest) -> tuple[int, int]:
    return int(at.selectbox(key="layer").value or 0), int(at.selectbox(key="head").value or 0)


def test_the_random_toy_in_any_cut() -> None:
    at = visit(PAGE, mode="Toy", toy_weights="Random", toy_heads="8", head="8", toy_seed="5")
    for _ in walk(at, ("all-heads", "join", "find-the-head", "check")):
        assert at.number_input(key="toy_heads").value == 8
        assert at.selectbox(key="head").value == 8
    assert "This toy hides no word." in words(visit(PAGE, mode="Toy", step="word-brings"))


def test_heads_that_do_not_divide_the_width_get_a_sentence() -> None:
    at = visit(PAGE, mode="Toy", toy_weights="Random", toy_heads="5", step="join")
    assert "32 ÷ 5 = 6.40. You see 4; possible numbers are 1, 2, 4, 8, 16, 32" in words(at)
    for heads in (1, 32):
        at.number_input(key="toy_heads").set_value(heads).run()


@pytest.mark.parametrize("family", ["gpt2", "electra", "bert-headless"])
def test_every_family(family: Family, offer: Offer) -> None:
    name = offer(family)
    at = visit(PAGE, model=name, head="2")
    for step in walk(at, STEPS):
        assert at.session_state["model"] == name
        if step in BRINGS and family != "gpt2":
            assert "came without" in words(at) or "predicts no words" in words(at) or "no words" in words(at)


def test_a_click_on_a_cell_chooses_its_head_and_the_head_goes_along() -> None:
    at = visit(PAGE)
    at.session_state["head-rows"] = {"selection": {"cell": [{"q": 1, "k": 4}]}}
    at.run()
    assert head_of(at) == (2, 5)
    assert head_of(turn_to(at, "join")) == (2, 5)


def test_a_head_is_looked_for_until_it_is_found() -> None:
    at = visit(PAGE, step="find-the-head")
    at.button(key="_show_target").click().run()
    assert "Found." not in words(at) and head_of(at) == (1, 3)  # the lab has found it
    at = visit(PAGE, step="find-the-head")
    assert "Found." not in words(at) and head_of(at) == (6, 4)
    at.selectbox(key="layer").set_value(1).run()
    at.session_state["head-maps"] = {"selection": {"map": [{"map": 2}]}}
    at.run()
    assert head_of(at) == (1, 3) and "Found." in words(at)
    assert any(alt.startswith("12 maps, each 9 by 9") for alt in charts(at))


def test_a_word_is_cut_off_and_the_fixed_list_is_told_for_the_course_only() -> None:
    at = reveal(visit(PAGE, step="word-brings"))
    said = words(at)
    assert "athens" in said and "capital of 37" in said
    assert "capital of 37" not in words(reveal(visit(PAGE, step="word-brings", text=TEXT)))
    assert "capital of 37" not in words(reveal(visit(PAGE, step="word-brings", model="lab-bert")))


def test_another_country_can_be_swapped_in() -> None:
    at = reveal(visit(PAGE, step="head-brings"))
    assert "“\u2068moscow\u2069” from 0.00 to" in words(at) and "decides between Paris and Moscow" in words(at)
    at.selectbox(key="_other_country").set_value("Japan").run()
    assert "“\u2068tokyo\u2069” from 0.00 to" in words(at) and "decides between" not in words(at)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ("The language of France is [MASK].", "french"),
        (STORY_TEXT, "In both sentences, the model says"),
        ("", "Type another sentence."),
        ("<script>alert(1)</script>", ""),
        ("مرحبا", ""),
    ],
)
def test_a_pair_of_one_s_own(other: str, says: str) -> None:
    at = reveal(visit(PAGE, step="head-brings", text=f"{STORY_TEXT} "))
    at.text_input(key="_other_sentence").set_value(other).run()
    assert says in words(at)
    assert "1,332 pairs" not in words(at)


def test_checks_ask_three_questions_and_the_challenge_is_judged() -> None:
    at = visit(PAGE, step="check")
    asked = [radio for radio in at.radio if radio.key and radio.key.startswith("_check.")]
    assert len(asked) == 3
    asked[0].set_value(0).run()
    assert len(at.session_state["progress"].first_tries) == 1
    at.text_input(key="_challenge.multi-head-attention").set_value("France, Russia").run()
    assert "the other capital" in at.info[-1].value and DEFAULT_MODEL not in at.info[-1].value
