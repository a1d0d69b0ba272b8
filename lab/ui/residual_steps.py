"""The residual stream and LayerNorm on screen: what each sublayer changes, and one vector normalized."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.sublayers import SUBLAYERS, NormSteps, SublayerChanges
from lab.course import feed_forward_checks as ask
from lab.figures import residual as figures
from lab.figures.choices import CHANGE_COSINE, CHANGE_LENGTH
from lab.figures.feed_forward import TOKENS, shown
from lab.models import forward
from lab.ui import cached_layers
from lab.ui.feed_forward_view import LESSON, View, choose, choose_number
from lab.ui.figures import code, draw
from lab.ui.quiz import predict


def show_residual(view: View) -> None:
    """How much attention and the feed-forward network change each token, through all layers."""
    changes = cached_layers.sublayer_changes(view.trace)
    question = ask.larger_change(view.trace, changes, view.layer.index, view.token)
    if question is not None and not predict(LESSON, question):
        return
    left, right = st.columns(2)
    with left:
        choose(view, neuron=False)
    with right:
        measure = st.segmented_control(
            "Measure",
            [CHANGE_LENGTH, CHANGE_COSINE],
            default=CHANGE_LENGTH,
            required=True,
            key="residual",
            bind="query-params",
        )
    _draw_changes(view, changes, str(measure))
    _draw_token(view, changes, str(measure))
    st.markdown(
        "x is the token’s vector in the stream, Δ what a sublayer adds to it. "
        + (
            "The cosine is that of the angle between x and x + Δ: 1 where the direction stays, 0 at a right angle."
            if measure == CHANGE_COSINE
            else "At 1, what is added is as long as what was there; at 0.1, a tenth of it."
        )
    )
    code(forward.decoder_layer if view.config.pre_norm else forward.encoder_layer)


def _draw_changes(view: View, changes: SublayerChanges, measure: str) -> None:
    """Layers and sublayers down, tokens across."""
    draw(
        figures.drawn_changes(view.trace, changes, measure, view.token), "changes",
        call=partial(figures.changes, view.trace, measure, view.token),
    )  # fmt: skip
    n, tokens = len(view.trace), shown(view.trace, view.token)
    if n > TOKENS:
        st.caption(f"Drawn are tokens {tokens.start + 1} to {tokens.stop} of {n}, around the chosen one.")


def _draw_token(view: View, changes: SublayerChanges, measure: str) -> None:
    """The chosen token from layer to layer; one layer is no line."""
    largest = np.unravel_index(int(changes.relative[:, :, view.token].argmax()), changes.relative.shape[:2])
    if len(changes.relative) > 1:
        draw(
            figures.drawn_changes_of_token(view.trace, changes, measure, view.token), "changes-of-token",
            call=partial(figures.changes_of_token, view.trace, measure, view.token),
        )  # fmt: skip
    st.markdown(
        f"For its length, {view.name} is changed most by the **{SUBLAYERS[largest[1]]}** sublayer of layer "
        f"{largest[0] + 1}: ‖Δ‖ / ‖x‖ = {changes.relative[largest][view.token]:.2f}."
    )


def show_norm(view: View) -> None:
    """One LayerNorm at one token: mean 0, variance 1, then γ and β."""
    norms = view.norms
    where = st.segmented_control(
        "Which LayerNorm", list(norms), default=next(iter(norms)), required=True, key="norm", bind="query-params"
    )
    where = where if where in norms else next(iter(norms))
    steps = norms[where]
    question = ask.scaled_input(steps)
    if question is not None and not predict(LESSON, question):
        return
    left, right = st.columns(2)
    with left:
        choose(view, neuron=False)
    with right:
        dimension = _choose_dimension(view, steps)
    _show_stages(view, steps, where, dimension)
    _show_gain(view, steps, where, dimension)
    code(forward.layer_norm)


def _choose_dimension(view: View, steps: NormSteps) -> int:
    """The dimension to follow, from 0: the one in the link, else the one furthest from the mean."""
    asked = view.page.selection.dimension
    chosen = min(asked, len(steps.x)) or int(np.abs(steps.centred).argmax()) + 1
    choose_number("dimension", f"Dimension, 1 to {len(steps.x):,}", chosen, len(steps.x))
    return chosen - 1


def _show_stages(view: View, steps: NormSteps, where: str, dimension: int) -> None:
    stages = steps.stages
    draw(partial(figures.norm_stages, view.trace, view.layer.index, where, view.token, dimension), "layer-norm")
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
    numbers = {name: st.column_config.NumberColumn(format="%.4f") for name in table.columns[1:]}
    st.dataframe(table, hide_index=True, height="content", column_config=numbers)
    st.latex(_written_out(steps, dimension))
    st.markdown(
        f"ε is {steps.eps:g}: it only keeps the root from being 0. After the division the mean is 0 and the variance "
        f"{steps.standard.var():.4f}: 1, but for ε. γ and β then move each dimension by numbers of its own."
    )


def _written_out(steps: NormSteps, dimension: int) -> str:
    x, gamma, beta = (float(v[dimension]) for v in (steps.x, steps.gamma, steps.beta))
    return (
        rf"\begin{{aligned}} y_{{{dimension + 1}}} &= \gamma\,\frac{{x - \text{{mean}}}}"
        r"{\sqrt{\text{variance} + \varepsilon}} + \beta \\[4pt] "
        rf"&= {gamma:.4f} \cdot \frac{{{x:.4f} {-steps.mean:+.4f}}}{{{steps.deviation:.4f}}} {beta:+.4f} \\[4pt] "
        rf"&= {steps.output[dimension]:.4f} \end{{aligned}}"
    )


def _show_gain(view: View, steps: NormSteps, where: str, dimension: int) -> None:
    """γ over the dimensions; it belongs to the model, not to the text."""
    gamma, beta = steps.gamma, steps.beta
    draw(partial(figures.gain, view.trace, view.layer.index, where, dimension), "gamma")
    st.markdown(
        f"γ runs from {gamma.min():.3f} to {gamma.max():.3f} (largest in dimension {int(gamma.argmax()) + 1}), β from "
        f"{beta.min():.3f} to {beta.max():.3f}. Both are the same for every token and every text."
    )
