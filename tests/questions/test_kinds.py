"""How near a number is right: as far as the options of its question are apart, and not farther."""

from __future__ import annotations

import math

import pytest

from lab.questions.forms import Bounds, NumberAnswer
from lab.questions.kinds import Quantity, numeric, which_holds


def asked(value: float, wrong: tuple[float, ...], of: Quantity) -> NumberAnswer:
    found = numeric("id", "How much?", (value, "So."), dict.fromkeys(wrong, "Not so."), of)
    assert found is not None and isinstance(found.number, NumberAnswer)
    return found.number


@pytest.mark.parametrize(
    ("value", "wrong", "of", "tolerance"),
    [
        (0.4, (0.2, 0.8), Quantity("{:.3f}".format, within=(0, 1)), 0.02),  # a tenth of it, halved
        (0.1, (0.2, 0.8), Quantity("{:.3f}".format, apart=0.06), 0.03),  # what two options are apart, halved
        (0.0014, (0.2, 0.8), Quantity("{:.3f}".format), 0.0005),  # 0.001 is what is shown, and right
        (30522.0, (10.0, 99999.0), Quantity("{:,.0f}".format), 1526.1),
        (2.0, (1.7, 0.8), Quantity("{:.3g}".format), 0.15),  # "2", but 1.7 is wrong
        (0.0, (1.0, 2.0), Quantity(lambda value: "none" if not value else f"{value:g}"), 0.05),
        (1.5e-5, (0.2, 0.8), Quantity("{:.3g} times".format), 7.5e-7),
    ],
)
def test_the_tolerance_follows_the_margin(
    value: float, wrong: tuple[float, ...], of: Quantity, tolerance: float
) -> None:
    found = asked(value, wrong, of)
    assert found.tolerance == pytest.approx(tolerance, rel=1e-6)
    assert all(abs(each - value) > found.tolerance for each in wrong)


def test_a_number_that_is_shown_as_a_percentage_is_asked_for_as_a_share() -> None:
    found = asked(0.47, (0.2, 0.8), Quantity("{:.0%}".format, within=(0, 1)))
    assert found.bounds == Bounds(0, 1, "")
    assert found.tolerance == pytest.approx(0.0235)


def test_bounds_unit_and_bins() -> None:
    found = asked(0.4, (0.2, 0.8), Quantity("{:.1f} nats".format, within=(0, math.inf)))
    assert found.bounds == Bounds(0, 1e9, "nats")
    assert list(found.edges) == sorted(found.edges) and found.edges[0] > 0
    inside = [edge for edge in found.edges if abs(edge - found.value) <= found.tolerance * (1 + 1e-9)]
    assert inside == pytest.approx([found.value - found.tolerance, found.value + found.tolerance])
    assert found.edges[-1] > 0.8  # the farthest option is not in the open bin


def test_mixed_outcomes_have_the_right_one_at_every_place() -> None:
    asked = [
        which_holds("a", f"Question {n}?", "Why.", {"x": True, "y": False, "z": False}, mixed=True) for n in range(60)
    ]
    counts = [sum(question.answer == place for question in asked) for place in range(3)]
    assert min(counts) > 10
    assert all(question.options[question.answer].text == "x" for question in asked)
    ordered = which_holds("a", "Question?", "Why.", {"x": False, "y": True})
    assert [option.text for option in ordered.options] == ["x", "y"]
