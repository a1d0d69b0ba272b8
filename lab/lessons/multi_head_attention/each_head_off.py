"""Each head off: every head taken away alone, and then all heads together that changed little alone.

Michel et al. 2019 found that most heads can be taken away one at a time. A head can be spared alone because others do
the same work, or because later layers make up for it; together, such heads may still matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.heads import ablation
from lab.analysis.heads.ablation import each_head_off
from lab.analysis.heads.values import Values
from lab.analysis.words.predictions import Prediction, word_of
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.bars import bars
from lab.course.pages import experiment_of, step_name
from lab.course.words import head_name, quoted, share, signed
from lab.figures.axes import layers_and_heads
from lab.lessons.multi_head_attention import EFFECTS, LESSON
from lab.models.ablation import ablate_each_head
from lab.models.interventions import Head, Interventions
from lab.models.memo import once
from lab.models.trace import Trace, changed
from lab.questions.question import MARGIN
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import caption, meaning, try_this, way_to
from lab.ui.parameters import HEAD, LAYER, STEP
from lab.ui.shared.heads_off import ask, may_run
from lab.ui.shared.keys import keys_blank
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import show_table
from lab.ui.terms import say

_LITTLE = 0.05  # a change by less than this share of the probability is little for a head alone
_SAME = 0.2  # together: a change by less than a fifth is about the same
_ROWS = 5  # heads in the table


@dataclass(frozen=True)
class Alone:
    """The word that the model says at a place, and its probability with each head off alone.

    Attributes
    ----------
    word_id, word, before
        The likeliest word, by its id and in quotation marks, and its probability with all heads on.
    after
        Its probability with each head off, (L, H).
    little
        The heads that change the probability by less than a twentieth of it, counted from 0.
    """

    word_id: int
    word: str
    before: float
    after: Values
    little: frozenset[Head]

    @property
    def change(self) -> Values:
        """The change of the probability, (L, H)."""
        return np.asarray(self.after - self.before, dtype=np.float64)

    @property
    def strongest(self) -> Head:
        """The head without which the probability changes most."""
        layer, head = np.unravel_index(int(np.abs(self.change).argmax()), self.after.shape)
        return int(layer), int(head)


@dataclass(frozen=True)
class Together:
    """The probability of the word with all heads off that change little alone, at zero and at their means.

    Attributes
    ----------
    zero, mean
        The probability with all of them off at once.
    zero_added, mean_added
        The probability that their single changes would give together if they only added up, in log odds.
    """

    zero: float
    mean: float
    zero_added: float
    mean_added: float

    @property
    def costs_more(self) -> tuple[bool, bool]:
        """Whether the heads cost visibly more together than their single changes add up to: at zero, at their means."""
        return self.zero_added - self.zero > MARGIN, self.mean_added - self.mean > MARGIN


def _log_odds(probability: Values) -> Values:
    return np.asarray(np.log(probability) - np.log1p(-probability), dtype=np.float64)


def _at(trace: Trace, place: int) -> NDArray[np.float64]:
    return Prediction(place, None, trace.logits(place)[0].numpy().astype(np.float64)).probabilities


def alone(trace: Trace, place: int) -> Alone:
    """Switch off every head of the model, one at a time. Raises ValueError for a model without a vocabulary head."""
    on = _at(trace, place)
    best = int(on.argmax())
    after = each_head_off(trace, place, best).probabilities
    if after is None:
        raise ValueError("you asked about no word, so there is no probability to change.")
    before = float(on[best])
    little = frozenset((int(i), int(j)) for i, j in np.argwhere(np.abs(after / before - 1) < _LITTLE))
    return Alone(best, quoted(word_of(trace.model.tokenizer, best)), before, after, little)


def added_up(before: float, single: Values) -> float:
    """Return the probability if changes from ``before`` to each of ``single`` only added up, in log odds."""
    start = _log_odds(np.array(before))
    return float(1 / (1 + np.exp(-start - (_log_odds(single) - start).sum())))


@once
def together(trace: Trace, place: int) -> Together:
    """Switch off at once all heads that change little alone."""
    found = alone(trace, place)
    runs = (Interventions(zero_heads=found.little), Interventions(mean_heads=found.little))
    zero, mean = (float(_at(changed(trace, each), place)[found.word_id]) for each in runs)
    at_mean = each_head_off(trace, place, found.word_id, True).probabilities
    assert at_mean is not None
    little = tuple(np.array(sorted(found.little), dtype=int).reshape(-1, 2).T)
    added = (added_up(found.before, each[little]) for each in (found.after, at_mean))
    return Together(zero, mean, *added)


def said_alone(found: Alone) -> str:
    """Count the heads that change little alone, and name the one that changes most."""
    at, size = found.strongest, found.after.size
    few = f"{share(_LITTLE * found.before)}, a twentieth of it,"
    if len(found.little) == size:
        return f"No single head changes the probability of {found.word} ({share(found.before)}) by {few} or more."
    count = len(found.little) or "None"
    return (
        f"{count} of the {size} heads {'changes' if count == 1 else 'change'} the probability of {found.word} by less "
        f"than {few.rstrip(',')}. {head_name(at).capitalize()} changes it most: from {share(found.before)} to "
        f"{share(float(found.after[at]))}."
    )


def said(found: Alone, off: Together) -> str:
    """Say whether the heads that change little alone matter together, and what this means for one of them."""
    count = len(found.little)
    goes = f"the probability of {found.word} goes from {share(found.before)} to **{share(off.zero)}** at zero"
    means = f"to {share(off.mean)} with each head at its mean"
    if stays(found, off):
        return (
            f"Even together, these {count} heads change little: {goes} and {means}. This word in this text does not "
            "need them, but another word may."
        )
    at_zero, at_mean = off.costs_more
    single = f"{share(off.zero_added)} and {share(off.mean_added)}"
    if at_zero and at_mean:
        return (
            f"Without these {count} heads, {goes} and {means}. If their single changes simply added up, it would go "
            f"to {single}. So while one head is off, other heads or later layers make up for part of its work."
        )
    if at_zero and off.mean - off.zero > MARGIN:
        return (
            f"Without these {count} heads, {goes}, but only {means}. So the many zeros disturb the network more than "
            "the missing heads do."
        )
    told = (
        f"Without these {count} heads, {goes} and {means}. If their single changes simply added up, it would go to "
        f"{single}."
    )
    nothing = " So there is no sign here that other heads or later layers make up for a head that is off."
    return told if at_zero or at_mean else f"{told}{nothing}"


def stays(found: Alone, off: Together) -> bool:
    """Return whether the probability stays about the same in both ways of switching off the heads."""
    return all(abs(each / found.before - 1) < _SAME for each in (off.zero, off.mean))


def each_moved(moved: Values) -> str:
    """Name the head without which the last vectors move farthest, and compare it with the median head; (L, H)."""
    most = np.unravel_index(int(moved.argmax()), moved.shape)
    at: Head = (int(most[0]), int(most[1]))
    return (
        f"The vectors move most without {head_name(at)}, by {float(moved[at]):.0%} of their length. For half of the "
        f"heads, they move by {float(np.median(moved)):.0%} or less."
    )


def effect_on_word(traced: Trace, layer: int, head: int, place: int) -> Heatmap:
    """Draw the change of the likeliest word's probability at ``place`` with each head off alone; one is outlined.

    The figure takes one run for every head of the model. Raises ValueError for a model without a vocabulary head.
    """
    found = alone(traced, place)
    word = word_of(traced.model.tokenizer, found.word_id)
    scale = Scale("Change of the probability", format="+.3f", signed=True)
    title = f"Change of P({word}) with each head off"
    return heatmap(found.change, layers_and_heads(found.change), scale, title=title, highlight=(layer, head))


def effect_on_vectors(traced: Trace, layer: int, head: int) -> Heatmap:
    """Draw how far the last layer's vectors move with each head off, one at a time; one head is outlined."""
    moved = each_head_off(traced, None, None).moved
    title, scale = "How far the last vectors move with each head off", Scale("Share of their length", format=".2f")
    return heatmap(moved, layers_and_heads(moved), scale, title=title, highlight=(layer, head))


def words_together(traced: Trace, place: int) -> Figure:
    """Draw the likeliest word's probability with all heads on, and with those off together that change little alone."""
    found, off = alone(traced, place), together(traced, place)
    count = len(found.little)
    labels = ["all heads on", "zero: added up", "zero: at once", "mean: added up", "mean: at once"]
    values = [found.before, off.zero_added, off.zero, off.mean_added, off.mean]
    word = word_of(traced.model.tokenizer, found.word_id)
    scale = Scale("Probability", (0.0, 1.0), ".3f")
    title = f"P({word}) with {count} heads off at once"
    return bars(labels, values, scale, title=title, highlight=(0, 2, 4))


def show(view: OneHead) -> Trace:
    """Show the map of all heads off alone; then ask about those that change little, taken away together."""
    say("Does the model need all of its heads? Take them away, one at a time.")
    asked = keys_blank(view.page, view.trace.model) or ask(view, first=False)
    trace, at = view.trace if asked is None else asked.trace, (view.layer.index, view.head)
    if not may_run(trace):
        return trace
    if asked is None:
        _show_vectors(trace, at)
        return trace
    with st.spinner("Switching off one head at a time …"):
        found = alone(trace, asked.place)
    draw(partial(effect_on_word, trace, *at, asked.place), EFFECTS, clickable=True)
    st.caption("Each cell is one head that is taken away, with zeros in its place. Click a cell to choose its head.")
    say(said_alone(found))
    if len(found.little) > 1:
        say("Can the model do without all of these heads at once?")
        draw(partial(words_together, trace, asked.place), "words-together")
        meaning(said(found, together(trace, asked.place)))
        caption(
            "Weak bars show the sum of the changes of single heads. The network never met such zeros in training. "
            "The mean of each head over this text is a milder change."
        )
    _show_strongest(found.strongest)
    with st.expander("The largest changes in a table", on_change="rerun", key="_strongest") as folded:
        if folded.open:
            _show_table(trace, asked.place, found)
    way_to("The experiment", experiment_of("needed-heads"))
    code(ablate_each_head, ablation.each_head_off)
    return trace


def _show_table(trace: Trace, place: int, found: Alone) -> None:
    """List the heads without which the probability changes most, with the word that the model says then."""
    order = np.argsort(-np.abs(found.change), axis=None, kind="stable")[:_ROWS]
    places = [divmod(int(at), found.after.shape[1]) for at in order]
    best = each_head_off(trace, place, found.word_id).best
    table = pd.DataFrame(
        {
            "head off": [head_name(at) for at in places],
            f"probability of {word_of(trace.model.tokenizer, found.word_id)}": [
                share(float(found.after[at])) for at in places
            ],
            "change": [signed(float(found.change[at]), 3, plus=True) for at in places],
            "most probable then": []
            if best is None
            else [word_of(trace.model.tokenizer, int(best[at])) for at in places],
        }
    )
    show_table(table)
    say("A rise does not mean that the model is better without this head: this is one word in one text.")


def _show_vectors(trace: Trace, at: Head) -> None:
    """Draw the map for a model that predicts no words: how far its last vectors move."""
    with st.spinner("Switching off one head at a time …"):
        moved = each_head_off(trace, None, None).moved
    draw(partial(effect_on_vectors, trace, *at), EFFECTS, clickable=True)
    st.caption("Each cell is one head that is taken away, with zeros in its place. Click a cell to choose its head.")
    meaning(each_moved(moved))
    layer, head = np.unravel_index(int(moved.argmax()), moved.shape)
    _show_strongest((int(layer), int(head)))
    code(ablate_each_head, ablation.each_head_off)


def _show_strongest(at: Head) -> None:
    """Offer the head without which most changes, in the previous step."""
    try_this(
        f"take away only {head_name(at)}, and see what changes.",
        f"Switch off {head_name(at)}",
        {LAYER: at[0] + 1, HEAD: at[1] + 1, STEP: step_name(LESSON, "one-head-off")},
    )
