"""The written questions: each right answer is a formula worked by hand, or a fact that ships."""

from __future__ import annotations

import math

import pytest

import lab
from lab.lessons.how_it_learns.many_steps import where_it_looks
from lab.lessons.how_it_learns.one_step import too_far, which_way
from lab.lessons.how_it_learns.surprise import halved
from lab.lessons.how_it_learns.what_did_it_read import why_this_word
from lab.models.catalogue import DEFAULT_MODEL
from lab.questions.asking import Asking
from lab.questions.spot import Spot
from lab.toy.one_step import RATES, descent, slope
from lab.toy.training import Plan
from tests.sentences import CAT

RIGHT = {
    where_it_looks: "From each letter, at the letter before it",
    halved: "By ln 2 = 0.69, whatever p is",
    which_way: "It makes the weight smaller",
    too_far: "The step was too long for the slope at its start",
    why_this_word: "They do not explain it",
}
PLAN = Plan("turns", 1, 8, 8, 0, 2)


@pytest.mark.parametrize("asking", RIGHT, ids=lambda each: each.make.__name__)
def test_the_right_option_is_the_one_that_was_written(asking: Asking) -> None:
    question = asking(Spot.of(lab.trace(lab.load_model(DEFAULT_MODEL), CAT)))
    assert question is not None and asking.always
    assert question.options[question.answer].text == RIGHT[asking]
    assert len({option.why for option in question.options}) == 3


@pytest.mark.parametrize("p", [0.9, 0.376, 1e-6])
def test_half_the_probability_costs_ln_2(p: float) -> None:
    assert -math.log(p / 2) + math.log(p) == pytest.approx(0.69, abs=0.004)


def test_a_step_against_the_slope_leads_down_at_first_and_may_lead_up_if_it_is_long() -> None:
    here = slope(PLAN, 0.5)
    near = slope(PLAN, 0.5 - math.copysign(0.05, here.gradient))
    assert near.loss < here.loss
    found = descent(PLAN)
    assert found.losses[0] < found.loss < found.losses[-1] and RATES[0] < RATES[-1]
