"""Each part of the rule gives its verdict, and in this order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.evidence.reasons import LABELS, RULE, why
from lab.evidence.verdicts import ALPHA, FEW, BesideRule, Effect, TwinEffect, Verdict, judge

NONE = TwinEffect(low=-0.1, high=0.1, p=0.001, p_below=1.0)
RULE_BELOW, RULE_AS_GOOD = BesideRule(0.01, 0.2, 0.001, 0.05), BesideRule(-0.1, 0.04, ALPHA, 0.05)
CLEAR = Effect(0.45, low=0.3, high=0.6, p=0.001, p_below=1.0, count=200, published=0.5, twin=NONE)
TURNED = replace(CLEAR, low=-0.5, high=-0.1, p=1.0, p_below=0.001, twin=replace(NONE, p=1.0, p_below=0.001))
SIGN = replace(CLEAR, published=None, bound=0.1)


@pytest.mark.parametrize(
    ("effect", "verdict"),
    [
        (CLEAR, Verdict.SAME),
        (replace(CLEAR, high=0.5), Verdict.SAME),
        (replace(CLEAR, high=0.49), Verdict.SMALLER),
        (replace(CLEAR, low=0.51, high=0.8), Verdict.LARGER),
        (replace(CLEAR, low=0.5, high=0.8), Verdict.SAME),
        # Not clearly above 0, and it reaches the paper's effect, or not.
        (replace(CLEAR, p=ALPHA), Verdict.INCONCLUSIVE),
        (replace(CLEAR, p=ALPHA, high=0.49), Verdict.NOT_REPRODUCED),
        (replace(CLEAR, low=-0.1, high=0.3, p=0.2), Verdict.NOT_REPRODUCED),
        # Clearly below 0, by the same tests as above it: Holm's p, the interval, the twin.
        (TURNED, Verdict.OPPOSITE),
        (replace(TURNED, twin=None), Verdict.OPPOSITE),
        (replace(TURNED, p_below=ALPHA), Verdict.NOT_REPRODUCED),
        (replace(TURNED, twin=replace(NONE, p_below=ALPHA)), Verdict.NOT_REPRODUCED),
        # Twice 0.25 wide at most, unless it is clear.
        (replace(CLEAR, low=0.1, high=0.61), Verdict.SAME),
        (replace(CLEAR, low=-0.1, high=0.41), Verdict.INCONCLUSIVE),
        (replace(CLEAR, low=-0.09, high=0.4), Verdict.NOT_REPRODUCED),
        (replace(CLEAR, low=-0.9, high=-0.1, p=0.9), Verdict.INCONCLUSIVE),
        # Not clearly above the twin: the twin must clearly have it, with an interval as narrow as the model's own.
        (replace(CLEAR, twin=TwinEffect(0.2, 0.6, ALPHA, 1.0)), Verdict.ALSO_UNTRAINED),
        (replace(CLEAR, twin=TwinEffect(0.0, 0.4, ALPHA, 1.0)), Verdict.INCONCLUSIVE),
        (replace(CLEAR, twin=TwinEffect(-0.17, 0.3, 0.3, 1.0)), Verdict.INCONCLUSIVE),
        (replace(CLEAR, twin=TwinEffect(0.1, 0.61, ALPHA, 1.0)), Verdict.INCONCLUSIVE),
        (replace(CLEAR, twin=TwinEffect(0.1, 0.59, ALPHA, 1.0)), Verdict.ALSO_UNTRAINED),
        # The twin has clearly more of it, however wide its own interval is.
        (replace(CLEAR, twin=TwinEffect(0.61, 1.9, 1.0, 0.01)), Verdict.ALSO_UNTRAINED),
        (replace(CLEAR, twin=TwinEffect(0.6, 1.9, 1.0, 0.01)), Verdict.INCONCLUSIVE),
        # Clearly above the twin, however wide the twin's own interval is.
        (replace(CLEAR, twin=TwinEffect(-2.0, 0.5, 0.01, 1.0)), Verdict.SAME),
        (replace(CLEAR, twin=None), Verdict.SAME),
        # A simple rule that reaches as much, and one that does not; the twin comes first.
        (replace(CLEAR, rule=RULE_AS_GOOD), Verdict.NO_BETTER_THAN_A_RULE),
        (replace(CLEAR, rule=BesideRule(-0.2, -0.1, 1.0, 0.05)), Verdict.NO_BETTER_THAN_A_RULE),
        (replace(CLEAR, rule=BesideRule(-0.1, 0.05, ALPHA, 0.05)), Verdict.INCONCLUSIVE),
        (replace(CLEAR, rule=RULE_BELOW), Verdict.SAME),
        (replace(CLEAR, low=0.51, high=0.8, rule=RULE_AS_GOOD), Verdict.NO_BETTER_THAN_A_RULE),
        (replace(CLEAR, rule=RULE_AS_GOOD, twin=TwinEffect(0.2, 0.6, ALPHA, 1.0)), Verdict.ALSO_UNTRAINED),
        (replace(CLEAR, p=ALPHA, high=0.49, rule=RULE_AS_GOOD), Verdict.NOT_REPRODUCED),
        # An effect that is not there is not "also untrained".
        (replace(CLEAR, low=-0.1, high=0.3, p=0.2, twin=TwinEffect(0.2, 0.6, 0.9, 1.0)), Verdict.NOT_REPRODUCED),
        (replace(CLEAR, count=FEW - 1), Verdict.NOT_TESTABLE),
        (replace(CLEAR, count=FEW), Verdict.SAME),
        (replace(CLEAR, untestable="It looks back only."), Verdict.NOT_TESTABLE),
    ],
)
def test_the_rule(effect: Effect, verdict: Verdict) -> None:
    found = judge(effect)
    assert found.verdict is verdict and why(found).endswith(".")


@pytest.mark.parametrize(
    ("effect", "verdict"),
    [
        (SIGN, Verdict.SAME),
        (replace(SIGN, low=5, high=7, estimate=6), Verdict.SAME),
        (replace(SIGN, low=0.01, high=0.9, estimate=0.1), Verdict.SAME),
        # Clear, but smaller than the bound.
        (replace(SIGN, low=0.01, high=0.1, estimate=0.09), Verdict.INCONCLUSIVE),
        (replace(SIGN, low=0.01, high=0.09, estimate=0.05), Verdict.NOT_REPRODUCED),
        # As wide as the bound, or half the effect, on either side.
        (replace(SIGN, low=-0.13, high=0.08, estimate=0.02), Verdict.INCONCLUSIVE),
        (replace(SIGN, low=-0.11, high=0.08, estimate=0.02), Verdict.NOT_REPRODUCED),
        (replace(SIGN, low=-0.4, high=0.05, estimate=-0.3), Verdict.INCONCLUSIVE),
        (replace(SIGN, low=-0.2, high=0.05, estimate=-0.3), Verdict.NOT_REPRODUCED),
        (replace(SIGN, low=-0.05, high=0.1, estimate=0.02, p=0.4), Verdict.INCONCLUSIVE),
        (replace(SIGN, low=-0.05, high=0.09, estimate=0.02, p=0.4), Verdict.NOT_REPRODUCED),
        (replace(TURNED, published=None, bound=0.1, low=-0.15, high=-0.01, estimate=-0.1), Verdict.OPPOSITE),
        (replace(TURNED, published=None, bound=0.1, low=-0.15, high=-0.01, estimate=-0.08), Verdict.INCONCLUSIVE),
        (replace(TURNED, published=None, bound=0.1, low=-0.09, high=-0.01, estimate=-0.08), Verdict.NOT_REPRODUCED),
    ],
)
def test_where_nothing_was_published_a_bound_takes_its_place(effect: Effect, verdict: Verdict) -> None:
    assert judge(effect).verdict is verdict


@pytest.mark.parametrize("low", [-0.4, -0.1, 0.0])
def test_an_interval_with_both_zero_and_the_published_effect_is_inconclusive(low: float) -> None:
    for high in (0.5, 0.6, 3.0):
        for p in (0.001, 0.5):
            assert judge(replace(CLEAR, low=low, high=high, p=p)).verdict is Verdict.INCONCLUSIVE


def test_the_referee_s_twin_is_no_comparison() -> None:
    """lab-minilm's "early": its own .97 (.96 to .99), the twin's interval from −.17 to 1.05."""
    early = Effect(0.97, 0.96, 0.99, 0.001, 1.0, 200, bound=0.1, twin=TwinEffect(-0.17, 1.05, 0.2, 1.0))
    assert judge(early).verdict is Verdict.INCONCLUSIVE


def test_a_reason_is_told() -> None:
    assert why(judge(replace(CLEAR, untestable="It looks back only."))) == "It looks back only."


def test_the_printed_rule_names_every_verdict() -> None:
    assert all(f"**{LABELS[verdict].capitalize()}**" in RULE or f"**{LABELS[verdict]}**" in RULE for verdict in Verdict)
