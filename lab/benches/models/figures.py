"""A model beside its twin with random weights: one head's map, all heads in one number, the best words at a place.

Each figure is that of one trace; the same of the twin's trace stands beside it.
"""

from __future__ import annotations

from lab.analysis.heads import twins as analysis
from lab.analysis.heads.attention import attention_map
from lab.analysis.words import predictions as read
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.bars import bars
from lab.models.trace import Trace

MAP_TOKENS = 48  # two maps share the width of the page
TOP = 5


def head_map(traced: Trace, layer: int, head: int, title: str, high: float = 1.0) -> Heatmap:
    """The first :data:`MAP_TOKENS` rows and columns of one head's weights; ``high`` is the end of the colours."""
    weights, tokens = attention_map(traced.layer(layer), head), traced.labels[:MAP_TOKENS]
    return heatmap(
        weights[:MAP_TOKENS, :MAP_TOKENS], tokens, tokens, title=title, row_title="Query (attends)",
        column_title="Key (attended to)", value_title="Weight", domain=(0.0, high),
        causal=traced.model.config.causal,
    )  # fmt: skip


def head_spread(traced: Trace, name: str) -> Heatmap:
    """How evenly each head spreads its attention: entropy ÷ its maximum, a mean over rows. ``name`` is for the title.

    Raises ValueError for a single token, which has nothing to spread.
    """
    values = analysis.head_spread(traced)
    layers, heads = values.shape
    return heatmap(
        values, [str(i + 1) for i in range(layers)], [str(i + 1) for i in range(heads)],
        title=f"Entropy ÷ maximum: {name}", row_title="Layer", column_title="Head", value_title="Entropy ÷ maximum",
        domain=(0.0, 1.0), value_format=".2f", numbered=False,
    )  # fmt: skip


def best_words(traced: Trace, place: int, title: str, high: float = 1.0) -> Figure:
    """The :data:`TOP` most probable words at ``place``, or after it in a causal model; ``high`` ends the scale.

    Raises ValueError for a model without a vocabulary head.
    """
    (prediction,) = read.predictions(traced, [place], [None])
    best = read.candidates(prediction, TOP, traced.model.tokenizer)
    where = f"after token {place + 1}" if traced.model.config.causal else f"at token {place + 1}"
    return bars(
        [each.word for each in best], [each.probability for each in best], domain=(0.0, high), title=title,
        value_title=f"Probability {where}", value_format=".3g",
    )  # fmt: skip
