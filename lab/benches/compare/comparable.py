"""The numbers by which two runs can be compared: the data of the lessons' main figures, before they are drawn.

:data:`COMPARABLE` has a function for each figure: ``(trace, at) -> Shown``. Layers, heads and tokens count from 0;
a number that is too large for the run becomes the number of its last layer, head or token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lab.analysis.heads.attention import attention_map, window
from lab.analysis.heads.comparing import small_maps
from lab.analysis.heads.metrics import METRICS, trace_metrics
from lab.analysis.heads.named import trace_names
from lab.analysis.heads.specialization import SPECIALIZATIONS
from lab.analysis.heads.specialization import specialization as measured
from lab.analysis.heads.values import is_causal
from lab.analysis.layers.embeddings import parts
from lab.analysis.layers.sublayers import SUBLAYERS, sublayer_changes
from lab.analysis.sentences.attention import MASS
from lab.analysis.words import predictions
from lab.analysis.words.masking import mask_of, masked_run
from lab.benches.compare.shown import ComparedCells, ComparedMaps, ComparedWords, Folded, Labels, Names, ShownComparison
from lab.charts.cells.small_maps import block_names
from lab.figures import embeddings, metrics, sentences, specialization
from lab.figures.attention import place
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace

# The most tokens on an axis, and the most cells per side of a map, because two figures share the width of the page.
TOKENS = 48
CELLS = 32
DIMENSIONS = embeddings.DIMENSIONS
NEURONS_A_ROW = 64


class NothingToShow(ValueError):
    """Raised if a run has no data for a figure; the message says why."""


@dataclass(frozen=True)
class At:
    """The part of a run to compare. ``metric`` is a metric's id, ``measure`` a measure of the sentences' attention."""

    layer: int = 0
    head: int = 0
    token: int = 0
    metric: str = "spread"
    corrected: bool = False
    measure: str = MASS

    def inside(self, traced: Trace) -> At:
        """Return this part with layer, head and token moved inside a run."""
        config = traced.model.config
        layer, head = min(self.layer, config.layers - 1), min(self.head, config.heads - 1)
        return replace(self, layer=layer, head=head, token=min(self.token, len(traced) - 1))


def hidden(traced: Trace, token: int) -> Trace:
    """Return the run that predicts ``token``: a run that hides the token, or ``traced`` if the token is already hidden
    or the model is causal.

    Raises NothingToShow if there is no word to hide, or the model has no mask.
    """
    if traced.model.weights.vocabulary_head is None:
        raise NothingToShow(f"{traced.model.id} has no vocabulary head, so it predicts no words.")
    if traced.model.config.causal:
        return traced
    mask, there = mask_of(traced.model.tokenizer), min(token, len(traced) - 1)
    if mask is None:
        raise NothingToShow(f"The tokenizer of {traced.model.id} has no mask token to hide a word.")
    if traced.token_ids[there] == mask[1]:
        return traced
    if traced.encoding.special[there]:
        raise NothingToShow(f"Token {there + 1}, {traced.labels[there]}, is not a word and cannot be predicted.")
    return masked_run(traced, (there,))


def _tokens(traced: Trace, shown: slice, title: str = "Token") -> Labels:
    return Labels(title, traced.labels[shown], "tokens", len(traced), shown.start)


def _counted(title: str, count: int) -> Labels:
    return Labels(title, tuple(str(i + 1) for i in range(count)), f"{title.lower()}s", count)


def _embeddings(traced: Trace, at: At) -> ShownComparison:
    """Return the vectors that layer 1 reads, one vector per row."""
    found = parts(traced)
    what = "LayerNorm" if "LayerNorm" in found else "sum"
    values, rows = found[what], window(at.token, len(traced), embeddings.TOKENS)
    shown = slice(0, min(DIMENSIONS, values.shape[1]))
    names = tuple(embeddings.dimension_names(traced, shown))
    title = f"Embeddings {'after LayerNorm' if what == 'LayerNorm' else 'summed'}, dimensions 1 to {shown.stop}"
    down, across = _tokens(traced, rows), Labels("Dimension", names, "dimensions", values.shape[1])
    return ComparedCells(title, down, across, values[rows, shown].copy(), "Value", signed=True, strips=True)


def _attention(traced: Trace, at: At) -> ShownComparison:
    """Return the weights of one head."""
    shown = window(at.token, len(traced), TOKENS)
    weights = attention_map(traced.layer(at.layer), at.head)[shown, shown].copy()
    title, causal = f"Attention weights, {place(at.layer, at.head)}", is_causal(traced)
    rows, columns = _tokens(traced, shown, "Query"), _tokens(traced, shown, "Key")
    return ComparedCells(title, rows, columns, weights, "Weight", causal=causal)


def _all_heads(traced: Trace, at: At) -> ShownComparison:
    """Return the weights of every head of a layer; in a long text, each cell has the largest weight of a block."""
    maps, block = small_maps(traced.layer(at.layer).attention, CELLS)
    cells = tuple(block_names(traced.labels, block))
    heads, tokens = (
        _counted("Head", len(maps)),
        Labels("Token", cells, "tokens", len(traced), 0 if block == 1 else None),
    )
    return ComparedMaps(f"All heads of layer {at.layer + 1}", heads, tokens, maps, "Weight", causal=is_causal(traced))


def _metrics(traced: Trace, at: At) -> ShownComparison:
    """One metric of every head."""
    values = trace_metrics(traced).values(at.metric, at.corrected)
    if not np.isfinite(values).all():
        raise NothingToShow("A single token has no other token to attend to, so the corrected metric has no value.")
    metric = next(each for each in METRICS if each.id == at.metric)
    title, unit = metrics.label(metric, at.corrected, 0.01), metrics.unit(metric, at.corrected).capitalize()
    return ComparedCells(title, _counted("Layer", len(values)), _counted("Head", values.shape[1]), values, unit)


def _head_names(traced: Trace, at: At) -> ShownComparison:
    """Return the named pattern of every head."""
    names = trace_names(traced)
    layers, heads = _counted("Layer", len(names)), _counted("Head", names.shape[1])
    return Names("Named heads", layers, heads, names, (at.layer, at.head))


def _specialization(traced: Trace, at: At) -> ShownComparison:
    """Return the seven specialization metrics of a layer's heads, without the metrics for which the text has no tokens.

    Raises :class:`lab.text.tags.pipeline.PipelineUnavailable`.
    """
    found = measured(traced)
    values = (found.corrected if at.corrected else found.raw)[at.layer]
    there = specialization.present(values)
    names = tuple(specialization.axis_name(traced, SPECIALIZATIONS[each]) for each in there)
    title = f"Specialization, layer {at.layer + 1}, {'corrected' if at.corrected else 'raw'}"
    kinds, unit = (
        Labels("Metric", names, "kinds of token", len(names)),
        "× even share" if at.corrected else sentences.SHARE,
    )
    return ComparedCells(title, _counted("Head", len(values)), kinds, values[:, there], unit)


def _sublayers(traced: Trace, at: At) -> ShownComparison:
    """Return the change of each token by each sublayer."""
    values = sublayer_changes(traced).relative
    shown = window(at.token, len(traced), TOKENS)
    rows = tuple(f"{layer + 1} {name}" for layer in range(len(values)) for name in SUBLAYERS)
    sublayers, drawn = Labels("Sublayer", rows, "sublayers", len(rows)), values.reshape(-1, len(traced))[:, shown]
    return ComparedCells("‖Δ‖ / ‖x‖ of each sublayer", sublayers, _tokens(traced, shown), drawn, "‖Δ‖ / ‖x‖")


def _neurons(traced: Trace, at: At) -> ShownComparison:
    """Return the activations of one token's neurons, cut into rows."""
    values = traced.layer(at.layer).ffn_activation[at.token].numpy()
    count = len(values)
    across = min(NEURONS_A_ROW, count)
    cells = np.zeros(-(-count // across) * across, dtype=np.float32)
    cells[:count] = values
    starts = tuple(str(start) for start in range(1, count + 1, across))
    rows, columns = (
        Labels("Neurons from", starts, "neurons", count),
        Labels("plus", tuple(map(str, range(across))), "", across),
    )
    title = f"Activations of the {count:,} neurons of {traced.labels[at.token]}, layer {at.layer + 1}"
    return Folded(title, rows, columns, cells.reshape(-1, across), "Activation", signed=True)


def _predictions(traced: Trace, at: At) -> ShownComparison:
    """Return the probability of every word at a token that is hidden, or after the token in a causal model."""
    asked = hidden(traced, at.token)
    found = predictions.predictions(asked, [at.token], [None])[0]
    where = "after" if traced.model.config.causal else "at"
    title, word = (
        f"Most probable words {where} token {at.token + 1}",
        partial(predictions.word_of, traced.model.tokenizer),
    )
    return ComparedWords(title, found.probabilities, word, _vocabulary(traced.model))


@once
def _vocabulary(model: LoadedModel) -> str:
    """Return a hash that is equal for two models with the same words and ids."""
    return hashlib.sha256(repr(sorted(model.tokenizer.get_vocab().items())).encode()).hexdigest()


def _sentences(traced: Trace, at: At) -> ShownComparison:
    """Return the attention between sentences."""
    found = sentences.between(traced)
    if len(found.sentences) < 2:
        raise NothingToShow("This text is a single sentence, so there is no attention between sentences.")
    count = len(found.sentences)
    names = ("From", tuple(found.names())), ("To", tuple(str(i + 1) for i in range(count)))
    rows, columns = (Labels(title, labels, "sentences", count) for title, labels in names)
    title, unit = f"{at.measure}, sentence to sentence", sentences.MEASURES[at.measure][1]
    return ComparedCells(title, rows, columns, found.values(at.measure), unit, causal=found.causal)


EMBEDDINGS, ATTENTION, ALL_HEADS = "Embeddings", "Attention of a head", "All heads of a layer"
METRIC, HEAD_NAMES, SPECIALIZATION = "Metric of every head", "Named heads", "Specialization"
SUBLAYERS_ADD, NEURONS = "Sublayer changes", "Neurons of a token"
PREDICTIONS, SENTENCES = "Most probable words", "Sentence to sentence"
COMPARABLE: Mapping[str, Callable[[Trace, At], ShownComparison]] = {
    PREDICTIONS: _predictions,
    ATTENTION: _attention,
    ALL_HEADS: _all_heads,
    METRIC: _metrics,
    HEAD_NAMES: _head_names,
    SPECIALIZATION: _specialization,
    EMBEDDINGS: _embeddings,
    SUBLAYERS_ADD: _sublayers,
    NEURONS: _neurons,
    SENTENCES: _sentences,
}
# The figures with one value for each head, however long the text is.
PER_HEAD = (METRIC, HEAD_NAMES)
# The figures about one token.
OF_A_TOKEN = (NEURONS, PREDICTIONS)


@once
def shown(traced: Trace, figure: str, at: At) -> ShownComparison:
    """Return the data of a figure of :data:`COMPARABLE` for a run.

    Raises :class:`NothingToShow`, and for specialization :class:`lab.text.tags.pipeline.PipelineUnavailable`.
    """
    return COMPARABLE[figure](traced, at.inside(traced))
