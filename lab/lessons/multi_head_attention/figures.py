"""Figures of heads switched off: the movement of later vectors, and the prediction.

Layers, heads and places count from 0. ``to_mean`` sets a head to its mean over the text's tokens instead of 0.
"""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.ablation import each_head_off, head_off, log_change
from lab.analysis.heads.attention import window
from lab.analysis.words.predictions import Prediction, candidate, candidates, word_of
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.bars import bars
from lab.figures.axes import layers_and_heads
from lab.figures.mistakes import streams
from lab.figures.multi_head import COLUMNS
from lab.models.trace import Trace

TOP = 5


def moved_by_token(traced: Trace, layer: int, head: int, to_mean: bool = False, place: int = 0) -> Heatmap:
    """Draw how far each token's vector moves with one head off; in a long text, only for tokens around ``place``."""
    moved = head_off(traced, layer, head, None, to_mean).moved
    shown = window(place, len(traced), COLUMNS)
    axes = Axis("After", streams(len(moved))), Axis("Token", traced.labels[shown])
    scale = Scale("Share of the vector’s length", format=".2f")
    return heatmap(moved[:, shown], axes, scale, title="How far each token’s vector moves")


def best_with_head(traced: Trace, layer: int, head: int, place: int, word: int, to_mean: bool = False) -> Figure:
    """Draw the most probable words at ``place``, on the scale of :func:`best_without_head`; ``word`` (id) is marked.

    Raises ValueError for a model without a vocabulary head.
    """
    return _best(traced, _predictions(traced, layer, head, place, to_mean), word, off=False)


def best_without_head(traced: Trace, layer: int, head: int, place: int, word: int, to_mean: bool = False) -> Figure:
    """Draw the most probable words at ``place`` with the head off. Errors: those of :func:`best_with_head`."""
    return _best(traced, _predictions(traced, layer, head, place, to_mean), word, off=True)


def _predictions(traced: Trace, layer: int, head: int, place: int, to_mean: bool) -> tuple[Prediction, Prediction]:
    logits = (traced.logits(place)[0].numpy(), head_off(traced, layer, head, place, to_mean).logits)
    with_head, without = (Prediction(place, None, np.asarray(each, dtype=np.float64)) for each in logits)
    return with_head, without


def _best(traced: Trace, both: tuple[Prediction, Prediction], word: int, *, off: bool) -> Figure:
    """Draw the best words of one of the two predictions; if ``word`` is not among them, its bar is added below."""
    shown, causal = both[off], traced.model.config.causal
    best, followed = candidates(shown, TOP, traced.model.tokenizer), candidate(shown, word, traced.model.tokenizer)
    words = best if followed in best else (*best, followed)
    noun, where = ("tokens", "after") if causal else ("words", "at")
    title = f"Head {'off' if off else 'on'}: the {TOP} most probable {noun} {where} token {shown.place + 1}"
    if words is not best:
        title += f", and number {followed.rank:,}"
    scale = Scale("Probability", (0.0, float(max(each.probabilities.max() for each in both))), ".3g")
    labels, values = [each.word for each in words], [each.probability for each in words]
    return bars(labels, values, scale, title=title, highlight=words.index(followed))


def effect_on_word(traced: Trace, layer: int, head: int, place: int, word: int, to_mean: bool = False) -> Heatmap:
    """Draw the change of ln P(``word``), an id, at ``place`` with each head off, one at a time; one head is outlined.

    The figure takes one run for every head of the model. Raises ValueError for a model without a vocabulary head.
    """
    change = log_change(traced, place, word, to_mean)
    title = f"Change of ln P({word_of(traced.model.tokenizer, word)}) with each head off"
    scale = Scale("Change of ln P", format="+.2f", signed=True)
    return heatmap(change, layers_and_heads(change), scale, title=title, highlight=(layer, head))


def effect_on_vectors(traced: Trace, layer: int, head: int, to_mean: bool = False) -> Heatmap:
    """Draw how far the last layer's vectors move with each head off, one at a time; one head is outlined."""
    moved = each_head_off(traced, None, None, to_mean).moved
    title, scale = "How far the last vectors move with each head off", Scale("Share of their length", format=".2f")
    return heatmap(moved, layers_and_heads(moved), scale, title=title, highlight=(layer, head))
