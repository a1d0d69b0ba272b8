"""The rule of the verdicts in words, and the reason of each verdict in a sentence; nothing here decides a number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

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
    Verdict.SAME: "a clear effect in the direction of the claim",
    Verdict.SMALLER: "a clear effect, but smaller than published",
    Verdict.LARGER: "a clear effect, larger than published",
    Verdict.OPPOSITE: "a clear effect in the other direction",
    Verdict.NOT_REPRODUCED: "no effect that is clear and large enough to count",
    Verdict.INCONCLUSIVE: "an uncertain result",
    Verdict.ALSO_UNTRAINED: "an effect that random weights show, too",
    Verdict.NOT_TESTABLE: "too few cases, or no possible test",
    Verdict.NO_BETTER_THAN_A_RULE: "a clear effect, but not clearly more than a simple rule reaches",
}

_RULES: dict[Verdict, str] = {
    Verdict.NOT_TESTABLE: (
        f"**Not testable here**: there are fewer than {FEW} cases, or the claim cannot be tested for the reason given."
    ),
    Verdict.INCONCLUSIVE: (
        "**Inconclusive**: the effect is not clearly above or below 0, and the 95 % interval is too wide: half its "
        "width is more than half the published effect, or it reaches the published effect. If the paper reports "
        "nothing on this scale, a bound that the lab chose takes its place: half the width may then be as much as the "
        "bound, or as half our effect. Or the effect is clear but smaller than the "
        "bound, which its interval reaches. Or no comparison with the untrained twin or with a rule is possible, "
        "because their own interval is too wide or, of the twin, contains 0."
    ),
    Verdict.NOT_REPRODUCED: (
        f"**Not reproduced**: the effect is not clearly above 0 (p ≥ {ALPHA} after Holm’s correction, or an interval "
        "that contains 0) and too small to be the published effect; or the whole interval is smaller than the bound."
    ),
    Verdict.OPPOSITE: (
        "**Opposite**: the effect is clearly below 0 and below the effect in the untrained twin, by the tests that an "
        "effect above 0 has to pass."
    ),
    Verdict.ALSO_UNTRAINED: (
        "**Also untrained**: the effect is clearly above 0, but not clearly above the effect in the untrained twin, "
        "which is the same model with random weights. The twin must clearly have the effect, too: the whole 95 % "
        "interval of its effect is above 0, and as narrow as the rule asks of the model’s own interval, or above it."
    ),
    Verdict.NO_BETTER_THAN_A_RULE: (
        "**No better than a rule**: the effect is clearly above 0 and above the twin’s effect, but a simple rule, "
        "which knows only kinds of words and their order, is right as often, or more often: the model’s lead is less "
        "than would count."
    ),
    Verdict.SMALLER: (
        "**Smaller** or **larger**: the effect is clearly above 0, above the twin’s effect and above the "
        "rule, and the whole interval is below, or above, the published effect."
    ),
    Verdict.SAME: (
        "**Same direction**: the effect is clearly above 0, above the twin’s effect and above the rule. The "
        "interval contains the published effect, or nothing comparable was published."
    ),
}
_RULES[Verdict.LARGER] = _RULES[Verdict.SMALLER]


def rule_of(verdicts: Iterable[Verdict]) -> str:
    """Return the conditions of these verdicts, as a list in Markdown."""
    given = {*verdicts}
    return "\n".join(
        f"- {each}" for each in dict.fromkeys(text for verdict, text in _RULES.items() if verdict in given)
    )


RULE = rule_of(Verdict)


@dataclass(frozen=True)
class Wording:
    """How an experiment writes an effect: its name, the factor before a number, and the digits after the point."""

    name: str = "The effect"
    factor: float = 1.0
    digits: int = 3

    def number(self, value: float) -> str:
        return f"{self.factor * value:z.{self.digits}f}"

    def ends(self, effect: Effect | TwinEffect | BesideRule) -> str:
        return f"from {self.number(effect.low)} to {self.number(effect.high)}"


def why(judged: Judged, said: Wording = Wording()) -> str:
    """Return the reason of a verdict, in a sentence.

    If the effect cannot be tested, the experiment alone knows the reason, and its page has the sentence.
    """
    effect, because = judged.effect, judged.because
    if because is Because.UNTESTABLE:
        return effect.untestable
    if because is Because.FEW_CASES:
        return f"There are only {effect.count} cases, which is too few."
    if effect.twin is not None and because in (Because.TWIN_TOO_WIDE, Because.TWIN_HOLDS_0, Because.TWIN_TOO):
        return _beside_twin(because, effect.twin, said)
    if effect.rule is not None and because in (Because.RULE_TOO, Because.RULE_OPEN):
        return _beside_rule(because, effect.rule, said)
    if because in (Because.SMALL, Because.PERHAPS_SMALL):
        return _small(effect, because, said)
    return _by_size(effect, because, said) if because in _CLEAR else _unclear(effect, because, said)


_CLEAR = frozenset(
    {Because.NOTHING_PUBLISHED, Because.BELOW_PUBLISHED, Because.ABOVE_PUBLISHED, Because.HOLDS_PUBLISHED}
)


def _beside_rule(because: Because, rule: BesideRule, said: Wording) -> str:
    told = f"{said.name} is clearly above 0."
    if because is Because.RULE_OPEN:
        return (
            f"{told} Whether the model is better than a simple rule stays open: model minus rule is {said.ends(rule)}, "
            f"and {said.number(rule.bound)} would count."
        )
    does = "is right more often" if rule.high < 0 else "is right about as often"
    return f"{told} But a simple rule {does}: model minus rule is {said.ends(rule)}."


def _small(effect: Effect, because: Because, said: Wording) -> str:
    side, least, near = ("above", effect.bound, effect.high)
    if effect.estimate < 0:
        side, least, near = ("below", -effect.bound, effect.low)
    while said.number(least) == said.number(near) and near != least:
        said = replace(said, digits=said.digits + 1)
    told = f"{said.name} is clearly {side} 0, but nearer to 0 than {said.number(least)}, the smallest that would count"
    reaches = "reaches it" if because is Because.PERHAPS_SMALL else "does not reach it"
    return f"{told}. Its interval, {said.ends(effect)}, {reaches}."


def _by_size(effect: Effect, because: Because, said: Wording) -> str:
    clear = f"{said.name} is clearly above 0"
    if effect.published is None:
        return f"{clear}."
    beside = {
        Because.BELOW_PUBLISHED: f"and at most {said.number(effect.high)}",
        Because.ABOVE_PUBLISHED: f"and at least {said.number(effect.low)}",
        Because.HOLDS_PUBLISHED: f"with an interval {said.ends(effect)}",
    }[because]
    return f"{clear}, {beside}. The paper’s effect is {said.number(effect.published)}."


def _unclear(effect: Effect, because: Because, said: Wording) -> str:
    ends, counts = said.ends(effect), said.number(effect.counts)
    what = "the smallest effect that would count" if effect.published is None else "the published effect"
    not_clear = f"{said.name} is not clearly above 0 (p = {effect.p:.2g}, corrected for the number of claims)."
    return {
        Because.TOO_WIDE: f"The 95 % interval, {ends}, is too wide: {counts} is {what}.",
        Because.REACHES: f"{not_clear} But its interval, {ends}, reaches {counts}, {what}.",
        Because.BELOW_0: f"{said.name} is clearly below 0, with an interval {ends}.",
        Because.TWIN_BELOW_TOO: (
            f"{said.name} is below 0, with an interval {ends}, but not clearly below the untrained twin’s. So the "
            "training may not be its cause."
        ),
        Because.NO_DRAW_DIFFERS: (
            f"{said.name} is {said.number(effect.estimate)} in every random draw of cases, so no case suggests another "
            "value."
        ),
        Because.NOT_CLEAR: f"{not_clear} With 95 % confidence, it is at most {said.number(effect.high)}.",
    }[because]


def _beside_twin(because: Because, twin: TwinEffect, said: Wording) -> str:
    told = f"{said.name} is clearly above 0, but not clearly above the untrained twin’s (p = {twin.p:.2g})."
    ends = said.ends(twin)
    if because is Because.TWIN_TOO_WIDE:
        return f"{told} The twin’s own interval, {ends}, is too wide for a comparison."
    if because is Because.TWIN_HOLDS_0:
        return f"{told} The twin’s own interval, {ends}, contains 0."
    return f"{told} The twin clearly has the effect, too, with an interval {ends}."
