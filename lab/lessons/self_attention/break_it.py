"""The forward pass broken on purpose: what each mistake does to a map, to the output, to the predicted word."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.attention import attention_map
from lab.analysis.layers.mistakes import PADDING, Broken, break_run, can_be_padded, place_asked, words_predicted
from lab.course.words import named, quoted, share
from lab.figures import mistakes
from lab.models.config import ModelConfig
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.ui.drawing import draw
from lab.ui.parameters import MODE, TOY
from lab.ui.shared.one_head import OneHead, draw_map
from lab.ui.tables import show_table

_SCALING, _MASK, _VALUES = "no_scaling", "no_mask", "no_values"
_QUERIES, _OUTPUT, _GELU = "softmax_over_queries", "no_output_projection", "other_gelu"
_SWITCHES: Mapping[str, str] = {
    _SCALING: "No ÷ √d_k",
    _MASK: "No mask",
    _VALUES: "No values",
    _QUERIES: "Softmax over the queries",
    _OUTPUT: "Forget W_O",
    _GELU: "The other GELU",
}
# Two maps that agree to three decimals look the same.
_VISIBLE = 0.0005


def break_it(view: OneHead) -> Trace:
    """A step taken away, or a wrong formula; returns the broken run, for the badge."""
    trace = view.trace
    st.markdown(
        "What is a step for? Take it away and look. Each switch leaves a step out of **every** layer, or gets it "
        "wrong. Open the badge at the top: it turns red and names the first step that no longer agrees with Hugging "
        "Face."
    )
    offered = _offered(trace)
    with st.container(horizontal=True):
        chosen = {name for name in offered if st.toggle(_SWITCHES[name], key=f"_break.{name}")}
    told = [f"- **{_SWITCHES[name]}.** {_told(name, trace)}" for name in offered if name in chosen or not chosen]
    st.markdown("\n".join(told))
    if not chosen:
        st.info("Which moves the outputs least, which most? Guess, then switch one on.", icon=":material/toggle_on:")
        return trace
    runs = break_run(trace, _changes(chosen, trace.model.config))
    _show_output(view, runs)
    _show_word(view, runs)
    _show_maps(view, runs)
    return runs.broken


def _offered(trace: Trace) -> list[str]:
    """The switches that change anything in this model."""
    config, out = trace.model.config, set()
    if not config.causal and not can_be_padded(trace):
        out.add(_MASK)
    if not config.activation.startswith("gelu"):
        out.add(_GELU)
    return [name for name in _SWITCHES if name not in out]


def _changes(chosen: set[str], config: ModelConfig) -> Interventions:
    return Interventions(
        no_scaling=_SCALING in chosen,
        no_causal_mask=_MASK in chosen and (config.causal or config.window is not None),
        no_padding_mask=_MASK in chosen and not config.causal,
        no_values=_VALUES in chosen,
        softmax_over_queries=_QUERIES in chosen,
        no_output_projection=_OUTPUT in chosen,
        other_gelu=_GELU in chosen,
    )


def _told(name: str, trace: Trace) -> str:
    """What a switch does, with this model's numbers."""
    config = trace.model.config
    used, other = ("exact", "tanh") if config.activation == "gelu" else ("tanh", "exact")
    mask = (
        "The mask of this model hides what comes after a token. Without it, each token reads the rest of the text: the "
        "very words it has to predict."
        if config.causal
        else f"The mask of this model hides padding. Texts that are read together get the same length, so "
        f"{PADDING} padding tokens now follow yours. With the mask they get the weight 0 and change nothing. Without "
        "it, they are read like words."
    )
    if config.window is not None:
        mask = f"{mask} In the local layers it also hides what is more than {config.window} tokens away; without it, "
        mask = f"{mask}these layers see all tokens, too."
    return {
        _SCALING: f"The scores stay √{config.head_width} ≈ {config.head_width**0.5:.1f} times as large, so the "
        "softmax of every row is sharper.",
        _MASK: mask,
        _VALUES: f"$W_V$ is 0, so no token passes on anything of its own: each value is "
        f"{'the bias $b_V$' if config.biases else '0, as this model has no biases'}. Whatever the weights are, all "
        "tokens collect the same.",
        _QUERIES: "Now the columns of the map add up to 1 and its rows do not: a token collects more than 1 in all, or "
        "less.",
        _OUTPUT: "What the heads collect is added to the token as it is. The map of layer 1 stays; what layer 1 hands "
        "on does not.",
        _GELU: f"The feed-forward network (lesson 8) uses the {other} form of its curve GELU; this model was trained "
        f"with the {used} one. The two are close: the badge sees it, a reader hardly.",
    }[name]


def _show_output(view: OneHead, runs: Broken) -> None:
    """How far the vectors move."""
    moved = runs.moved
    layers, place = len(moved) - 1, min(view.query, moved.shape[1] - 1)
    with st.container(horizontal=True):
        label, length = f"Output of token {place + 1} moves by", _length(moved[-1, place])
        told = "‖broken − right‖ ÷ ‖right‖ of its vector after the last layer: 1 is as far as the vector is long."
        st.metric(label, length, border=True, width="content", help=told)
        st.metric("All tokens, mean", _length(moved[-1].mean()), border=True, width="content")
    st.markdown(
        f"After layer {layers}, the vector of {named(view.trace, place)} is **{_length(moved[-1, place])}** of its "
        f"length away from where it belongs. {_begins(moved.mean(axis=1))}"
    )
    draw(partial(mistakes.moved_by_layer, runs.right, runs.broken, view.layer.index), "broken-layers")


def _length(share_moved: float) -> str:
    """Two decimals, or one digit and its power where two decimals would show 0."""
    return f"{share_moved:.2f}" if share_moved >= 0.005 or not share_moved else f"{share_moved:.0e}"


def _begins(by_layer: np.ndarray) -> str:
    if not by_layer.any():
        return "Nothing moves here."
    return f"The first layer whose output moves is layer {int(np.flatnonzero(by_layer)[0])}."


def _show_word(view: OneHead, runs: Broken) -> None:
    """The predicted word, before and after."""
    place = place_asked(view.trace, view.query)
    if place is None or view.page.selection[MODE] == TOY:
        st.markdown("This model predicts no words, so its vectors are all there is to compare.")
        return
    found = words_predicted(runs, place)
    where = (
        f"The most probable token after {named(view.trace, place)}"
        if view.trace.model.config.causal
        else f"With {named(view.trace, place)} hidden, the most probable word there"
    )
    told = (
        f"stays {quoted(found.right.word)}"
        if found.right.token_id == found.broken.token_id
        else f"goes from {quoted(found.right.word)} to **{quoted(found.broken.word)}**"
    )
    st.markdown(f"{where} {told}.")
    table = pd.DataFrame(
        {
            "run": ["right", "broken"],
            "predicted": [found.right.word, found.broken.word],
            "its probability": [share(found.right.probability), share(found.broken.probability)],
            f"probability of {found.right.word}": [share(found.right.probability), share(found.kept.probability)],
        }
    )
    show_table(table)


def _show_maps(view: OneHead, runs: Broken) -> None:
    """The chosen head in both runs, where its map differs at all."""
    layer = view.layer.index
    right, broken = (attention_map(run.layer(layer), view.head) for run in (runs.right, runs.broken))
    apart = float(np.abs(right - broken).max())
    if apart < _VISIBLE:
        st.markdown(
            f"The map of {view.place} is the same in both runs: no weight differs by {_VISIBLE} or more. The mistake "
            "acts after the map. A later layer reads what this one hands on; choose it in the sidebar."
            if layer + 1 < len(runs.moved) - 1
            else f"The map of {view.place} is the same in both runs: no weight differs by {_VISIBLE} or more."
        )
        return
    for column, traced, title in zip(st.columns(2), (runs.right, runs.broken), ("Right", "Broken"), strict=True):
        with column:
            draw_map(view, traced, f"{title}, {view.place}", f"map-{title.lower()}")
    sums = broken.sum(axis=1)
    if np.abs(sums - 1).max() > _VISIBLE:
        st.markdown(f"The broken rows add up to between {sums.min():.2f} and {sums.max():.2f}.")
    if runs.right.encoding.padding:
        text = len(view.trace)
        lost = float(runs.broken.layer(layer).attention[:, :text, text:].sum(dim=-1).mean())
        st.markdown(
            f"Without the mask, the heads of layer {layer + 1} spend **{lost:.2f}** of a word’s attention on padding, "
            "on average; with it, 0."
        )
