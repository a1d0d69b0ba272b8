"""The result of the experiment about copying, in words chosen by its numbers; and the questions before it."""

from __future__ import annotations

from math import log

import numpy as np

from lab.course.heads import head_name, listed
from lab.course.words import escaped, signed
from lab.evidence.intervals import mean_interval
from lab.evidence.verdicts import HOLDS
from lab.experiments.copying.induction import MEAN, ZERO, Distance
from lab.experiments.copying.measure import AWAY, BEST, BOTH, DRAWS, CopyingTest
from lab.models.interventions import Head
from lab.questions.guesses import between
from lab.questions.question import Right, open_question

_STAYS = 0.1  # nats; up to this change, we say that a loss stays the same
# Shares of the way from the loss of a model with all tokens equally likely (0) to a loss of 0 nats (1).
_WEAK, _WELL = 0.25, 0.75
ASKS = (
    open_question(
        "random",
        "Remove the head that looks for the token that came next last time. Then remove other heads instead, up to "
        f"{DRAWS}, one at a time. How many of these other heads turn out to be at least as important?",
        ("none", "up to half", "more than half"),
    ),
    open_question(
        "position",
        "Does that head just count tokens back? In a text without repetition, how much attention does it give to the "
        "token at the same distance?",
        ("as much", "about half as much", "hardly at all"),
    ),
)


def answers(found: CopyingTest) -> dict[str, Right]:
    """Answer the questions from the result; a question that the result leaves open has no answer."""
    alike, drawn = _alike(found), len(found.random(1, MEAN))
    given = {
        "random": (
            0 if not alike else 1 if 2 * alike <= drawn else 2,
            f"{alike} of {drawn} random heads raise the loss at least as much.",
        )
    }
    if (place := position(found)) is not None:
        repeated, fresh = float(place.repeated.mean()), float(place.fresh.mean())
        option = between((fresh / repeated, fresh / repeated), (0.25, 0.75)) or 0
        why = f"the head gives {fresh:.2f} of its attention to that place, and {repeated:.2f} in repeated text."
        given["position"] = (2 - option, why)
    return given


def position(found: CopyingTest) -> Distance | None:
    """Find the control for position at the period of the other measurements; None if it was not measured."""
    return next((each for each in found.distances if each.period == found.period and each.repeated.mean() > 0), None)


def _alike(found: CopyingTest) -> int:
    """Count the random heads that raise the loss as much as the best induction head does, each replaced by its mean."""
    return sum(control.rise >= found.rows[0].mean.rise for control in found.controls(1, MEAN))


def meaning_of(found: CopyingTest, model_id: str) -> str:
    """Say how well the model copies, and how the loss rises without the best head, a random head, and both heads."""
    best, both = found.rows[0], found.run(BOTH, MEAN)
    said = (
        f"{_copies(found, model_id)} Without {head_name(found.best)} the loss of the second copy rises by "
        f"{signed(best.mean.rise)}; without a random head it rises by {signed(_random_rise(found, MEAN))}."
    )
    if both is None or found.source is None:
        return said
    rise = float((both.second - found.plain.second).mean())
    return f"{said} If its helper, {head_name(found.source)}, is taken away as well, the loss rises by {signed(rise)}."


def _random_rise(found: CopyingTest, ablation: str) -> float:
    return float(np.mean([control.rise for control in found.controls(1, ablation)]))


def in_full(found: CopyingTest) -> str:
    """State the rise if heads write 0, the largest possible rise, both heads' looks, the rise without both, caveats."""
    best = found.rows[0]
    at_0 = (
        f"When head {best.name} writes 0 instead of its mean, the loss rises by {signed(best.zero.rise)}; when a "
        f"random head does, it rises by {signed(_random_rise(found, ZERO))}."
    )
    parts = [at_0, _bounded(found), _looks(found), _by_position(found), *_together(found), *_random(found)]
    return "\n\n".join(part for part in parts if part)


def _bounded(found: CopyingTest) -> str:
    """State the largest rise that lost copying can explain; if the head writes 0, the rise may be larger."""
    beyond = [row for row in found.rows if row.zero.rise > found.most_lost]
    said = (
        f"A model that copies nothing and gives every token the same probability has a loss of {found.alike:.2f}. So "
        f"losing all copying costs at most **{found.most_lost:.2f} nats**."
    )
    if not beyond:
        return said
    names = " and ".join(f"{row.name} ({signed(row.zero.rise)})" for row in beyond)
    return (
        f"{said} Here, a head that writes 0 costs even more: {names}. Part of this cost has nothing to do with "
        "copying: the layers above get a vector that they never met in training. The mean disturbs them less, and "
        "the verdict uses the smaller effect."
    )


def _by_position(found: CopyingTest) -> str:
    """Say whether the best head looks for a token or for a distance."""
    place = position(found)
    if place is None:
        return ""
    repeated, fresh = place.repeated.mean(), place.fresh.mean()
    said = (
        f"In random text without a repetition, head {_name(found.best)} gives {fresh:.2f} of its attention to the "
        f"token at that distance, and {repeated:.2f} in repeated text"
    )
    return f"{said}: it looks for the token, not for the distance." if repeated > 2 * fresh else f"{said}."


def _looks(found: CopyingTest) -> str:
    """Say where the two heads look, and whether this agrees with the claim."""
    best, source = found.best, found.source
    said = f"Head {_name(best)} gives {found.induction[best]:.2f} of its attention to the token that followed last time"
    if source is None:
        return f"{said}. It is in the first layer, so no earlier head can help it."
    rank = 1 + int((found.previous > found.previous[source]).sum())
    place = "the most of all" if rank == 1 else f"number {rank} of all"
    told = (
        f"{said}. Head {_name(source)} gives {found.previous[source]:.2f} of its attention to the token before: "
        f"{place} {found.previous.size} heads."
    )
    if rank > 1 or any(row.judged.verdict not in HOLDS for row in found.rows):
        return told
    return (
        f"{told} So the two heads can work together as the claim says: {_name(source)} tells each token which token "
        f"came before it, and {_name(best)} looks for a token that came after the current one."
    )


def _name(head: Head) -> str:
    return f"{head[0] + 1}-{head[1] + 1}"


def _together(found: CopyingTest) -> list[str]:
    """Say whether the loss rises further when the second head, after the first, is replaced by its mean.

    If the model already copies nothing without the first head, a further rise says nothing about copying.
    """
    one, both, source = found.run(BEST, MEAN), found.run(BOTH, MEAN), found.source
    if one is None or both is None or source is None:
        return []
    away = f"Without {one.name}, taking {_name(source)} away as well"
    more = both.second - one.second
    low, high = mean_interval(more).tolist()
    side = between((low, high), (-_STAYS, _STAYS))
    if side == 1:
        return [f"{away} hardly changes the loss: {_name(source)} helps by way of {one.name}."]
    if max(one.second.mean(), both.second.mean()) >= found.alike:
        return [
            f"{away} tells us nothing about copying: the model then copies no better than a model that gives every "
            "token the same probability."
        ]
    if side == 2:
        return [f"{away} costs {signed(more.mean())} more. So {_name(source)} does more than help {one.name}."]
    return []


def _copies(found: CopyingTest, model_id: str) -> str:
    """Say whether the model copies, by its loss in the second copy."""
    first, second, alike = _first(found), _second(found), found.alike
    name = escaped(model_id)
    if second >= first:
        return f"**{name} does not copy:** its loss is {second:.1f} in the second copy and {first:.1f} in the first."
    if second >= alike:
        return (
            f"**{name} copies almost nothing:** its loss in the second copy is {second:.1f}, no lower than the loss of "
            f"a model that gives every token the same probability, {alike:.1f}."
        )
    share = (alike - second) / alike
    how = "weakly" if share < _WEAK else "in part" if share < _WELL else "well"
    return f"**{name} copies {how}:** its loss falls from {first:.1f} in the first copy to {second:.1f} in the second."


def _first(found: CopyingTest) -> float:
    return float(found.plain.by_place[: found.period - 1].mean())


def _random(found: CopyingTest) -> list[str]:
    """Name the random head without which the loss rises most, if it rises at least half as much as without the best."""
    most = max(found.controls(1, MEAN), key=lambda control: control.rise)
    (head,) = most.run.heads
    best = found.rows[0]
    if best.judged.verdict not in HOLDS or most.rise < best.mean.rise / 2:
        return []
    score, other = found.induction[head], found.induction[found.best]
    said = f"Removing one of the random heads, {most.run.name}, costs {signed(most.rise)}"
    if score >= other / 2:
        return [f"{said}: its induction score is {score:.2f}, so it looks like an induction head itself."]
    return [f"{said}, though its induction score is only {score:.2f}."]


def what_a_loss_is(vocabulary: int) -> str:
    """Explain the measure, and its value for a model that knows nothing."""
    return (
        "The **loss** is −ln of the probability that the model gave the right next token, in **nats**: the lower, the "
        f"better. A model that gives every token the same probability has a loss of {log(vocabulary):.1f}."
    )


def _second(found: CopyingTest) -> float:
    return float(found.plain.second.mean())


def verdict_of(found: CopyingTest) -> str:
    """Name the verdict on each removal in one line; removals with the same verdict are named together."""
    alike: dict[str, list[str]] = {}
    for row in found.rows:
        alike.setdefault(row.judged.verdict.value, []).append(AWAY[row.kind])
    return " ".join(f"Without {listed(away)}: **{verdict}**." for verdict, away in alike.items())


def verdicts(found: CopyingTest) -> str:
    """List the verdict of each row and its reason; rows with the same verdict are together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for row in found.rows:
        key = (row.judged.verdict.value.capitalize(), row.judged.why)
        alike.setdefault(key, []).append(f"{AWAY[row.kind]} ({row.name})")
    return "\n".join(f"- **{verdict}**: {', '.join(rows)}. {why}" for (verdict, why), rows in alike.items())


def bias_of(found: CopyingTest) -> str:
    """Compare the best head's score on A, where it was chosen, with its score on B."""
    on_a, on_b = found.chosen_on[found.best], found.induction[found.best]
    said = f"The best head’s induction score is {on_a:.3f} on A, where it was chosen, and {on_b:.3f} on B"
    if on_a > on_b:
        return f"{said}. The difference is selection bias: the best of many heads is partly lucky."
    return f"{said}: there is no visible bias from choosing the best head."
