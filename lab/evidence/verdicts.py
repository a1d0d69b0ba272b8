"""Judge a published claim by its replication, with one rule for every experiment and every model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

FEW = 30  # the least number of cases for a verdict
ALPHA = 0.05


class Verdict(Enum):
    """The outcome of testing a published effect in the model on screen."""

    SAME = "same direction"
    SMALLER = "smaller"
    LARGER = "larger"
    OPPOSITE = "opposite"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    ALSO_UNTRAINED = "also untrained"
    NOT_TESTABLE = "not testable here"


# The verdicts by which a model has the effect, and clearly more of it than its untrained twin.
HOLDS = frozenset({Verdict.SAME, Verdict.SMALLER, Verdict.LARGER})


@dataclass(frozen=True)
class TwinEffect:
    """An effect in the untrained twin, the model with random weights.

    Attributes
    ----------
    low, high
        Its 95 % interval.
    p
        The probability of a draw in which the model's effect is not above the twin's, corrected like the effect's own.
    """

    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Effect:
    """A published effect and its measured value; both are positive in the direction of the paper's effect.

    Attributes
    ----------
    estimate
        The measured effect.
    low, high
        The effect's 95 % interval.
    p
        The probability of a draw at or below 0, corrected for the other effects of the experiment.
    count
        The number of cases.
    published
        The paper's effect; None if the paper reports nothing on this scale.
    bound
        The smallest effect that would count if nothing comparable was published; it was written down before the
        measurement.
    twin
        The effect in the untrained twin; None if the twin cannot have the effect.
    untestable
        The reason why the effect cannot be tested here, in a sentence; "" if it can be tested.
    """

    estimate: float
    low: float
    high: float
    p: float
    count: int
    published: float | None = None
    bound: float = 0.0
    twin: TwinEffect | None = None
    untestable: str = ""

    @property
    def clear(self) -> bool:
        """True if the effect is clearly above 0, both by its p and by its interval."""
        return self.p < ALPHA and self.low > 0

    @property
    def counts(self) -> float:
        """The published effect, or the smallest effect that would count.

        An interval must separate this effect from 0.
        """
        return self.bound if self.published is None else self.published

    @property
    def widest(self) -> float:
        """The largest half-width of an interval that still allows a verdict."""
        if self.published is not None:
            return self.published / 2
        return max(self.bound, abs(self.estimate) / 2)


@dataclass(frozen=True)
class Judged:
    """A verdict, and a sentence with the part of the rule that gave the verdict."""

    verdict: Verdict
    why: str


RULE = f"""\
- **Not testable here**: fewer than {FEW} cases, or for the reason given.
- **Inconclusive**: the 95 % interval is too wide. Half its width is more than half the published effect; or it \
reaches the published effect, and the effect is not clearly above 0. Where the paper reports nothing on this scale, a \
bound takes the place of the published effect. The bound was written down before the measurement; an interval may then \
be as wide as the bound or half the effect on either side, whichever is more.
- **Not reproduced**: not clearly above 0 (p ≥ {ALPHA} after Holm’s correction, or an interval that holds 0), and too \
small to be the published effect. **Opposite**: the whole interval is below 0.
- **Also untrained**: clearly above 0, but not clearly above the effect in the untrained twin, which is the same model \
with random weights; and the twin clearly has the effect, too: the whole 95 % interval of its effect is above 0, and \
is as narrow as the rule asks of the model’s own. If the twin’s interval is wider or holds 0, the twin is no \
comparison, and the claim is **inconclusive**.
- **Smaller**, **larger**: clearly above 0 and above the twin; the whole interval is below, or above, the published \
effect. **Same direction**: the interval holds the published effect, or nothing comparable was published."""


def judge(effect: Effect) -> Judged:
    """Return the verdict on an effect, by :data:`RULE`."""
    if reason := _untestable(effect):
        return Judged(Verdict.NOT_TESTABLE, reason)
    ends = f"from {effect.low:.3f} to {effect.high:.3f}"
    if (effect.high - effect.low) / 2 > effect.widest:
        return Judged(Verdict.INCONCLUSIVE, f"The 95 % interval, {ends}, is too wide.")
    if not effect.clear:
        return _unclear(effect, ends)
    if effect.twin is not None and effect.twin.p >= ALPHA:
        return _like_the_twin(effect, effect.twin)
    return _beside_the_paper(effect, ends)


def _like_the_twin(effect: Effect, twin: TwinEffect) -> Judged:
    """Return the verdict on an effect that is clearly above 0, but not clearly above the twin's."""
    why = f"Clearly above 0, but not clearly above the untrained twin (p = {twin.p:.2g})"
    ends = f"from {twin.low:.3f} to {twin.high:.3f}"
    if (twin.high - twin.low) / 2 > effect.widest:
        return Judged(Verdict.INCONCLUSIVE, f"{why}, whose own interval, {ends}, is too wide to compare.")
    if twin.low <= 0:
        return Judged(Verdict.INCONCLUSIVE, f"{why}, whose own interval, {ends}, holds 0.")
    return Judged(Verdict.ALSO_UNTRAINED, f"{why}, which clearly has the effect, too: {ends}.")


def _beside_the_paper(effect: Effect, ends: str) -> Judged:
    """Return the verdict on an effect that is clearly above 0, by its size."""
    if effect.published is None:
        return Judged(Verdict.SAME, "Clearly above 0; the paper reports no figure on this scale.")
    theirs = f"the paper’s effect is {effect.published:.3f}"
    if effect.high < effect.published:
        return Judged(Verdict.SMALLER, f"Clearly above 0, and at most {effect.high:.3f}; {theirs}.")
    if effect.low > effect.published:
        return Judged(Verdict.LARGER, f"Clearly above 0, and at least {effect.low:.3f}; {theirs}.")
    return Judged(Verdict.SAME, f"Clearly above 0, {ends}; {theirs}.")


def _unclear(effect: Effect, ends: str) -> Judged:
    """Return the verdict on an effect that is not clearly above 0, and whose interval is narrow enough."""
    if effect.high < 0:
        return Judged(Verdict.OPPOSITE, f"The whole 95 % interval, {ends}, is below 0.")
    if effect.high >= effect.counts:
        what = "the published effect" if effect.published is not None else "the smallest effect that would count"
        return Judged(
            Verdict.INCONCLUSIVE,
            f"The effect is not clearly above 0 (p = {effect.p:.2g}), and its interval, {ends}, reaches {what}, "
            f"{effect.counts:.3f}.",
        )
    if effect.low == effect.high:
        return Judged(Verdict.NOT_REPRODUCED, f"It is {effect.estimate:.3f} in every draw: no case tells it from that.")
    return Judged(
        Verdict.NOT_REPRODUCED,
        f"The effect is not clearly above 0 (p = {effect.p:.2g}), and with 95 % it is at most {effect.high:.3f}.",
    )


def _untestable(effect: Effect) -> str:
    """Return a sentence that says why an effect cannot be tested; "" if the effect can be tested."""
    if not effect.untestable and effect.count < FEW:
        return f"There are {effect.count} cases: too few."
    return effect.untestable
