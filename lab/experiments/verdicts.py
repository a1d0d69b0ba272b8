"""What a replication says of a published claim, by a rule that is the same for every model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

FEW = 30  # cases, below which nothing is claimed
ALPHA = 0.05


class Verdict(Enum):
    """What became of a published effect in the model on screen."""

    SAME = "same direction"
    SMALLER = "smaller"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTABLE = "not testable here"


@dataclass(frozen=True)
class Effect:
    """An effect as it was published and as it was measured here; both count as positive where the paper's sign is.

    Attributes
    ----------
    published
        What the paper reports; None where it reports nothing that can be compared.
    low, high
        The 95 % interval of what was measured.
    p
        How probable a draw at or below 0 is, corrected for the other effects of the experiment.
    count
        How many cases were measured.
    untestable
        Why it cannot be tested here, in a sentence; "" where it can.
    sign_only
        The paper says which sign the effect has, and gives no figure that can be compared.
    """

    published: float | None
    low: float
    high: float
    p: float
    count: int
    untestable: str = ""
    sign_only: bool = False


@dataclass(frozen=True)
class Judged:
    """A verdict, and which part of the rule gave it, in a sentence."""

    verdict: Verdict
    why: str


_BELOW = (
    f"**Not testable here**: fewer than {FEW} cases, or for the reason given. "
    f"**Not reproduced**: the effect is not clearly above 0, that is p ≥ {ALPHA} after Holm’s correction for all "
    "effects of the table. "
)
RULE = (
    f"{_BELOW}"
    "**Smaller**: clearly above 0, but its whole 95 % interval is below the published effect. "
    "**Same direction**: clearly above 0, and the interval reaches the published effect."
)

# Where the paper says only which sign an effect has.
SIGN_RULE = (
    f"{_BELOW}**Same direction**: clearly above 0. The paper gives no figure that can be compared, so no effect is "
    "called smaller."
)


def judge(effect: Effect) -> Judged:
    """The verdict on an effect, by :data:`RULE`, or :data:`SIGN_RULE` where the paper says only its sign."""
    if reason := _untestable(effect):
        return Judged(Verdict.NOT_TESTABLE, reason)
    if effect.p >= ALPHA:
        return Judged(Verdict.NOT_REPRODUCED, f"The effect is not clearly above 0 (p = {effect.p:.2g}).")
    if effect.published is None:
        return Judged(Verdict.SAME, "Clearly above 0; the paper gives no figure that can be compared.")
    if effect.high < effect.published:
        return Judged(
            Verdict.SMALLER, f"Clearly above 0, and at most {effect.high:.3f}; the paper’s is {effect.published:.3f}."
        )
    return Judged(
        Verdict.SAME, f"Clearly above 0, and it may be as large as the paper’s {effect.published:.3f}, or larger."
    )


def _untestable(effect: Effect) -> str:
    """Why an effect cannot be tested, in a sentence; "" where it can."""
    if not effect.untestable and effect.count < FEW:
        return f"There are {effect.count} cases: too few."
    nothing = effect.published is None and not effect.sign_only
    return effect.untestable or "The paper reports nothing to compare with." * nothing
