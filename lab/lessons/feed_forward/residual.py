"""The residual stream and LayerNorm on screen: the additions of each sublayer, and how one vector is normalized."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.layers.feed_forward import active_on_words
from lab.analysis.layers.sublayers import SUBLAYERS, NormSteps, SublayerChanges, changes_untrained, sublayer_changes
from lab.course.words import signed
from lab.figures import sublayers
from lab.figures.choices import CHANGE_COSINE, CHANGE_LENGTH
from lab.lessons.feed_forward import LESSON, checks, meanings, residual_figures
from lab.lessons.feed_forward.figures import shown
from lab.lessons.feed_forward.view import FeedForwardView
from lab.models import forward
from lab.ui import runs, selection
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning
from lab.ui.parameters import DIMENSION, NORM, RESIDUAL, TWIN_SEED
from lab.ui.quiz.predictions import predict
from lab.ui.tables import show_table
from lab.ui.terms import say


def show_residual(view: FeedForwardView) -> None:
    """Draw how much each sublayer adds to each token, and ask about LayerNorm, which reads the sum."""
    say("Each cell gives the length of Δ divided by the length of x, ‖Δ‖ / ‖x‖.")
    draw(partial(sublayers.changes, view.trace, CHANGE_LENGTH, view.token), "changes")
    n, tokens = len(view.trace), shown(view.trace, view.token)
    if n > sublayers.TOKENS:
        st.caption(f"The map shows tokens {tokens.start + 1} to {tokens.stop} of {n}, around the chosen one.")
    say(
        "The sum can be short or long. **LayerNorm** brings it to one scale: it subtracts the mean from the numbers of "
        "the sum and divides them by their standard deviation. Then it scales and shifts each number by amounts that "
        "training has "
        "set."
    )
    where, steps = list(view.norms.items())[-1]
    if not predict(LESSON, checks.scaled_input(steps)):
        return
    meaning(f"{meanings.added_to(view.trace, view.token)} {meanings.one_scale(view.layer.index, where, steps)}")
    turned = RESIDUAL.chosen() != CHANGE_LENGTH
    title = f"{view.name}, layer by layer"
    with st.expander(title, expanded=turned, on_change="rerun", key="_by_layer") as by_layer:
        if by_layer.open:
            _show_by_layer(view)
    with st.expander("LayerNorm, number by number", on_change="rerun", key="_normalized") as normalized:
        if normalized.open:
            _show_norm(view)
    code(forward.pre_norm_layer if view.config.pre_norm else forward.post_norm_layer, forward.layer_norm)


# Whether a LayerNorm changes a correction on the way past the sublayers, in a post-norm and in a pre-norm model.
_ON_THE_WAY = {
    False: "In this model, a LayerNorm after each sum still changes the correction on this way.",
    True: "In this model, no LayerNorm is on this way, so nothing changes the correction there.",
}


def _show_by_layer(view: FeedForwardView) -> None:
    """Draw the additions to one token, by length or by angle, beside those of the same model with random weights."""
    changes, seed = sublayer_changes(view.trace), seed_of(view)
    before = None if seed is None else changes_untrained(view.trace, seed)
    after_network = changes.relative[:, 1, view.token]
    before_network = None if before is None else before.relative[:, 1, view.token]
    measure = RESIDUAL.choose("Measure")
    if measure == CHANGE_COSINE:
        say("The cosine is 1 where x and x + Δ point the same way, and 0 at a right angle.")
        draw(partial(sublayers.changes, view.trace, measure, view.token), "changes-cosine")
    if view.config.layers > 1:  # a model with one layer has no line to draw
        draw(partial(residual_figures.changes_of_token, view.trace, measure, view.token, seed), "changes-of-token")
    said = (
        meanings.beside_untrained(view.name, after_network, before_network),
        meanings.most_added(view.trace) if measure != CHANGE_COSINE else None,
        meanings.much_added(after_network, before_network, changes.cosine[:, 1, view.token]),
        meanings.silent_for_words(active_on_words(view.trace)),
        "Why does a sublayer add to x instead of replacing it? Training sends corrections back through the model, from "
        "the last layer to the first. The sum gives a correction a way around each sublayer, so deep networks are "
        f"easier to train (He et al. 2016). {_ON_THE_WAY[view.config.pre_norm]}",
    )
    say("\n\n".join(sentence for sentence in said if sentence))
    if before is not None:
        _table(changes, before, view.token)
        seed_shown = view.page.selection[TWIN_SEED]
        st.caption(f"Random weights: a model of the same shape, with weights drawn at random, seed {seed_shown}.")


def seed_of(view: FeedForwardView) -> int | None:
    """The seed of the random weights to compare with; None for a toy, or if random weights are on screen."""
    return view.page.selection[TWIN_SEED] if view.trace.model.id in runs.model_ids() else None


def _table(after: SublayerChanges, before: SublayerChanges, token: int) -> None:
    """List ‖Δ‖ / ‖x‖ of both sublayers in each layer, with trained and with random weights."""
    columns = {
        f"{name}, {weights}": of.relative[:, at, token]
        for at, name in enumerate(SUBLAYERS)
        for weights, of in (("trained", after), ("random weights", before))
    }
    table = pd.DataFrame({"layer": range(1, len(after.relative) + 1), **columns})
    numbers = dict.fromkeys(columns, "%.2f")
    show_table(table, formats=numbers)


def _show_norm(view: FeedForwardView) -> None:
    """Show one LayerNorm at one token: mean 0, variance 1, then γ and β."""
    norms = view.norms
    _show_places(view)
    where = NORM.choose("Which LayerNorm", list(norms))
    steps = norms[where]
    dimension = _choose_dimension(view, steps)
    _show_stages(view, steps, where, dimension)
    say(meanings.normalized(where, steps))
    _show_gain(view, steps, where, dimension)
    say(
        "Why normalize? Then every layer gets numbers on one scale, and training becomes stable (Ba et al. 2016). If "
        "LayerNorm comes before a sublayer, the first corrections of training do not grow too large (Xiong et al. "
        "2020)."
    )


def _show_places(view: FeedForwardView) -> None:
    """Write where this layer has LayerNorm: after each sum, or before each sublayer."""
    sums = []
    for sublayer, norm in (
        (r"\text{Attention}", view.layer.weights.norm_1),
        (r"\text{FFN}", view.layer.weights.norm_2),
    ):
        normed = r"\text{LayerNorm}(x)" if norm is not None else "x"
        sums.append(f"x + {sublayer}({normed})" if view.config.pre_norm else rf"\text{{LayerNorm}}(x + {sublayer}(x))")
    st.latex(r"\begin{aligned} " + r" \\ ".join(rf"x & \leftarrow {each}" for each in sums) + r" \end{aligned}")


def _choose_dimension(view: FeedForwardView, steps: NormSteps) -> int:
    """The dimension to follow, from 0: the one in the link, otherwise the one furthest from the mean."""
    asked = selection.fit_place(DIMENSION, len(steps.x), "The vector")
    chosen = asked or int(np.abs(steps.centred).argmax()) + 1
    DIMENSION.type_in(f"Dimension, 1 to {len(steps.x):,}", chosen, len(steps.x))
    return chosen - 1


def _show_stages(view: FeedForwardView, steps: NormSteps, where: str, dimension: int) -> None:
    stages = steps.stages
    draw(
        partial(residual_figures.norm_stages, view.trace, view.layer.index, where, view.token, dimension), "layer-norm"
    )
    table = pd.DataFrame(
        {
            "stage": list(stages),
            "mean": [float(vector.mean()) for vector in stages.values()],
            "variance": [float(vector.var()) for vector in stages.values()],
            "smallest": [float(vector.min()) for vector in stages.values()],
            "largest": [float(vector.max()) for vector in stages.values()],
            f"dimension {dimension + 1}": [float(vector[dimension]) for vector in stages.values()],
        }
    )
    table["mean"] = table["mean"].mask(table["mean"].abs() < 0.00005, 0.0)  # no −0.0000
    numbers = dict.fromkeys(table.columns[1:], "%.4f")
    show_table(table, formats=numbers)
    st.latex(_written_out(steps, dimension))
    say(
        f"ε is {steps.eps:g}: it only keeps the root from being 0. After the division the mean is 0 and the variance "
        f"is {steps.standard.var():.4f}. Without ε it would be exactly 1. Then γ multiplies each dimension"
        + (
            " and β shifts it, each dimension by numbers of its own."
            if view.config.biases
            else " by a number of its own. This model has no β, so 0 is added."
        )
    )


def _written_out(steps: NormSteps, dimension: int) -> str:
    x, gamma, beta = (float(v[dimension]) for v in (steps.x, steps.gamma, steps.beta))
    return (
        rf"\begin{{aligned}} y_{{{dimension + 1}}} &= \gamma\,\frac{{x - \text{{mean}}}}"
        r"{\sqrt{\text{variance} + \varepsilon}} + \beta \\[4pt] "
        rf"&= {gamma:z.4f} \cdot \frac{{{x:z.4f} {-steps.mean:+z.4f}}}{{{steps.deviation:.4f}}} \\ "
        rf"& \quad {beta:+z.4f} \\[4pt] "
        rf"&= {steps.output[dimension]:z.4f} \end{{aligned}}"
    )


def _show_gain(view: FeedForwardView, steps: NormSteps, where: str, dimension: int) -> None:
    """Draw γ over the dimensions; γ belongs to the model, not to the text."""
    gamma, beta = steps.gamma, steps.beta
    draw(partial(residual_figures.gain, view.trace, view.layer.index, where, dimension), "gamma")
    shifted = view.config.biases
    shift = f", β from {signed(beta.min(), 3)} to {signed(beta.max(), 3)}" if shifted else ""
    say(
        f"γ runs from {signed(gamma.min(), 3)} to {signed(gamma.max(), 3)} (largest in dimension "
        f"{int(gamma.argmax()) + 1}){shift}. {'Both are' if shifted else 'It is'} the same for every token "
        "and every text."
    )
