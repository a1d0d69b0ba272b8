"""The way from a text to a word, as stops: what a model makes of this very text at each, drawn small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.analysis.words.predictions import candidates, prediction_at
from lab.charts.marks.sketches import cells_sketch, chips_sketch
from lab.charts.tokens.word_bars import WordBar, word_bars
from lab.experiments.notable import grammar_head
from lab.models.memo import once
from lab.models.trace import Trace

# Rows and columns of a sketch: more cannot be told apart.
ROWS, COLUMNS = 12, 24


@dataclass(frozen=True)
class Stop:
    """One stop: its name, what is there, the drawing (HTML), and the ids of the lessons about it."""

    name: str
    told: str
    sketch: str
    lessons: tuple[str, ...]


@once
def way(traced: Trace, place: int) -> tuple[Stop, ...]:
    """The stops of ``traced`` on the way to a word at ``place`` (from 0). Raises ValueError without a vocabulary head.

    Told in words, too: who does not see the drawings reads the same way.
    """
    config, n = traced.model.config, len(traced)
    rows = slice(0, ROWS)
    layer, head = grammar_head(traced)
    inside = traced.layer(layer)
    best = candidates(prediction_at(traced, place, None), 3, traced.model.tokenizer)
    changes = np.diff(traced.hidden_states[:, place, :COLUMNS].numpy(), axis=0)
    of_layers = cells_sketch(changes)
    attention = np.asarray(inside.attention[head])[rows, rows]
    return (
        Stop("Tokens", f"The text becomes {n} tokens.", chips_sketch(traced.labels, place), ("tokenization",)),
        Stop(
            "Vectors", f"Each token becomes {config.width} numbers.",
            cells_sketch(traced.embeddings.output[rows, :COLUMNS].numpy()), ("embeddings",),
        ),
        Stop(
            "Attention", f"Each token collects from the others, in {config.heads} heads.", cells_sketch(attention),
            ("self-attention", "multi-head-attention", "attention-metrics", "head-specialization",
             "inter-sentence-attention"),
        ),
        Stop(
            "Feed-forward", f"{config.ffn_width:,} neurons work on each token.",
            cells_sketch(inside.ffn_activation[rows, :COLUMNS].numpy()), ("feed-forward",),
        ),
        Stop("Layers", f"That happens {config.layers} times. A row is how a layer changes the blank.", of_layers, ()),
        Stop(
            "Word", f"The last vector becomes a word: {best[0].word}, {best[0].probability:.2f}.",
            word_bars([WordBar(each.word, each.probability) for each in best], small=True), ("masked-language-model",),
        ),
    )  # fmt: skip
