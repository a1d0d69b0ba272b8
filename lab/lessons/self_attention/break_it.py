"""The forward pass broken on purpose: how each mistake changes a map, the output and the predicted word."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.one_row import attention_map
from lab.analysis.layers.run_with_mistake import (
    PADDING,
    Broken,
    break_run,
    can_be_padded,
    place_asked,
    words_predicted,
)
from lab.course.words import named, quoted, share
from lab.figures import sublayer_figures
from lab.models.config import ModelConfig
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.ui.drawing import draw
from lab.ui.parameters import MODE, TOY
from lab.ui.screen import say, show_table
from lab.ui.shared.one_head import OneHead, draw_map, show_sentence

_SCALING, _MASK, _VALUES = "no_scaling", "no_mask", "no_values"
_QUERIES = "softmax_over_queries"
_SWITCHES: Mapping[str, str] = {
    _SCALING: "No division",
    _MASK: "No mask",
    _VALUES: "No values",
    _QUERIES: "Column softmax",
}
# Two maps that are nearer than this look the same.
_ALIKE = 0.0005


def show(view: OneHead) -> Trace:
    """Let the learner switch mistakes on; return the broken run, which the badge at the top compares."""
    show_sentence(view)
    trace, offered = view.trace, _offered(view.trace)
    say(
        "Break the model yourself, in **every** layer, and watch the vectors, the predicted word and the map. Switch "
        "on one mistake, or several mistakes:"
    )
    say("\n".join(f"- **{_SWITCHES[name]}.** {_told(name, trace)}" for name in offered))
    return _show_detail(view, offered)


def _show_detail(view: OneHead, offered: list[str]) -> Trace:
    """Let the learner switch mistakes on, and show their effects; return the broken run."""
    with st.container(horizontal=True):
        chosen = {name for name in offered if st.toggle(_SWITCHES[name], key=f"_break.{name}")}
    if not chosen:
        return view.trace
    runs = break_run(view.trace, _changes(chosen, view.trace.model.config))
    st.caption("The arcs above still show the model as it is.")
    _show_output(view, runs)
    _show_word(view, runs)
    _show_maps(view, runs)
    return runs.broken


def _show_output(view: OneHead, runs: Broken) -> None:
    """Show how far the vectors move."""
    moved = runs.moved
    layers, place = len(moved) - 1, min(view.query, moved.shape[1] - 1)
    with st.container(horizontal=True):
        label, length = f"Output of token {place + 1} moves by", _length(moved[-1, place])
        told = (
            "This is ‖broken − right‖ ÷ ‖right‖ for its vector after the last layer. At 1, the vector moves by its "
            "own length."
        )
        st.metric(label, length, border=True, width="content", help=told)
        st.metric("All tokens, mean", _length(moved[-1].mean()), border=True, width="content")
    say(
        f"After layer {layers}, the vector of {named(view.trace, place)} has moved by **{_length(moved[-1, place])}** "
        f"times its length. {_begins(moved.mean(axis=1))}"
    )
    draw(partial(sublayer_figures.moved_by_layer, runs.right, runs.broken, view.layer.index), "broken-layers")


def _show_word(view: OneHead, runs: Broken) -> None:
    """Show the predicted word before and after the mistake."""
    place = place_asked(view.trace, view.query)
    if place is None or view.page.selection[MODE] == TOY:
        say("This model predicts no words, so only its vectors are compared.")
        return
    found = words_predicted(runs, place)
    where = (
        f"The most probable token after {named(view.trace, place)}"
        if view.trace.model.config.causal
        else f"If you hide {named(view.trace, place)}, the most probable word there"
    )
    told = (
        f"stays {quoted(found.right.word)}"
        if found.right.token_id == found.broken.token_id
        else f"goes from {quoted(found.right.word)} to **{quoted(found.broken.word)}**"
    )
    say(f"{where} {told}.")
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
    """Draw the map of the chosen head in both runs, if the two maps differ at all."""
    layer = view.layer.index
    right, broken = (attention_map(run.layer(layer), view.head) for run in (runs.right, runs.broken))
    apart = float(np.abs(right - broken).max())
    if apart < _ALIKE:
        say(
            f"The map of {view.place} is the same in both runs (no weight differs by {_ALIKE} or more), because here "
            "the mistake acts after the map. Choose a later layer in the sidebar: it reads the output of this layer."
            if layer + 1 < len(runs.moved) - 1
            else f"The map of {view.place} is the same in both runs. No weight differs by {_ALIKE} or more."
        )
        return
    for column, traced, title in zip(st.columns(2), (runs.right, runs.broken), ("As it is", "Broken"), strict=True):
        with column:
            draw_map(view, traced, f"{title}, {view.place}", f"map-{title.lower().replace(' ', '-')}")
    sums = broken.sum(axis=1)
    if np.abs(sums - 1).max() > _ALIKE:
        say(f"The sums of the broken rows are between {sums.min():.2f} and {sums.max():.2f}.")
    if runs.right.encoding.padding:
        text = len(view.trace)
        lost = float(runs.broken.layer(layer).attention[:, :text, text:].sum(dim=-1).mean())
        say(
            f"Without the mask, the heads of layer {layer + 1} spend **{lost:.2f}** of a word’s attention on padding, "
            "on average. With the mask, they spend none."
        )


def _offered(trace: Trace) -> list[str]:
    """The switches that have an effect in this model."""
    config, out = trace.model.config, set()
    if not config.causal and not can_be_padded(trace):
        out.add(_MASK)
    return [name for name in _SWITCHES if name not in out]


def _changes(chosen: set[str], config: ModelConfig) -> Interventions:
    return Interventions(
        no_scaling=_SCALING in chosen,
        no_causal_mask=_MASK in chosen and (config.causal or config.window is not None),
        no_padding_mask=_MASK in chosen and not config.causal,
        no_values=_VALUES in chosen,
        softmax_over_queries=_QUERIES in chosen,
    )


def _told(name: str, trace: Trace) -> str:
    """Explain a switch with this model's numbers."""
    config = trace.model.config
    mask = (
        "The mask hides the words after a token. Without it, each token also reads the words that it has to predict."
        if config.causal
        else "If several texts are read at once, padding tokens fill up the shorter ones, and a **mask** hides this "
        f"padding. For this test, your text has {PADDING} padding tokens."
    )
    if config.window is not None:
        mask = f"{mask} In the local layers, it also hides all tokens that are more than {config.window} tokens away."
    return {
        _SCALING: f"Scores are not divided by √{config.head_width} ≈ {config.head_width**0.5:.1f}, so softmax gives "
        "more of a row to its largest score.",
        _MASK: mask,
        _VALUES: "Every word passes on the same value, so all rows that add up to 1 collect the same vector.",
        _QUERIES: "The columns of the map, not the rows, add up to 1.",
    }[name]


def _length(share_moved: float) -> str:
    """Write a number with two decimals, or, if they would be 0, as one digit and a power of ten."""
    return f"{share_moved:.2f}" if share_moved >= 0.005 or not share_moved else f"{share_moved:.0e}"


def _begins(by_layer: np.ndarray) -> str:
    if not by_layer.any():
        return "Nothing moves here."
    return f"The first layer whose output moves is layer {int(np.flatnonzero(by_layer)[0])}."
