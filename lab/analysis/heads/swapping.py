"""Swap what heads bring: one token gets what the same heads bring to a token of another sentence.

The input of W_O at the token is replaced for these heads only; queries, keys and all other tokens stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lab.models.interventions import Head, Interventions
from lab.models.trace import Trace, swaps, trace_encoding


@dataclass(frozen=True, eq=False)
class Asked:
    """A run, and the place (from 0) at which it predicts a word."""

    run: Trace
    place: int


def swapped(own: Asked, other: Asked, heads: Iterable[Head]) -> Trace:
    """Run ``own`` with what ``heads`` bring to its place taken from the place of ``other``."""
    changes = Interventions(swaps=swaps(other.run, heads, own.place, other.place))
    return trace_encoding(own.run.model, own.run.encoding, changes)


def companions(run: Trace, layer: int, head: int, place: int, least: float) -> frozenset[Head]:
    """Return the heads of a layer that look where ``head`` does: those that give its favourite at least ``least``.

    The favourite is the token to which the head gives most from ``place``; the head itself is always among them.
    """
    rows = run.layer(layer).attention[:, place]
    key = int(rows[head].argmax())
    return frozenset({(layer, head), *((layer, each) for each in (rows[:, key] >= least).nonzero()[:, 0].tolist())})


def others(run: Trace, heads: frozenset[Head]) -> frozenset[Head]:
    """Return all other heads of the layers of ``heads``."""
    layers = {layer for layer, _ in heads}
    return frozenset((layer, head) for layer in layers for head in range(run.model.config.heads)) - heads
