"""What the result of the experiment about copying says, in words that its numbers choose."""

from __future__ import annotations

from math import log

from lab.course.guesses import Answer, Ask, between
from lab.course.words import escaped, signed
from lab.experiments.copied import AWAY, BEST, BOTH, DRAWS, CopyingTest, Row
from lab.experiments.intervals import mean_interval
from lab.experiments.verdicts import Verdict
from lab.models.interventions import Head

# Nats. A rise between two of them is an answer to the question how much.
_EDGES = (0.1, 1.0, 3.0)
_STAYS = 0.1
# Of the way from giving every token the same to losing nothing.
_WEAK, _WELL = 0.25, 0.75
ASKS = (
    Ask(
        "best",
        "The head with the highest induction score is taken away. How much does the mean loss of the second copy rise?",
        ("less than 0.1 nats", "0.1 to 1", "1 to 3", "more than 3"),
    ),
    Ask(
        "random",
        f"Each of the other heads is taken away alone instead, {DRAWS} at random where there are more. How many of "
        "these raise the loss as much, or more?",
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
    """How well the model copies, what the two heads do, what each absence costs, and which other head costs as much."""
    costs = [*(_cost(row) for row in found.rows), *_together(found), *_random(found)]
    return "\n\n".join([_copies(found, model_id, vocabulary), _looks(found), " ".join(costs)])


def _looks(found: CopyingTest) -> str:
    """Where the two heads look, and whether that is what the claim says of them."""
    best, source = found.best, found.source
    said = f"Head {_name(best)} gives {found.induction[best]:.2f} of its attention to what came next last time"
    if source is None:
        return f"{said}. It stands in the first layer, so no earlier head can help it."
    rank = 1 + int((found.previous > found.previous[source]).sum())
    place = "the most of all" if rank == 1 else f"number {rank} of all"
    told = (
        f"{said}. Head {_name(source)} gives {found.previous[source]:.2f} to the token before, {place} "
        f"{found.previous.size} heads."
    )
    if rank > 1 or any(row.judged.verdict is not Verdict.SAME for row in found.rows):
        return told
    return (
        f"{told} So they can work together as the claim says: {_name(source)} tells each token what stood before it, "
        f"and {_name(best)} looks for the token that had the current one before it."
    )


def _name(head: Head) -> str:
    return f"{head[0] + 1}-{head[1] + 1}"


def _together(found: CopyingTest) -> list[str]:
    """What it says that the loss rises further, or stays, when the second head goes after the first."""
    one, both, source = found.run(BEST), found.run(BOTH), found.source
    if one is None or both is None or source is None:
        return []
    more = both.second - one.second
    low, high = mean_interval(more).tolist()
    side = between((low, high), (-_STAYS, _STAYS))
    away = f"Where {one.name} is away already, taking {_name(source)} as well"
    if side == 1:
        return [f"{away} changes next to nothing: its help goes through {one.name}."]
    if side == 2:
        return [f"{away} costs {signed(more.mean())} more. So {_name(source)} does not serve {one.name} alone."]
    return []


def _copies(found: CopyingTest, model_id: str, vocabulary: int) -> str:
    first = float(found.plain.by_place[: found.period - 1].mean())
    second, alike = _second(found), log(vocabulary)
    name = escaped(model_id)
    losses = f"Its mean loss is {first:.1f} nats in the first copy and {second:.1f} in the second"
    if second >= first:
        return f"**{name} does not copy.** {losses}."
    if second >= alike:
        return (
            f"**{name} copies next to nothing.** {losses}. That is no better than giving every token the same, "
            f"{alike:.1f}."
        )
    share = (alike - second) / alike
    how = "weakly" if share < _WEAK else "in part" if share < _WELL else "well"
    return (
        f"**{name} copies {how}.** {losses}. The second is {alike - second:.1f} below that of a model that gives every "
        f"token the same, {alike:.1f}."
    )


def _cost(row: Row) -> str:
    clear = row.judged.verdict is Verdict.SAME
    compared = "clearly more than" if clear else "not clearly more than"
    random = "a random head is" if len(row.run.heads) == 1 else "two random heads are"
    return (
        f"Without {AWAY[row.run.kind]} ({row.run.name}) the second loss rises by {signed(row.rise)}, {compared} when "
        f"{random} taken away ({signed(row.rise - row.beyond)} on average)."
    )


def _random(found: CopyingTest) -> list[str]:
    """The random head whose absence costs most, where that is more than half of what the best one's does."""
    most = max(found.controls(1), key=lambda control: control.rise)
    (head,) = most.run.heads
    best = found.rows[0]
    if best.judged.verdict is not Verdict.SAME or most.rise < best.rise / 2:
        return []
    score, other = found.induction[head], found.induction[found.best]
    said = f"One of the random heads, {most.run.name}, costs {signed(most.rise)}"
    if score >= other / 2:
        return [f"{said}: its induction score is {score:.2f}, so it looks like an induction head itself."]
    return [f"{said}, though its induction score is only {score:.2f}."]


def basis(model_id: str, vocabulary: int, found: CopyingTest | None) -> str:
    """What has to be known before anything can be predicted: what a loss is, and where it starts."""
    start = "" if found is None else f" With all heads, the mean loss of the second copy is {_second(found):.1f}."
    return (
        f"{escaped(model_id)} reads from left to right and guesses the next token. Its **loss** is −ln of the "
        "probability that it gave the right one, in **nats**: the lower, the better. A model that gives every token "
        f"the same has {log(vocabulary):.1f}.{start}"
    )


def _second(found: CopyingTest) -> float:
    return float(found.plain.second.mean())


def verdicts(found: CopyingTest) -> str:
    """The verdict of each row and its reason, as a list; rows with the same stand together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for row in found.rows:
        key = (row.judged.verdict.value.capitalize(), row.judged.why)
        alike.setdefault(key, []).append(f"{AWAY[row.run.kind]} ({row.run.name})")
    return "\n".join(f"- **{verdict}**: {', '.join(rows)}. {why}" for (verdict, why), rows in alike.items())


def bias_of(found: CopyingTest) -> str:
    """What choosing the best head on A flattered: its score there and on B."""
    on_a, on_b = found.chosen_on[found.best], found.induction[found.best]
    said = f"The best head’s induction score is {on_a:.3f} on A, where it was chosen, and {on_b:.3f} on B"
    if on_a > on_b:
        return f"{said}. The difference is selection bias: the best of many is best by luck, too."
    return f"{said}: choosing flattered nothing that one could see."
