"""Parked heads: a head that finds nothing must still spend its attention. Does the model need such a head?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.flow.maps import layer_map
from lab.analysis.heads import parked
from lab.analysis.heads.parked import PARKED, effect_sizes, parked_share
from lab.analysis.heads.values import Values, keep_others, places_left_out
from lab.analysis.ranks import rank_correlation
from lab.course.words import beside, capital, head_name, in_words, listed, number_of, resting_place, signed
from lab.figures.parked import parked_and_worth, parked_shares
from lab.lessons.attention_metrics import LESSON, SHARES
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Question
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import HEAD, LAYER, MEAN, OFF
from lab.ui.quiz.predictions import predict
from lab.ui.shared.heads_off import may_run
from lab.ui.shared.one_head import OneHead
from lab.ui.terms import say

_TOP = 10  # heads without which most changes
# Of ten heads, chance alone would put 2 to 8 into either half in 98 of 100 cases; with 2 or 8, nothing is asked.
_FEW, _MANY = 1, 9
_SMALL = 0.005  # a number below this limit rounds to less than 0.01


def correlation(trace: Trace, to_mean: bool = False) -> tuple[float, float]:
    """Spearman's ρ of parked share and change over all heads, and its limit for shuffled numbers in 19 of 20 cases.

    For n things with unrelated numbers, ρ has the standard deviation 1/√(n − 1). ρ is nan for so few heads, as in a
    toy, that no ρ would be beyond the limit.
    """
    shares = parked_share(trace)
    band = 1.96 / math.sqrt(max(shares.size - 1, 1))
    if band >= 1:
        return math.nan, band
    return rank_correlation(shares, effect_sizes(trace, None, None, to_mean)), band


def within_layers(trace: Trace, to_mean: bool = False) -> tuple[float, float]:
    """The mean over layers of Spearman's ρ inside a layer, and its limit for shuffled numbers in 19 of 20 cases.

    Layers with fewer than three heads, or with the same number everywhere, do not count; nan if no other is left.
    """
    shares, effects = parked_share(trace), effect_sizes(trace, None, None, to_mean)
    each = [rank_correlation(*pair) for pair in zip(shares, effects, strict=True) if len(pair[0]) > 2]
    known = [rho for rho in each if not math.isnan(rho)]
    if not known:
        return math.nan, math.nan
    return float(np.mean(known)), 1.96 / math.sqrt(len(known) * (shares.shape[1] - 1))


@dataclass(frozen=True)
class MostNeeded:
    """Where the heads are without which most changes.

    Attributes
    ----------
    top
        The number of these heads, at most :data:`_TOP`.
    parking
        How many of them are in the half of all heads that parks more.
    middle
        The share that half of the heads park.
    """

    top: int
    parking: int
    middle: float


def needed(trace: Trace, to_mean: bool = False) -> MostNeeded:
    """Find the heads without which the last vectors move most, and count those that park more than half of all do."""
    shares, effects = parked_share(trace).ravel(), effect_sizes(trace, None, None, to_mean).ravel()
    top, middle = min(_TOP, shares.size // 2), float(np.median(shares))
    most = np.argsort(-effects, kind="stable")[:top]
    return MostNeeded(top, int((shares[most] > middle).sum()), middle)


def said(trace: Trace, to_mean: bool = False) -> str:
    """Say how many of the heads without which most changes are in the half that parks more."""
    if parked_share(trace).size < 2 * _TOP:
        return compared(trace, to_mean)
    found = needed(trace, to_mean)
    told = (
        f"Of the {in_words(found.top)} heads whose removal changes the vectors most, **{found.parking or 'none'}** "
        f"{'is' if found.parking == 1 else 'are'} in the half of the heads that parks more."
    )
    if found.parking <= _FEW:
        return f"{told} Here, the model hardly needs the heads that park."
    if found.parking >= _MANY:
        return f"{told} Here, the model needs the heads that park most."
    chance = f"By chance, it would be about {in_words(found.top // 2)}."
    return f"{told} {chance} So how much a head parks says little about whether the model needs it."


def compared(trace: Trace, to_mean: bool = False) -> str:
    """Compare heads that park with the others by the change without a head, and draw no conclusion."""
    return parked_against_busy(parked_share(trace), effect_sizes(trace, None, None, to_mean), trace)


def parked_against_busy(shares: Values, effects: Values, trace: Trace) -> str:
    """Compare heads that park with the others: ``shares`` and ``effects``, (L, H) each."""
    where, parks = resting_place(trace), shares > PARKED
    if keep_others(trace) is None:
        return "This text has no words besides the tokens on which heads park. Write a longer text."
    if not parks.any():
        most = np.unravel_index(int(shares.argmax()), shares.shape)
        at: Head = (int(most[0]), int(most[1]))
        return (
            f"No head sends more than {PARKED:.0%} of the words’ attention to {where}. {capital(head_name(at))} comes "
            f"nearest ({shares[at]:.2f}). Without this head, the vectors move by {_size(effects[at])} of their "
            f"length. The mean over all heads is {_size(effects.mean())}."
        )
    if parks.all():
        return f"All {parks.size} heads park on {where}, so there is no other head to compare them with."
    return (
        f"{number_of(int(parks.sum()), 'head')} of {parks.size} park on {where}. Without one of these heads, the "
        f"vectors move by {_typical(effects[parks])}. Without one of the other heads, they move by "
        f"{_typical(effects[~parks])}."
    )


def _typical(effects: Values) -> str:
    """State the mean and the largest of some effects, in one phrase if both are small."""
    if 0 < effects.max() < _SMALL:
        return f"{_size(effects.max())} of their length in every case"
    return f"{_size(effects.mean())} of their length on average, and at most by {_size(effects.max())}"


def _size(value: float) -> str:
    """Write a number with two decimals; a small number is not called 0."""
    return signed(float(value)) if value >= _SMALL or value == 0 else "less than 0.01"


def _layers_of_one_kind(trace: Trace) -> str:
    """Name the layers in which no head parks, or all heads do; "" if each layer has both kinds."""
    parks = parked_share(trace) > PARKED
    if len(parks) < 2 or parks.all() or not parks.any():
        return ""
    none, every = ([str(at + 1) for at in np.flatnonzero(of)] for of in (~parks.any(axis=1), parks.all(axis=1)))
    told = [
        f"n layer{'s' if len(layers) > 1 else ''} {listed(layers)}, {how}"
        for layers, how in ((none, "no head parks"), (every, "all do" if none else "all heads park"))
        if layers
    ]
    return f"I{'; i'.join(told)}. " if told else ""


def in_full(trace: Trace, to_mean: bool = False) -> str:
    """Compare the two groups of heads, and say which rank correlations chance would reach."""
    (rho, band), (mean, limit) = (of(trace, to_mean) for of in (correlation, within_layers))
    if math.isnan(rho):
        return compared(trace, to_mean)
    told = (
        f"{compared(trace, to_mean)}\n\n{_layers_of_one_kind(trace)}The **rank correlation** says whether two numbers "
        "put the heads into the same order. It is 1 for the same order, −1 for the opposite order, and 0 if the "
        f"orders have nothing in common. Here it is **{beside(rho, math.copysign(band, rho))}** over all heads. If "
        f"the numbers were shuffled, it would be below {beside(band, abs(rho))} in 19 of 20 cases."
    )
    if math.isnan(mean):
        return told
    own = f"{'−' * (mean < 0)}{beside(abs(mean), limit)}"
    shuffled = beside(limit, abs(mean))
    return f"{told} Within a layer, it is {own} on average. With shuffled numbers, it would be below {shuffled}."


def brought(trace: Trace, head: Head) -> tuple[float, float]:
    """The share of a head's attention that words give to resting places, and the share of what arrives from there.

    What arrives is measured by the lengths of the vectors α·f(x) that the head adds (Kobayashi et al. 2020, §3).
    """
    out, _ = places_left_out(trace)
    weights, lengths = (layer_map(trace.layer(head[0]), head[1], norms=norms)[~out] for norms in (False, True))
    return float(weights[:, out].sum(axis=1).mean()), float(lengths[:, out].sum(axis=1).mean())


def said_of_sink(trace: Trace) -> str:
    """Say, for the head that parks most, how much attention it parks and how much of what arrives comes from there."""
    shares = parked_share(trace)
    at = divmod(int(shares.argmax()), shares.shape[1])
    given, arrives = brought(trace, at)
    told = (
        f"{capital(head_name(at))} parks most: in this head, words give {given:.2f} of their attention to "
        f"{resting_place(trace)}."
    )
    if arrives > given - MARGIN:
        return f"{told} And {arrives:.2f} of what it adds to the words comes from there, too."
    return (
        f"{told} But only {arrives:.2f} of what it adds to the words comes from there, because the values there are "
        "short."
    )


@asks(
    basis=bet(
        "A head that parks has found nothing to do, so hardly anything changes without it.",
        "A head that parks adds the same to each token, and later layers rely on this.",
        "How much a head parks says nothing about what it adds.",
    ),
    hint="A head that parks still adds a vector to each token.",
)
def needs_them(spot: Spot) -> Question | None:
    """Ask where the heads are without which most changes; None if their number is near a border."""
    if keep_others(spot.trace) is None or parked_share(spot.trace).size < 2 * _TOP:
        return None
    found = needed(spot.trace)
    few, many = found.parking <= _FEW, found.parking >= _MANY
    if found.parking in (_FEW + 1, _MANY - 1):
        return None
    why = (
        f"Of these {in_words(found.top)} heads, {found.parking or 'none'} {'is' if found.parking == 1 else 'are'} in "
        "the half that parks more. If a head that parks did nothing, there would be none. If later layers relied on "
        f"such heads, there would be {in_words(found.top)}."
    )
    outcomes = {
        "Nearly all in the half that parks less: a head that parks has found nothing to do": few,
        "Nearly all in the half that parks more: later layers rely on what such heads add": many,
        "In both halves: how much a head parks does not tell what it adds": not (few or many),
    }
    prompt = (
        "Sort all heads by how much they park, and cut them into two halves. Now take each head away. In which half "
        f"are the {in_words(found.top)} heads without which the last vectors change most?"
    )
    return which_holds("needs-them", prompt, why, outcomes, mixed=True)


def show(view: OneHead) -> None:
    """Show, for each head, how much attention it parks and how far the vectors move without it."""
    idea(
        "Softmax makes the weights of each token add up to 1, even if a head finds nothing. Then the weight must go "
        f"somewhere. A head that gives most of it to {resting_place(view.trace)} **parks**. Can the model do without "
        "such heads? The lab takes each head away, one at a time."
    )
    if keep_others(view.trace) is None:
        st.info("This text has no other tokens. Write a longer text.", icon=":material/edit:")
        return
    if not may_run(view.trace) or not predict(LESSON, needs_them(view.spot)):
        return
    way = OFF.choose(
        "Replace a head’s numbers by",
        help=(
            "In training, the later layers never met such zeros. The mean of the head’s numbers over the tokens of "
            "this text is a milder change."
        ),
    )
    _show_heads(view, to_mean=way == MEAN)


def _show_heads(view: OneHead, to_mean: bool) -> None:
    at = view.trace, view.layer.index, view.head
    draw(partial(parked_and_worth, *at, to_mean), "parked-and-worth")
    st.caption(
        "Each point is a head. The farther right a point is, the more the head parks. The higher it is, the farther "
        f"the last vectors move without the head. Half of the {parked_share(view.trace).size} heads are right of the "
        "dashed line. This is only one text, and another text may differ."
    )
    meaning(f"{said(view.trace, to_mean)} {said_of_sink(view.trace)}")
    with st.expander("How the heads are compared", icon=":material/balance:"):
        say(in_full(view.trace, to_mean))
    _show_a_head(view)
    with st.expander("The share that each head parks", on_change="rerun", key="_shares") as shares:
        if shares.open:
            draw(partial(parked_shares, *at), SHARES, clickable=True)
    code(parked.parked_share, parked.effect_sizes, rank_correlation)


def _show_a_head(view: OneHead) -> None:
    """Offer the head that parks most; from there, the head that parks least."""
    shares = parked_share(view.trace)
    most, least = (divmod(int(at), shares.shape[1]) for at in (shares.argmax(), shares.argmin()))
    at, which = (least, "smallest") if (view.layer.index, view.head) == most else (most, "largest")
    if np.ptp(shares) > 0:
        try_this(
            f"{head_name(at)} has the {which} share, {shares[at]:.2f}. Where is this head in the figure?",
            f"Open the head with the {which} share",
            {LAYER: at[0] + 1, HEAD: at[1] + 1},
        )
