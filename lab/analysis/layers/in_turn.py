"""The rows of attention computed all at once or one after the other: the same numbers, in different times."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.forward import merge_heads
from lab.models.layer_trace import LayerTrace
from lab.models.memo import once
from lab.models.one_token import read_by_heads
from lab.models.trace import Trace

# Each way is timed this often, and the shortest time counts: other work on the machine only makes a run longer.
REPEATS = 5


@dataclass(frozen=True)
class Times:
    """The milliseconds for the attention of a layer, and the largest difference between the numbers of both ways."""

    at_once: float
    in_turn: float
    difference: float

    @property
    def ratio(self) -> float:
        """The time for one row after the other, divided by the time for all at once."""
        return self.in_turn / self.at_once


class Timing:
    """The times of a layer, once somebody has measured them."""

    found: Times | None = None


@once
def timing(trace: Trace, layer: int) -> Timing:
    """The place where the times for a layer of this run are kept for all visitors; at first without times."""
    return Timing()


@torch.inference_mode()
def at_once(layer: LayerTrace, config: ModelConfig) -> Tensor:
    """Compute the output of attention, (n, d), for all tokens at once: a product of matrices for each step."""
    return forward.self_attention(read_by_heads(layer.input, layer.weights, config), layer.weights, config).output


@torch.inference_mode()
def in_turn(layer: LayerTrace, config: ModelConfig) -> Tensor:
    """Compute the output of :func:`at_once` with one token at a time in each projection, and then one row at a time.

    Rotary positions turn a vector by its place in the text, so they are applied to all keys at once.
    """
    x, w = read_by_heads(layer.input, layer.weights, config), layer.weights
    made = [forward.project_qkv(x[i : i + 1], w, config.heads) for i in range(len(x))]
    query, key, value = (torch.cat(parts, dim=-2) for parts in zip(*made, strict=True))
    if w.rotary is not None:
        query, key = forward.rotate(query, w.rotary), forward.rotate(key, w.rotary)
    rows = []
    for i in range(len(x)):
        seen = _seen(i, len(x), config, w.window)
        scores = forward.attention_scores(query[:, i : i + 1], key[:, seen])
        scaled = forward.scale(scores, config.head_width if config.scaled_scores else 1)
        context = forward.mix_values(forward.attend(scaled), value[:, seen])
        rows.append(forward.project_output(merge_heads(context), w))
    return torch.cat(rows)


def _seen(query: int, n: int, config: ModelConfig, window: int | None) -> slice:
    """The keys that a query may see."""
    first = 0 if window is None else max(0, query - window)
    last = n if window is None else min(n, query + window + 1)
    return slice(first, query + 1 if config.causal else last)


def measure(trace: Trace, layer: int, tell: Callable[[float], None] = lambda done: None) -> Times:
    """Time both ways on one layer of a run; ``tell`` receives the share that is done."""
    inside, config = trace.layer(layer), trace.model.config
    shortest = [float("inf"), float("inf")]
    for repeat in range(REPEATS):
        for way, compute in enumerate((at_once, in_turn)):
            begun = time.perf_counter()
            compute(inside, config)
            shortest[way] = min(shortest[way], 1000 * (time.perf_counter() - begun))
        tell((repeat + 1) / REPEATS)
    difference = float((at_once(inside, config) - in_turn(inside, config)).abs().max())
    return Times(shortest[0], shortest[1], difference)
