"""The figures by which two runs can be compared, each with the numbers that it shows.

:data:`COMPARABLE` has a function for each figure: ``(trace, at) -> Numbers``. Layers, heads and tokens count from 0;
a number that is too large for the run becomes the number of its last layer, head or token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lab.analysis.heads.metrics import trace_metrics
from lab.analysis.heads.one_row import window
from lab.analysis.heads.specialization import SPECIALIZATIONS
from lab.analysis.heads.specialization import specialization as measured
from lab.analysis.layers.embeddings import parts
from lab.analysis.sentences.between_sentences import MASS
from lab.analysis.words import predictions
from lab.analysis.words.masking import is_hidden, masked_run
from lab.benches.compare.side_by_side import KindCells, NeuronCells, Numbers, WordShares
from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.categories import CategoryMap
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.cells.slices import ACTIVATION
from lab.charts.cells.small_maps import SmallMaps
from lab.figures import (
    attention,
    embedding_figures,
    metric_figures,
    sentences,
    specialization_figures,
    sublayer_figures,
)
from lab.figures.trace_axes import counted
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace

# The most tokens on an axis, and the most cells per side of a map, because two figures share the width of the page.
TOKENS = 48
CELLS = 32
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

    Raises NothingToShow if there is no word to hide, or the model predicts no words.
    """
    if reason := traced.model.no_words:
        raise NothingToShow(reason)
    there = min(token, len(traced) - 1)
    if traced.model.config.causal or is_hidden(traced, there):
        return traced
    if traced.encoding.special[there]:
        raise NothingToShow(f"Token {there + 1}, {traced.labels[there]}, is not a word and cannot be predicted.")
    return masked_run(traced, (there,))


def _embeddings(traced: Trace, at: At) -> Heatmap:
    """Draw the vectors that layer 1 reads, one vector per row."""
    part = "LayerNorm" if "LayerNorm" in parts(traced) else "sum"
    return embedding_figures.vectors(traced, at.token, part=part)


def _attention(traced: Trace, at: At) -> Heatmap:
    """Draw the weights of one head."""
    return attention.weights_among(traced, at.layer, at.head, window(at.token, len(traced), TOKENS))


def _all_heads(traced: Trace, at: At) -> SmallMaps:
    """Draw the weights of every head of a layer; in a long text, each cell has the largest weight of a block."""
    return attention.all_heads(traced, at.layer, at.head, at.token, CELLS)


def _metrics(traced: Trace, at: At) -> Heatmap:
    """Draw one metric of every head."""
    if not np.isfinite(trace_metrics(traced).values(at.metric, at.corrected)).all():
        raise NothingToShow("A single token has no other token to attend to, so the corrected metric has no value.")
    return metric_figures.all_heads(traced, at.metric, at.layer, at.head, at.corrected)


def _head_names(traced: Trace, at: At) -> CategoryMap:
    """Draw the named pattern of every head."""
    return specialization_figures.named_heads(traced, at.layer, at.head, title=HEAD_NAMES)


def _specialization(traced: Trace, at: At) -> KindCells:
    """Draw the seven specialization metrics of a layer's heads, without the metrics for which the text has no tokens.

    Raises :class:`lab.text.tags.pipeline.PipelineUnavailable`.
    """
    found = measured(traced)
    values = (found.corrected if at.corrected else found.raw)[at.layer]
    there = specialization_figures.present(values)
    names = [specialization_figures.axis_name(traced, SPECIALIZATIONS[each]) for each in there]
    title = f"Specialization, layer {at.layer + 1}, {'corrected' if at.corrected else 'raw'}"
    scale = Scale("× even share" if at.corrected else sentences.SHARE)
    axes = counted("Head", len(values)), Axis("Metric", names, things="kinds of token")
    return KindCells(**vars(heatmap(values[:, there], axes, scale, title=title)), kinds=tuple(there.tolist()))


def _sublayers(traced: Trace, at: At) -> Heatmap:
    """Draw the change of each token by each sublayer."""
    return sublayer_figures.changes(traced, at.token, TOKENS)


def _neurons(traced: Trace, at: At) -> NeuronCells:
    """Draw the activations of one token's neurons, cut into rows."""
    values = traced.layer(at.layer).ffn_activation[at.token].numpy()
    count = len(values)
    across = min(NEURONS_A_ROW, count)
    cells = np.zeros(-(-count // across) * across, dtype=np.float32)
    cells[:count] = values
    starts = [str(start) for start in range(1, count + 1, across)]
    axes = Axis("Neurons from", starts, things="neurons", count=count), Axis("plus", [str(i) for i in range(across)])
    title = f"Activations of the {count:,} neurons of {traced.labels[at.token]}, layer {at.layer + 1}"
    return NeuronCells(**vars(heatmap(cells.reshape(-1, across), axes, ACTIVATION, title=title)))


def _predictions(traced: Trace, at: At) -> WordShares:
    """Return the probability of every word at a token that is hidden, or after the token in a causal model."""
    found = predictions.predictions(hidden(traced, at.token), [at.token], [None])[0]
    where = "after" if traced.model.config.causal else "at"
    word = partial(predictions.word_of, traced.model.tokenizer)
    title = f"Most probable words {where} token {at.token + 1}"
    return WordShares(title, found.probabilities, word, _vocabulary(traced.model))


@once
def _vocabulary(model: LoadedModel) -> str:
    """Return a hash that is equal for two models with the same words and ids."""
    return hashlib.sha256(repr(sorted(model.tokenizer.get_vocab().items())).encode()).hexdigest()


def _sentences(traced: Trace, at: At) -> Heatmap:
    """Draw the attention between sentences."""
    if len(sentences.between(traced).sentences) < 2:
        raise NothingToShow("This text is a single sentence, so there is no attention between sentences.")
    return sentences.matrix(traced, at.measure, (0, 0))


EMBEDDINGS, ATTENTION, ALL_HEADS = "Embeddings", "Attention of a head", "All heads of a layer"
METRIC, HEAD_NAMES, SPECIALIZATION = "Metric of every head", "Named heads", "Specialization"
SUBLAYERS_ADD, NEURONS = "Sublayer changes", "Neurons of a token"
PREDICTIONS, SENTENCES = "Most probable words", "Sentence to sentence"
COMPARABLE: Mapping[str, Callable[[Trace, At], Numbers]] = {
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
def shown(traced: Trace, figure: str, at: At) -> Numbers:
    """Return a figure of :data:`COMPARABLE` for a run.

    Raises :class:`NothingToShow`, and for specialization :class:`lab.text.tags.pipeline.PipelineUnavailable`.
    """
    return COMPARABLE[figure](traced, at.inside(traced))
