"""Neuron view: a head's queries, keys and values dimension by dimension (after BertViz, and on through W_O).

Vig 2019 calls a dimension of q and k a neuron; in the lessons, a neuron is part of the feed-forward network.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.analysis.heads.walk import neighbours_head
from lab.course.sentences.looks import look_head
from lab.course.words import named
from lab.models.trace import Trace
from lab.ui.bench import BenchParts
from lab.ui.chosen_tokens import with_tokens
from lab.ui.page import BenchPage

# The ids of the two steps to which the third one leads.
DIMENSIONS, DECIDING = "dimensions", "deciding"


@dataclass(frozen=True)
class NeuronView:
    """One query of one head, all counted from 0."""

    trace: Trace
    layer: int
    head: int
    query: int

    @property
    def at(self) -> tuple[int, int]:
        return self.layer, self.head

    @property
    def width(self) -> int:
        """d_k, the number of dimensions."""
        return self.trace.model.config.head_width

    def name(self, token: int) -> str:
        """Return a token for Markdown, with its place."""
        return named(self.trace, token)


def look(page: BenchPage, trace: Trace, step: str) -> NeuronView:
    """Draw the choices of layer and head in the sidebar."""
    layer, head = page.head_controls(trace, neighbours_head if step == DECIDING else look_head)
    token, _ = with_tokens(trace, (layer, head))
    return NeuronView(trace, layer, head, token)


PARTS: BenchParts[NeuronView] = BenchParts(look=look)
