"""A toy while it learns: the maps of all its heads, and the probability of every letter in a blank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab.analysis.words.predictions import prediction_at, word_of
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.small_maps import small_maps
from lab.charts.marks.bars import bars
from lab.figures.trace_axes import WEIGHT
from lab.models.trace import Trace


def head_names(layers: int, heads: int) -> list[str]:
    """Names of all heads, layer after layer; the names leave out the layer if there is only one."""
    return [
        f"head {head}" if layers == 1 else f"layer {layer}, head {head}"
        for layer in range(1, layers + 1)
        for head in range(1, heads + 1)
    ]


def head_maps(stages: Sequence[tuple[str, Trace]]) -> Figure:
    """Draw the maps of every head of a toy at every stage of its training, the stages of a head beside each other."""
    traces = [trace for _, trace in stages]
    config = traces[0].model.config
    # (stages, heads of all layers, n, n) -> (heads, stages, n, n): the stages of a head follow each other
    maps = np.stack([trace.attention.flatten(0, 1).numpy() for trace in traces]).swapaxes(0, 1)
    captions = [(head.capitalize(), stage) for head in head_names(config.layers, config.heads) for stage, _ in stages]
    title = "Attention of every head: rows attend, columns are attended to"
    return small_maps(
        maps.reshape(-1, *maps.shape[2:]), traces[0].labels, captions, WEIGHT, title=title, causal=config.causal
    )


def whole_vocabulary(traced: Trace, place: int, truth: int) -> Figure:
    """Draw the probability of each word of a small vocabulary at ``place``, by id; the true word has full colour."""
    prediction = prediction_at(traced, place, truth)
    words = [word_of(traced.model.tokenizer, each) for each in range(len(prediction.logits))]
    title = f"Probability of every word of the vocabulary at token {place + 1}"
    return bars(words, prediction.probabilities, Scale("Probability", (0.0, 1.0)), title=title, highlight=truth)
