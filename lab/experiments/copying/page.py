"""How does copying work? The page: what is asked, drawn and said of the result, and one sequence token by token."""

from __future__ import annotations

from functools import partial
from math import log

import numpy as np
import streamlit as st

from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.lines import lines
from lab.course.words import escaped, head_name, signed
from lab.evidence.verdicts import HOLDS
from lab.experiments.copying.induction import MEAN, ZERO, Distance, copying
from lab.experiments.copying.measure import (
    BEST,
    BOTH,
    BOUND,
    DRAWS,
    MEASUREMENT,
    PERIOD,
    SOURCE,
    TEXTS,
    CopyingRow,
    CopyingTest,
    result,
)
from lab.experiments.copying.sequence import show_sequence
from lab.models.loading import LoadedModel
from lab.questions.bets import Belief, Bet, between
from lab.questions.question import Right
from lab.ui import parameters
from lab.ui.experiments.claim_table import NOTHING, ClaimLine, with_ends
from lab.ui.experiments.experiment import Experiment, show_reason

# The claim's names for the ablated heads.
AWAY = {BEST: "the best induction head", SOURCE: "the head it depends on", BOTH: "both of them"}
# Below the first share of its attention in a repetition, the head hardly looks; above the second, it looks as much.
_FEW_TO_ALL = (0.25, 0.75)
# Shares of the way from the loss of a model with all tokens equally likely (0) to a loss of 0 nats (1).
_WEAK, _WELL = 0.25, 0.75
BET = Bet(
    "position",
    "In a text that repeats itself, the best head looks at the token that came next last time. How does it find that "
    "token?",
    (
        Belief(
            "It counts tokens back",
            "The second copy begins at a fixed distance, and many heads look at a fixed distance.",
            "it would look at that distance just as much in a text without repetition",
        ),
        Belief(
            "It looks for what came after the same token",
            "Only the same token shows how to go on, however far back it first occurred.",
            "it would hardly look at that distance in a text without repetition",
        ),
    ),
)


def decided(found: CopyingTest) -> Right | None:
    """Answer from the control for position, unless the head gives about half as much or the control is missing."""
    place = position(found)
    if place is None:
        return None
    repeated, fresh = float(place.repeated.mean()), float(place.fresh.mean())
    told = (
        f"In a text without repetition, the head gives {fresh:.2f} of its attention to that distance; in a text with "
        f"repetition, it gives {repeated:.2f}."
    )
    option = between((fresh / repeated, fresh / repeated), _FEW_TO_ALL)
    return None if option == 1 else (0 if option == 2 else 1, told)


def position(found: CopyingTest) -> Distance | None:
    """Find the control for position at the period of the other measurements; None if it was not measured."""
    return next((each for each in found.distances if each.period == found.period and each.repeated.mean() > 0), None)


# The figures: they need nothing but the model, so a notebook can draw them again.


def loss_chart(model: LoadedModel) -> Figure:
    """Draw the loss of each token of the second copy with all heads and without some, as a mean over the texts of B. A
    head that is away writes its mean. The experiment runs unless its result ships or is known already. Raises
    ValueError for a model that the experiment cannot test.
    """
    found = result(model)
    each = [run for kind in (BEST, SOURCE, BOTH) if (run := found.run(kind, MEAN))]
    series = {"all heads": found.plain.by_place}
    series |= {"neither" if run.kind == BOTH else f"no {run.name}": run.by_place for run in each}
    series["without a random head"] = np.mean([run.by_place for run in found.random(1, MEAN)], axis=0)
    second = {name: losses[found.period :] for name, losses in series.items()}
    # The loss, at every place, of a model that gives all tokens of the vocabulary the same probability.
    second["all alike"] = np.full(found.period - 1, found.alike)
    return lines(
        second,
        AxisPlaces("Token of the second copy", range(2, found.period + 1)),
        Scale("Loss, nats", format=".2f"),
        title=f"How well {model.id} copies, with and without its heads",
    )


# What is said.


def meaning_of(found: CopyingTest, model_id: str) -> str:
    """Say how well the model copies, what it loses without the best head, and whether both heads are as claimed."""
    best = found.rows[0]
    random = float(np.mean([control.rise for control in found.controls(1, MEAN)]))
    said = (
        f"{_copies(found, model_id)} Without {head_name(found.best)} the loss of the second copy rises by "
        f"{signed(best.mean.rise)}; without a random head it rises by {signed(random)}."
    )
    held = [row for row in found.rows if row.judged.verdict in HOLDS]
    if len(held) == len(found.rows) > 1 and found.source is not None:
        return (
            f"{said} {head_name(found.source).capitalize()} gives {found.previous[found.source]:.2f} of its attention "
            "to the previous token. So two such heads are there, and the model copies with them."
        )
    return f"{said} Of the {len(found.rows)} removals in the table, {len(held)} cost what the claim says."


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


def _second(found: CopyingTest) -> float:
    return float(found.plain.second.mean())


def line(found: CopyingTest, row: CopyingRow) -> ClaimLine:
    """Return one removal as a line of the table."""
    effect = row.judged.effect
    both = (("at 0", row.zero), ("at their mean", row.mean))
    ways = " and ".join(f"by {with_ends(each.rise, each.low, each.high)} {name}" for name, each in both)
    decides = "0" if row.decides == ZERO else "their mean"
    return ClaimLine(
        f"Without {AWAY[row.kind]} ({row.name}), the model copies worse",
        NOTHING,
        f"{with_ends(effect.estimate, effect.low, effect.high)} nats beyond random heads, at {decides}. The loss "
        f"rises {ways}",
        NOTHING if row.twin is None or effect.twin is None else with_ends(row.twin, effect.twin.low, effect.twin.high),
        effect.count,
        row.judged,
    )


def what_a_loss_is(vocabulary: int) -> str:
    """Explain the measure, and its value for a model that knows nothing."""
    return (
        "The **loss** is −ln of the probability that the model gave the right next token. It is measured in "
        "**nats**, and a lower loss is better. A model that gives every token the same probability has a loss of "
        f"{log(vocabulary):.1f}."
    )


# The page.


TESTED = "lab-gpt2"  # a model that ships with the lab, and that the experiment can test


def show_untestable(model: LoadedModel, reason: str) -> None:
    """Draw the reason why a model cannot be tested, and the way to one that can."""
    show_reason(model, reason)
    st.button(
        f"Choose {TESTED}",
        icon=":material/swap_horiz:",
        key="_experiment_model",
        on_click=parameters.MODEL.set,
        args=(TESTED,),
    )


def method(model: LoadedModel) -> str:
    """Say in full how the claim is tested on a model."""
    period = min(PERIOD, model.config.max_tokens // 2)
    return (
        f"Each of {TEXTS} texts consists of {period} random tokens, followed by the same tokens again. A model cannot "
        "guess the "
        "tokens of the first copy, but it can copy them in the second. A head’s **induction score** is the mean "
        "weight that it gives to the token that followed the current token last time. Its **previous-token score** is "
        "the mean weight that it gives to the previous token. On half **A** of the texts two heads are chosen: the "
        "**best "
        "induction head**, with the highest induction score, and the earlier head whose removal lowers that score "
        "most. On half **B** the lab removes each of the two heads, and then both. A removed head writes 0, or its "
        "mean over the text. As controls, the lab removes other single heads and other pairs of heads. If there are "
        f"more than {DRAWS} of them, {DRAWS} are drawn at random.\n\n"
        f"{what_a_loss_is(model.config.vocabulary)}"
    )


def caption(_: LoadedModel, found: CopyingTest) -> str:
    """Say what the lines of the figure are."""
    return (
        "The **loss** says how unlikely the model found the right token, so a lower loss is better. In the line **no "
        f"{found.rows[0].name}**, the output of {head_name(found.best)} is replaced by its mean. In the line **all "
        "alike**, every token gets the same probability."
    )


NOTE = (
    "The loss is taken over the second copy without its first token, in nats. Intervals are from 50,000 draws of "
    "the texts of half B, with the random heads held fixed. The paper reports no such figure."
)
EXPERIMENT = Experiment(
    measurement=MEASUREMENT,
    show_untestable=show_untestable,
    bet=lambda _: BET,
    decided=decided,
    takes=lambda _: "The measurement takes half a minute for a small model and a few minutes for GPT-2.",
    help="The model reads the texts again without each earlier head, then without the chosen heads and random heads.",
    figure=lambda model, _: partial(loss_chart, model),
    name="copying-loss",
    caption=caption,
    meaning=meaning_of,
    claims=lambda found: [line(found, row) for row in found.rows],
    note=NOTE,
    method=method,
    rule=(
        "The effect is the rise of the loss without these heads minus the mean rise without random heads. Heads are "
        "removed in two ways. The smaller effect counts, and the loss must clearly rise in both ways. The paper "
        f"reports no such figure, so an effect counts if it is at least {BOUND} nats."
    ),
    data="texts",
    cases="One sequence, token by token",
    show_cases=show_sequence,
    code=(copying,),
)
