"""Each part of the rule gives its verdict, and in this order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.experiments.verdicts import ALPHA, FEW, RULE, SIGN_RULE, Effect, Verdict, judge

CLEAR = Effect(published=0.5, low=0.3, high=0.6, p=0.001, count=200)


@pytest.mark.parametrize(
    ("effect", "verdict"),
    [
        (CLEAR, Verdict.SAME),
        (replace(CLEAR, high=0.5), Verdict.SAME),
        (replace(CLEAR, low=0.7, high=0.8), Verdict.SAME),
        (replace(CLEAR, high=0.49), Verdict.SMALLER),
        (replace(CLEAR, p=ALPHA), Verdict.NOT_REPRODUCED),
        (replace(CLEAR, p=0.9, low=-0.5, high=-0.1), Verdict.NOT_REPRODUCED),
        (replace(CLEAR, count=FEW - 1), Verdict.NOT_TESTABLE),
        (replace(CLEAR, count=FEW), Verdict.SAME),
        (replace(CLEAR, published=None), Verdict.NOT_TESTABLE),
        (replace(CLEAR, untestable="It looks back only."), Verdict.NOT_TESTABLE),
    ],
)
def test_the_rule(effect: Effect, verdict: Verdict) -> None:
    found = judge(effect)
    assert found.verdict is verdict and found.why.endswith(".")


def test_a_reason_is_told() -> None:
    assert judge(replace(CLEAR, untestable="It looks back only.")).why == "It looks back only."


def test_the_printed_rule_names_every_verdict() -> None:
    assert all(f"**{verdict.value.capitalize()}**" in RULE for verdict in Verdict)


def test_a_sign_alone_is_judged_by_it() -> None:
    sign = replace(CLEAR, published=None, sign_only=True)
    assert judge(sign).verdict is Verdict.SAME
    assert judge(replace(sign, p=ALPHA)).verdict is Verdict.NOT_REPRODUCED
    assert judge(replace(sign, count=FEW - 1)).verdict is Verdict.NOT_TESTABLE
    assert judge(replace(sign, untestable="It looks back only.")).why == "It looks back only."
    named = {verdict for verdict in Verdict if f"**{verdict.value.capitalize()}**" in SIGN_RULE}
    assert named == set(Verdict) - {Verdict.SMALLER}
