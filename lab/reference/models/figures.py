"""A model beside its twin with random weights: one head's map, all heads in one number, the best words at a place.

Each function draws one trace; a page calls it for the trace of the model and for the trace of the twin.
"""

from __future__ import annotations

from dataclasses import replace

from lab.analysis.heads import twins
from lab.analysis.heads.attention import attention_map
from lab.analysis.words import predictions
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.bars import bars
from lab.figures.axes import WEIGHT, layers_and_heads, queries_and_keys
from lab.models.trace import Trace

MAP_TOKENS = 48  # tokens per side of a map, since two maps share the width of the page
TOP = 5


def head_map(traced: Trace, layer: int, head: int, title: str, high: float = 1.0) -> Heatmap:
    """Draw the first :data:`MAP_TOKENS` rows and columns of one head's weights; ``high`` ends the scale of colours."""
    weights, first = attention_map(traced.layer(layer), head), slice(0, MAP_TOKENS)
    axes, scale = queries_and_keys(traced, first, first), replace(WEIGHT, domain=(0.0, high))
    return heatmap(weights[first, first], axes, scale, title=title, causal=traced.model.config.causal)


def head_spread(traced: Trace, name: str) -> Heatmap:
    """Draw how even each head's attention is: entropy ÷ its maximum, averaged over rows. ``name`` is for the title.

    Raises ValueError for a single token, which has nothing to spread.
    """
    values = twins.head_spread(traced)
    scale = Scale("Entropy ÷ maximum", (0.0, 1.0), ".2f")
    return heatmap(values, layers_and_heads(values), scale, title=f"Entropy ÷ maximum: {name}")


def best_words(traced: Trace, place: int, title: str, high: float = 1.0) -> Figure:
    """Draw the :data:`TOP` most probable words at ``place`` (in a causal model, after it); ``high`` ends the scale.

    Raises ValueError for a model without a vocabulary head.
    """
    (prediction,) = predictions.predictions(traced, [place], [None])
    best = predictions.candidates(prediction, TOP, traced.model.tokenizer)
    where = f"after token {place + 1}" if traced.model.config.causal else f"at token {place + 1}"
    scale = Scale(f"Probability {where}", (0.0, high), ".3g")
    return bars([each.word for each in best], [each.probability for each in best], scale, title=title)
