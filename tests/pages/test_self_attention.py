"""The self-attention lesson, run whole: every step, both modes, every family, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.course.pages import lesson_of
from lab.course.sentences.looks import STORY_TEXT
from lab.models.catalogue import DEFAULT_MODEL
from tests.pages.apptest import (
    badges,
    looks,
    on_screen,
    open_badge,
    reveal,
    row_of,
    sentence_of,
    step_of,
    steps_of,
    turn_to,
    visit,
    words,
)
from tests.thorough import one_by_day

PAGE = "3_Self-attention.py"
STEPS = lesson_of("self-attention").steps
WAY = tuple(step.id for step in STEPS if not step.aside)
BESIDE = tuple(step.id for step in STEPS if step.aside)


def test_the_steps_stand_in_their_order() -> None:
    at = visit(PAGE, layer="2", head="3")
    assert at.title[0].value == "Self-attention"
    assert row_of(at) == list(WAY)
    assert steps_of(at) == (*WAY[:-1], *BESIDE, WAY[-1])


def test_a_step_beside_the_way_leads_on_to_the_last_one() -> None:
    at = turn_to(visit(PAGE), BESIDE[-1])
    assert row_of(at) == [*WAY, BESIDE[-1]]
    before = [*WAY[:-1], *BESIDE][-2]
    assert {button.label for button in at.button} >= {f"Previous: {on_screen(before)}", "Next: Check"}
    at.button(key="_next_step").click().run()
    assert step_of(at) == "check"
    assert row_of(at) == list(WAY)
    assert "Next: lesson 4" in at.button(key="_next_page").label


def test_what_is_to_be_tried_is_one_click_away() -> None:
    at = reveal(visit(PAGE, step="map"))
    at.button(key="_try").click().run()
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (6, 6)
    at = visit(PAGE, step="build-a-row")
    at.button(key="_try").click().run()
    assert sentence_of(at)[0]["labels"][looks(at)[0]] == "capital"


def test_url_out_of_range_is_clamped_and_said() -> None:
    at = visit(PAGE, layer="99", head="zzz", token="500", step="map", mode="Nonsense", model="../../etc/passwd")
    assert at.selectbox(key="layer").value == 6
    assert at.selectbox(key="head").value == 1
    said = words(at)
    assert "layers run from 1 to 6" in said
    assert "heads run from 1 to 12" in said
    assert "no model called" in said
    assert step_of(visit(PAGE, step="Nonsense")) == WAY[0]


def test_the_map_is_of_the_chosen_head_and_a_click_on_it_chooses_query_and_key() -> None:
    at = reveal(visit(PAGE, text="She opened the door.", layer="3", head="5", token="4", key_token="2", step="map"))
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), "She opened the door.")
    _, arrays = sentence_of(at)
    # Two runs differ in their last bits, by where the memory of their tensors happens to begin.
    np.testing.assert_allclose(arrays["weights"], trace.layer(2).attention[4].numpy(), atol=1e-6)
    assert looks(at) == (3, 1)
    assert f"**{trace.layer(2).attention[4, 3, 1]:.3f}**" in words(at)
    at.session_state["attention-map"] = {"selection": {"cell": [{"q": 5, "k": 1}]}}
    at.run()
    assert looks(at) == (5, 1)


def test_nothing_is_compared_until_somebody_opens_the_badge() -> None:
    text = "Nobody has asked about this sentence."
    at = visit(PAGE, text=text, step="map")
    (unasked,) = badges(at)
    assert unasked.startswith(":material/radio_button_unchecked: ")
    assert not any("passed" in frame.value for frame in at.dataframe)
    (compared,) = badges(open_badge(at))
    assert compared.startswith(":material/verified: ") and compared.endswith("steps match Hugging Face]")
    (table,) = [frame.value for frame in at.dataframe if "passed" in frame.value]
    assert table["passed"].all() and f"{len(table)} steps" in compared
    assert badges(visit(PAGE, text=text, step="map")) == [compared], "it was compared for all who look at it"
    assert "Compare with" in badges(visit(PAGE, text=f"{text} Nor about this one.", step="map"))[0]


@one_by_day
@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_each_mistake_shows_what_it_breaks(model: str) -> None:
    at = visit(PAGE, step="break-it", model=model, token="5")
    switches = [toggle.key for toggle in at.toggle if toggle.key and toggle.key.startswith("_break.")]
    assert len(switches) == 4
    for key in switches:
        at.toggle(key=key).set_value(True).run()
        if key == "_break.no_values":
            assert "Differs from" in badges(open_badge(at))[0]
            assert "first step that differs from Hugging Face is **value" in words(at)
        said, moved = words(at), [metric.value for metric in at.metric if "moves by" in metric.label]
        assert len(moved) == 1 and float(moved[0]) > 0
        (table,) = [each.value for each in at.dataframe if "predicted" in each.value]
        assert list(table["run"]) == ["right", "broken"]
        assert (" stays “" in said) == (table["predicted"][0] == table["predicted"][1])
        # Two equal maps are not drawn: the page says that they are equal.
        drawn = len(at.main.get("vega_lite_chart"))  # the distance by layer, and the two maps
        assert drawn == (1 if "is the same in both runs" in said else 3)
        assert ("The sums of the broken rows" in said) == (key == "_break.softmax_over_queries")
        at.toggle(key=key).set_value(False).run()


def fill_in(at: AppTest, step: str, values: tuple[float, ...]) -> None:
    for i, value in enumerate(values):
        at.number_input(key=f"_hand.2.{step}.{i}").set_value(value)
    at.run()


def test_by_hand_accepts_right_and_refuses_wrong_numbers() -> None:
    at = visit(PAGE, step="by-hand")
    fill_in(at, "scores", (1, 1, 2))
    fill_in(at, "weights", (0.5, 0.3, 0.2))
    assert "not yet" in at.error[0].value
    fill_in(at, "weights", (0.25, 0.25, 0.5))
    assert not at.error
    assert words(at).count("right]") == 6 and "You have computed the attention of one token" in words(at)


def test_by_hand_a_right_number_gets_a_tick_at_once_and_the_answer_can_be_shown() -> None:
    at = visit(PAGE, step="by-hand")
    at.number_input(key="_hand.2.scores.2").set_value(2).run()
    assert words(at).count("right]") == 1 and len(at.number_input) == 3
    at.button(key="_hand.show").click().run()
    assert not at.error and words(at).count("right]") == 6
    assert [each.value for each in at.number_input] == [1, 1, 2, 0.25, 0.25, 0.5]
    assert "_hand.show" not in [each.key for each in at.button]


def test_checks_explain_every_option_and_count_the_first_try_and_the_challenge_is_judged() -> None:
    at = visit(PAGE, step="check", layer="2", head="3")
    radio = next(r for r in at.radio if r.key and r.key.startswith("_check."))
    for option in (0, 1):
        radio = next(r for r in at.radio if r.key == radio.key)
        radio.set_value(option).run()
    progress = at.session_state["progress"]
    assert len(progress.first_tries) == 1
    assert len(at.success) + len(at.error) == 1
    at.text_input(key="_challenge.self-attention").set_value("Portugal").run()
    assert "Looking is not answering" in at.success[-1].value
    at.text_input(key="_challenge.self-attention").set_value("<script>").run()
    assert "script" in at.info[-1].value


def test_a_step_with_words_of_its_own_has_no_sentence_and_no_head() -> None:
    at = visit(PAGE, step="by-hand")
    assert not [each for each in at.text_area if each.key == "text"]
    assert not [each for each in at.selectbox if each.key in ("layer", "head")]
    assert turn_to(at, "map").text_area(key="text").value == STORY_TEXT
