"""The rule of the verdicts in words, and the reason of each verdict in a sentence; nothing here decides a number."""

from __future__ import annotations

from lab.evidence.verdicts import ALPHA, FEW, Because, BesideRule, Effect, Judged, TwinEffect, Verdict

LABELS = {
    Verdict.SAME: "same direction",
    Verdict.SMALLER: "smaller",
    Verdict.LARGER: "larger",
    Verdict.OPPOSITE: "opposite",
    Verdict.NOT_REPRODUCED: "not reproduced",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.ALSO_UNTRAINED: "also untrained",
    Verdict.NOT_TESTABLE: "not testable here",
    Verdict.NO_BETTER_THAN_A_RULE: "no better than a rule",
}

# What each verdict says, in a few words beside it; RULE has the conditions.
IN_SHORT = {
    Verdict.SAME: "a clear effect, perhaps as large as published",
    Verdict.SMALLER: "a clear effect, but smaller than published",
    Verdict.LARGER: "a clear effect, larger than published",
    Verdict.OPPOSITE: "a clear effect in the other direction",
    Verdict.NOT_REPRODUCED: "no clear effect",
    Verdict.INCONCLUSIVE: "an uncertain result",
    Verdict.ALSO_UNTRAINED: "an effect that random weights show, too",
    Verdict.NOT_TESTABLE: "too few cases, or no possible test",
    Verdict.NO_BETTER_THAN_A_RULE: "a clear effect, but not clearly more than a simple rule reaches",
}

RULE = f"""\
- **Not testable here**: there are fewer than {FEW} cases, or the claim cannot be tested for the reason given.
- **Inconclusive**: the 95 % interval is too wide. Either half its width is more than half the published effect, or it \
reaches the published effect although our effect is not clearly above 0. If the paper reports nothing on this scale, a \
bound replaces the published effect. The lab wrote this bound down before the measurement. The interval may then \
extend on either side by as much as the bound or half the effect, whichever is more.
- **Not reproduced**: the effect is not clearly above 0 (p ≥ {ALPHA} after Holm’s correction, or an interval that \
contains 0), and it is too small to be the published effect.
- **Opposite**: the effect is clearly below 0 and below the effect in the untrained twin, by the same tests as above.
- **Also untrained**: the effect is clearly above 0, but not clearly above the effect in the untrained twin, which is \
the same model with random weights. The twin must clearly have the effect, too: the whole 95 % interval of its effect \
is above 0, and as narrow as the rule asks of the model’s own interval. If the twin’s interval is wider or contains 0, \
no comparison with the twin is possible, and the claim is **inconclusive**.
- **No better than a rule**: the effect is clearly above 0 and above the twin’s effect, but a simple rule that knows \
nothing of what is claimed is right as often, or more often, as far as the interval can tell.
- **Smaller** or **larger**: the effect is clearly above 0, above the twin’s effect and above the rule, and the whole \
interval is below, or above, the published effect.
- **Same direction**: the effect is clearly above 0, above the twin’s effect and above the rule. The interval contains \
the published effect, or nothing comparable was published."""


def why(judged: Judged) -> str:
    """Return the reason of a verdict, in a sentence.

    If the effect cannot be tested, the experiment alone knows the reason, and its page has the sentence.
    """
    effect = judged.effect
    if effect.twin is not None and judged.because in (Because.TWIN_TOO_WIDE, Because.TWIN_HOLDS_0, Because.TWIN_TOO):
        return _beside_twin(judged.because, effect.twin)
    if effect.rule is not None and judged.because is Because.RULE_TOO:
        return _beside_rule(effect.rule)
    ends = _ends(effect)
    theirs = "" if effect.published is None else f"The paper’s effect is {effect.published:.3f}."
    what = "the smallest effect that would count" if effect.published is None else "the published effect"
    return {
        Because.UNTESTABLE: effect.untestable,
        Because.FEW_CASES: f"There are only {effect.count} cases, which is too few.",
        Because.TOO_WIDE: f"The 95 % interval, {ends}, is too wide.",
        Because.REACHES: (
            f"The effect is not clearly above 0 (p = {effect.p:.2g}). But its interval, {ends}, reaches "
            f"{effect.counts:.3f}, {what}."
        ),
        Because.BELOW_0: f"The effect is clearly below 0, with an interval {ends}.",
        Because.TWIN_BELOW_TOO: (
            f"The effect is below 0, with an interval {ends}, but not clearly below the effect in the untrained twin. "
            "So the training may not be its cause."
        ),
        Because.NO_DRAW_DIFFERS: (
            f"The effect is {effect.estimate:.3f} in every random draw of cases, so no case suggests another value."
        ),
        Because.NOT_CLEAR: (
            f"The effect is not clearly above 0 (p = {effect.p:.2g}). With 95 % confidence, it is at most "
            f"{effect.high:.3f}."
        ),
        Because.NOTHING_PUBLISHED: "The effect is clearly above 0. The paper reports no figure on this scale.",
        Because.BELOW_PUBLISHED: f"The effect is clearly above 0, and at most {effect.high:.3f}. {theirs}",
        Because.ABOVE_PUBLISHED: f"The effect is clearly above 0, and at least {effect.low:.3f}. {theirs}",
        Because.HOLDS_PUBLISHED: f"The effect is clearly above 0, with an interval {ends}. {theirs}",
    }[judged.because]


def _beside_twin(because: Because, twin: TwinEffect) -> str:
    said = f"The effect is clearly above 0, but not clearly above the effect in the untrained twin (p = {twin.p:.2g})"
    if because is Because.TWIN_TOO_WIDE:
        return f"{said}. The twin’s own interval, {_ends(twin)}, is too wide for a comparison."
    if because is Because.TWIN_HOLDS_0:
        return f"{said}. The twin’s own interval, {_ends(twin)}, contains 0."
    return f"{said}. The twin clearly has the effect, too, with an interval {_ends(twin)}."


def _beside_rule(rule: BesideRule) -> str:
    does = "is right more often" if rule.high < 0 else "may be right as often"
    return f"The effect is clearly above 0. But a simple rule {does}: model minus rule is {_ends(rule)}."


def _ends(effect: Effect | TwinEffect | BesideRule) -> str:
    return f"from {effect.low:.3f} to {effect.high:.3f}"
