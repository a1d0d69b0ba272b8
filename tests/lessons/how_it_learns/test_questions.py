"""What the written questions rest on: formulas worked by hand, and facts that ship."""

from __future__ import annotations

import math

import pytest

from lab.lessons.how_it_learns.one_step import said_of_step, taken
from lab.toy.gradient_step import RATES, descent, slope
from lab.toy.training import Plan

PLAN = Plan("turns", 1, 8, 8, 0, 2)


@pytest.mark.parametrize("p", [0.9, 0.376, 1e-6])
def test_half_the_probability_costs_ln_2(p: float) -> None:
    assert -math.log(p / 2) + math.log(p) == pytest.approx(0.69, abs=0.004)


def test_a_step_against_the_slope_leads_down_at_first_and_may_lead_up_if_it_is_long() -> None:
    here = slope(PLAN, 0.5)
    near = slope(PLAN, 0.5 - math.copysign(0.05, here.gradient))
    assert near.loss < here.loss
    found = descent(PLAN)
    assert found.losses[0] < found.loss < found.losses[-1] and RATES[0] < RATES[-1]


@pytest.mark.parametrize(
    "plan", [PLAN, Plan("alphabet", 1, 8, 8, 0, 2)], ids=["the largest does harm", "it is the best"]
)
def test_what_is_said_of_a_rate_is_true_of_the_other_rates(plan: Plan) -> None:
    found = descent(plan)
    for at, rate in enumerate(RATES):
        after, smaller, larger = float(found.losses[at]), found.losses[:at], found.losses[at + 1 :]
        holds = {
            "This rate is too large": after > found.loss,
            "A larger rate would get further": (larger < after).any(),
            "A larger rate would do worse": len(larger) > 0 and (larger > after).all(),
            "A smaller rate would do better": (smaller < after).any(),
            "No smaller rate gets as far": not len(larger) and (smaller > after).all(),
        }
        told = said_of_step(taken(plan, rate))
        claims = [claim for claim in holds if claim in told]
        assert len(claims) == 1 and holds[claims[0]], (rate, told)
