"""What the result of the experiment about copying says, in words that its numbers choose."""

from __future__ import annotations

from math import log

from lab.course.guesses import Answer, Ask, between
from lab.course.words import escaped
from lab.experiments.copied import AWAY, BEST, BOTH, DRAWS, CopyingTest, Row
from lab.experiments.intervals import mean_interval
from lab.experiments.verdicts import Verdict

# Nats. A rise between two of them is an answer to the question how much.
_EDGES = (0.1, 1.0, 3.0)
_STAYS = 0.1
ASKS = (
    Ask(
        "best",
        "The head with the highest induction score is taken away. How much does the mean loss of the second copy rise?",
        ("less than 0.1 nats", "0.1 to 1", "1 to 3", "more than 3"),
    ),
    Ask(
        "random",
        f"A random head is taken away instead, {DRAWS} times. How many of these raise the loss as much, or more?",
        ("none", "up to half", "more than half"),
    ),
    Ask(
        "both",
        "With the best head away, the earlier head that it depends on most goes, too. What does the loss do?",
        ("rises further", "stays, within 0.1 nats", "falls back"),
    ),
)


def answers(found: CopyingTest) -> dict[str, Answer]:
    """The answers by the result; where an interval reaches into two options, there is none."""
    best, alike, drawn = found.rows[0], _alike(found), len(found.random(1))
    given = {"random": Answer(0 if not alike else 1 if 2 * alike <= drawn else 2, f"It is {alike} of {drawn}.")}
    if (option := between((best.low, best.high), _EDGES)) is not None:
        given["best"] = Answer(
            option, f"It rises by {best.rise:.2f} nats, {best.low:.2f} to {best.high:.2f} with 95 %."
        )
    one, both = found.run(BEST), found.run(BOTH)
    if one and both:
        more = both.second - one.second
        low, high = mean_interval(more).tolist()
        option = between((low, high), (-_STAYS, _STAYS))
        if option is not None:
            why = (
                f"Beyond the best head alone it changes by {more.mean():+.2f} nats, {low:.2f} to {high:.2f} with 95 %."
            )
            given["both"] = Answer(2 - option, why)
    return given


def _alike(found: CopyingTest) -> int:
    """How many of the random heads raise the loss as much as the best induction head."""
    return sum(control.rise >= found.rows[0].rise for control in found.controls(1))


def meaning_of(found: CopyingTest, model_id: str, vocabulary: int) -> str:
    """Whether the model copies at all, what each absence costs, and which of the random heads costs as much."""
    said = [_copies(found, model_id, vocabulary), *(_cost(row) for row in found.rows)]
    source = found.source
    if source is None:
        said.append("The best head stands in the first layer, so no earlier head can help it.")
    else:
        rank = 1 + int((found.previous > found.previous[source]).sum())
        said.append(
            f"The previous-token score of head {source[0] + 1}-{source[1] + 1} is {found.previous[source]:.2f}, number "
            f"{rank} of all {found.previous.size} heads."
        )
    return " ".join([*said, *_random(found)])


def _copies(found: CopyingTest, model_id: str, vocabulary: int) -> str:
    first = float(found.plain.by_place[: found.period - 1].mean())
    second, alike = float(found.plain.second.mean()), log(vocabulary)
    gain = f"The loss of {escaped(model_id)} goes from {first:.1f} nats in the first copy to {second:.1f} in the second"
    if second >= first:
        return f"{gain}: it does not copy."
    if second >= alike:
        return f"{gain}, and that is no better than giving every token the same, {alike:.1f}."
    return f"{gain}; a model that gives every token the same has {alike:.1f}."


def _cost(row: Row) -> str:
    clear = row.judged.verdict is Verdict.SAME
    compared = "clearly more than" if clear else "not clearly more than"
    return (
        f"Without {AWAY[row.run.kind]} ({row.run.name}) it rises by {row.rise:.2f}, {compared} without random heads "
        f"({row.rise - row.beyond:.2f})."
    )


def _random(found: CopyingTest) -> list[str]:
    """The random head whose absence costs most, where that is more than half of what the best one's does."""
    most = max(found.controls(1), key=lambda control: control.rise)
    (head,) = most.run.heads
    best = found.rows[0]
    if best.judged.verdict is not Verdict.SAME or most.rise < best.rise / 2:
        return []
    score, other = found.induction[head], found.induction[found.best]
    said = f"One of the random heads, {most.run.name}, costs {most.rise:.2f}"
    if score >= other / 2:
        return [f"{said}: its induction score is {score:.2f}, so it looks like an induction head itself."]
    return [f"{said}, though its induction score is only {score:.2f}."]


def bias_of(found: CopyingTest) -> str:
    """What choosing the best head on A flattered: its score there and on B."""
    on_a, on_b = found.chosen_on[found.best], found.induction[found.best]
    said = f"The best head’s induction score is {on_a:.3f} on A, where it was chosen, and {on_b:.3f} on B"
    if on_a > on_b:
        return f"{said}. The difference is selection bias: the best of many is best by luck, too."
    return f"{said}: choosing flattered nothing that one could see."
