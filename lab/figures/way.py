"""The way from a text to a word, as stops: what a model makes of this very text at each, drawn small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.analysis.words.predictions import candidates, prediction_at
from lab.charts.marks.sketches import cells_sketch, chips_sketch
from lab.charts.tokens.word_bars import WordBar, word_bars
from lab.course.stops import STOPS
from lab.experiments.notable import grammar_head
from lab.models.memo import once
from lab.models.trace import Trace

# Rows and columns of a sketch: more cannot be told apart.
ROWS, COLUMNS = 12, 24
_LESSONS = {stop.name: stop.lessons for stop in STOPS}


@dataclass(frozen=True)
class Sketched:
    """One stop of the way: its name, what is there, and the drawing (HTML)."""

    name: str
    told: str
    sketch: str

    @property
    def lessons(self) -> tuple[str, ...]:
        """The ids of the lessons about it; none about the layers, which are the two stops before them again."""
        return _LESSONS.get(self.name, ())


@once
def way(traced: Trace, place: int) -> tuple[Sketched, ...]:
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
        Sketched("Tokens", f"The text becomes {n} tokens.", chips_sketch(traced.labels, place)),
        Sketched(
            "Vectors",
            f"Each token becomes {config.width} numbers.",
            cells_sketch(traced.embeddings.output[rows, :COLUMNS].numpy()),
        ),
        Sketched(
            "Attention",
            f"Each token collects from the others, in {config.heads} heads.",
            cells_sketch(attention),
        ),
        Sketched(
            "Feed-forward",
            f"{config.ffn_width:,} neurons work on each token.",
            cells_sketch(inside.ffn_activation[rows, :COLUMNS].numpy()),
        ),
        Sketched(
            "Layers",
            f"Attention and feed-forward take {config.layers} turns. Each row shows how one layer changes the vector "
            "of the blank.",
            of_layers,
        ),
        Sketched(
            "Word",
            f"The last vector becomes a word: {best[0].word}, {best[0].probability:.2f}.",
            word_bars([WordBar(each.word, each.probability) for each in best], small=True),
        ),
    )
