"""All heads of a run as small maps, and the opened head beside them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.comparing import thumbnails
from lab.analysis.heads.metrics import METRICS, trace_metrics
from lab.analysis.heads.named import trace_chance, trace_names
from lab.analysis.heads.patterns import PATTERNS, trace_patterns
from lab.analysis.heads.values import is_causal
from lab.benches.model_view import FIGURE, HeadsView, chosen_mark
from lab.charts.components.model_view import Frames, ModelView
from lab.course.words import named
from lab.evidence import notable
from lab.figures import attention
from lab.figures.metric_figures import label, unit
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.components import mount
from lab.ui.drawing import draw, show_numbers
from lab.ui.parameters import CORRECTED, VERSION
from lab.ui.screen import caption
from lab.ui.shared import metric_choice
from lab.ui.taking import tell

_FEW_HEADS = 8  # if a layer has more heads, the figure is wider
_METRICS = {metric.name: metric for metric in METRICS}
_PATTERNS = {pattern.name: pattern for pattern in PATTERNS}


def show(seen: HeadsView) -> None:
    """Draw the maps of all heads, and beside them the opened head."""
    trace, colour = seen.trace, seen.colour
    corrected, tau, config = VERSION.chosen() == CORRECTED, metric_choice.threshold(), trace.model.config
    left, right = st.columns([3, 2] if config.heads <= _FEW_HEADS else [2, 1])
    with left:
        told, opened = chosen_mark(seen.layer, seen.head, config.layers, config.heads)
        call = partial(all_heads, trace, opened, colour, corrected, tau)
        view = replace(call(), told=told, jobs=notable.told(runs.head_jobs(trace.model)))
        size = view.thumbnails.block
        block = "" if size == 1 else f" A cell shows the largest weight of {size} × {size} tokens."
        how = "Each small map is a head. Each row is a token that looks, and each column is a token that is looked at."
        st.markdown(
            f"{how} Click a map to open it.{block} “As lines” draws the same weights as BertViz does (Vig 2019). A "
            "line leads from a token on the left to the token on the right that it looks at."
        )
        mount("model_view", view.payload(), FIGURE, states=("opened",))
        if colour in _PATTERNS:
            st.caption(_beside_chance(trace, colour))
        if view.jobs:
            st.caption(
                "A square in a corner marks a head whose job was measured on many sentences. Point at the square to "
                "read the job. Lesson 6 names heads by this text alone, so its names can differ."
            )
        show_numbers(view.table, FIGURE, call, view)
        jobs = " A square in a corner marks a head whose job was measured on many sentences." * bool(view.jobs)
        tell(how + block + jobs)
    with right:
        _show_opened(seen)


def _show_opened(seen: HeadsView) -> None:
    """Draw the exact weights of one head; in a long text, only the weights around the chosen pair."""
    trace, query, key = seen.trace, seen.query, seen.key
    draw(partial(attention.attention_map, trace, seen.layer, seen.head, query, key), "opened-head")
    rows, columns = attention.shown(trace, query, key)
    n = len(trace)
    part = (
        ""
        if rows == slice(0, n)
        else (
            f" You see queries {rows.start + 1}–{rows.stop} and keys {columns.start + 1}–{columns.stop} of "
            f"the {n} × {n} weights."
        )
    )
    weight = float(np.asarray(trace.layer(seen.layer).attention)[seen.head, query, key])
    told = (
        f"In the outlined cell, {named(trace, query)} looks at {named(trace, key)} with the weight {weight:.2f}.{part}"
    )
    caption(told)


def frames_of(trace: Trace, colour: str, corrected: bool, tau: float) -> Frames | None:
    """Measure the metric or pattern named ``colour`` for every head; None for the weights alone."""
    if (metric := _METRICS.get(colour)) is not None:
        values = trace_metrics(trace, tau).values(metric.id, corrected)
        return Frames(label(metric, corrected, tau), unit(metric, corrected), values)
    if (pattern := _PATTERNS.get(colour)) is not None:
        return Frames(colour, "score", getattr(trace_patterns(trace), pattern.id))
    return None


def all_heads(
    traced: Trace, at: tuple[int, int] = (0, 0), colour: str = "", corrected: bool = False, threshold: float = 0.01
) -> ModelView:
    """Draw every head of a run as a small map; the layer and head ``at`` (from 0) are marked as open.

    ``colour`` is the name of a metric or pattern, whose values colour the frames.
    """
    frames, numbers = (
        frames_of(traced, colour, corrected, threshold),
        partial(head_numbers, traced, corrected, threshold),
    )
    maps, causal = thumbnails(traced), is_causal(traced)
    return ModelView(maps, traced.labels, traced.model.id, causal, frames, at, numbers=numbers)


def head_numbers(traced: Trace, corrected: bool = False, threshold: float = 0.01) -> pd.DataFrame:
    """One row for each head: the metrics, the scores of the patterns, and the pattern that names the head.

    Layers and heads count from 1. If the text has no case for a value, the value is nan.
    """
    every, found = trace_metrics(traced, threshold), trace_patterns(traced)
    layers, heads = every.removed.shape
    columns = {
        "layer": np.repeat(np.arange(1, layers + 1), heads),
        "head": np.tile(np.arange(1, heads + 1), layers),
    }
    for metric in METRICS:
        columns[label(metric, corrected, threshold)] = every.values(metric.id, corrected).ravel()
    for pattern in PATTERNS:
        columns[pattern.name] = getattr(found, pattern.id).ravel()
    return pd.DataFrame({**columns, "named": trace_names(traced).ravel()})


def _beside_chance(trace: Trace, colour: str) -> str:
    """State the values to compare a pattern's scores with, and how many heads are named after it."""
    pattern, chance = _PATTERNS[colour], trace_chance(trace)
    place = PATTERNS.index(pattern)
    uniform, untrained = float(chance.uniform[place]), float(chance.untrained[place])
    if np.isnan(uniform):
        return "This text has no case of the pattern, or the model is causal and cannot show it."
    named = int(np.count_nonzero(trace_names(trace) == pattern.id))
    return (
        f"On this text, a uniform head scores {uniform:.3f}, and the best head of the same architecture "
        f"with random weights scores {untrained:.3f}. {named} of "
        f"{trace.model.config.layers * trace.model.config.heads} heads are clearly above both, so they are named "
        f"{colour.lower()}."
    )
