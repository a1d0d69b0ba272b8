"""Lesson 10 on screen: the loss, one step, a toy that learns, and what it read."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.apptest import go, reveal, step_of, visit, words
from tests.thorough import one_by_day

PAGE, NINE = "10_How_it_learns.py", "9_Masked_language_model.py"
MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")


@pytest.mark.parametrize("model", MODELS)
def test_the_loss_on_screen_is_that_of_the_probability_on_screen(model: str) -> None:
    import math

    said = words(visit(PAGE, model=model))
    found = re.search(r"its loss is −ln ([\d.]+) ≈ \*\*([\d.]+)\*\*", said)
    assert found is not None
    assert float(found[2]) == pytest.approx(-math.log(float(found[1])), abs=0.1)
    assert model != "lab-minilm" or "−ln 0.376 ≈ **0.98**" in said


def test_another_right_word_has_another_loss() -> None:
    at = visit(PAGE)
    menu = at.selectbox(key="word")
    before = words(at)
    menu.set_value(menu.options[-1]).run()
    assert words(at) != before and menu.options[-1] in words(at)


def test_a_nudge_moves_the_weight_downhill() -> None:
    at = visit(PAGE, step="one-step")
    slope = float(re.search(r"the slope is \*\*(−?[\d.]+)\*\*", words(at))[1].replace("−", "-"))  # type: ignore[index]
    before = _weight(at)
    at.button(key="_nudge").click().run()
    assert (_weight(at) - before) * slope < 0


def _weight(at: AppTest) -> float:
    found = next(each for each in at.slider if each.label == "The weight").value
    assert isinstance(found, float)
    return found


@one_by_day
@pytest.mark.parametrize("end", ["max", "min"])
def test_the_weight_can_be_moved_to_either_end(end: str) -> None:
    at = visit(PAGE, step="one-step")
    slider = next(each for each in at.slider if each.label == "The weight")
    slider.set_value(getattr(slider, end)).run()
    assert _weight(at) == getattr(slider, end)
    for _ in range(3):
        at.button(key="_nudge").click().run()


def test_too_large_a_rate_does_harm() -> None:
    at = visit(PAGE, step="one-step")
    rate = next(each for each in at.select_slider if each.label == "Learning rate")
    assert "A larger rate would get further" in words(at)
    rate.set_value(rate.options[-1] if not isinstance(rate.options[-1], str) else float(rate.options[-1])).run()
    assert "This rate is too large" in words(at)


def test_a_head_learns_on_the_way_and_keeps_at_least_twelve_states(short: None) -> None:
    at = reveal(visit(PAGE, step="many-steps"))
    assert "has random weights" in words(at)
    at.button(key="_train.start").click().run()
    assert step_of(at) == "many-steps" and "The loss on new sentences went from" in words(at)
    states = next(each for each in at.select_slider if each.label == "After training step")
    assert len(states.options) >= 12


def test_lesson_nine_leads_here_and_shows_the_toy_that_was_trained_here(short: None) -> None:
    at = visit(NINE, mode="Toy")
    next(button for button in at.sidebar.button if button.label == "Train").click().run()
    assert at.title[0].value == "How it learns" and step_of(at) == "many-steps"
    assert "the loss on new sentences" in words(at)
    at.switch_page(f"pages/{NINE}").run()
    assert "Trained here on the rule" in words(at)


def test_the_toy_mode_has_the_steps_that_a_toy_can_show() -> None:
    at = visit(PAGE, mode="Toy")
    assert "Nobody tells the model the rule" in words(at)
    go(at, "surprise")
    assert "its loss is" in words(at)
    go(at, "one-step")
