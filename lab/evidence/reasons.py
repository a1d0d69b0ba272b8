"""The rule of the verdicts in words, and the reason of each verdict in a sentence; nothing here decides a number."""

from __future__ import annotations

from lab.evidence.verdicts import ALPHA, FEW, Because, Effect, Judged, TwinEffect, Verdict

LABELS = {
    Verdict.SAME: "same direction",
    Verdict.SMALLER: "smaller",
    Verdict.LARGER: "larger",
    Verdict.OPPOSITE: "opposite",
    Verdict.NOT_REPRODUCED: "not reproduced",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.ALSO_UNTRAINED: "also untrained",
    Verdict.NOT_TESTABLE: "not testable here",
}

# What each verdict says, in a few words beside it; RULE has the conditions.
IN_SHORT = {
    Verdict.SAME: "clearly there, and perhaps as large as published",
    Verdict.SMALLER: "clearly there, but smaller than published",
    Verdict.LARGER: "clearly there, and larger than published",
    Verdict.OPPOSITE: "clearly the other way round",
    Verdict.NOT_REPRODUCED: "not clearly there",
    Verdict.INCONCLUSIVE: "too uncertain to decide",
    Verdict.ALSO_UNTRAINED: "random weights have it, too",
    Verdict.NOT_TESTABLE: "too few cases, or not possible here",
}

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
is as narrow as the rule asks of the model’s own. If the twin’s interval is wider or holds 0, the model \
cannot be compared with it, and the claim is **inconclusive**.
- **Smaller**, **larger**: clearly above 0 and above the twin; the whole interval is below, or above, the published \
effect. **Same direction**: the interval holds the published effect, or nothing comparable was published."""


def why(judged: Judged) -> str:
    """Return the reason of a verdict, in a sentence.

    If the effect cannot be tested, the experiment alone knows the reason, and its page has the sentence.
    """
    effect = judged.effect
    if effect.twin is not None and judged.because in (Because.TWIN_TOO_WIDE, Because.TWIN_HOLDS_0, Because.TWIN_TOO):
        return _beside_twin(judged.because, effect.twin)
    ends = _ends(effect)
    theirs = "" if effect.published is None else f"the paper’s effect is {effect.published:.3f}"
    what = "the smallest effect that would count" if effect.published is None else "the published effect"
    return {
        Because.UNTESTABLE: effect.untestable,
        Because.FEW_CASES: f"There are {effect.count} cases: too few.",
        Because.TOO_WIDE: f"The 95 % interval, {ends}, is too wide.",
        Because.REACHES: (
            f"The effect is not clearly above 0 (p = {effect.p:.2g}), and its interval, {ends}, reaches {what}, "
            f"{effect.counts:.3f}."
        ),
        Because.BELOW_0: f"The whole 95 % interval, {ends}, is below 0.",
        Because.NO_DRAW_DIFFERS: f"It is {effect.estimate:.3f} in every draw: no case tells it from that.",
        Because.NOT_CLEAR: (
            f"The effect is not clearly above 0 (p = {effect.p:.2g}), and with 95 % it is at most {effect.high:.3f}."
        ),
        Because.NOTHING_PUBLISHED: "Clearly above 0; the paper reports no figure on this scale.",
        Because.BELOW_PUBLISHED: f"Clearly above 0, and at most {effect.high:.3f}; {theirs}.",
        Because.ABOVE_PUBLISHED: f"Clearly above 0, and at least {effect.low:.3f}; {theirs}.",
        Because.HOLDS_PUBLISHED: f"Clearly above 0, {ends}; {theirs}.",
    }[judged.because]


def _beside_twin(because: Because, twin: TwinEffect) -> str:
    said = f"Clearly above 0, but not clearly above the untrained twin (p = {twin.p:.2g})"
    if because is Because.TWIN_TOO_WIDE:
        return f"{said}, whose own interval, {_ends(twin)}, is too wide to compare."
    if because is Because.TWIN_HOLDS_0:
        return f"{said}, whose own interval, {_ends(twin)}, holds 0."
    return f"{said}, which clearly has the effect, too: {_ends(twin)}."


def _ends(effect: Effect | TwinEffect) -> str:
    return f"from {effect.low:.3f} to {effect.high:.3f}"
