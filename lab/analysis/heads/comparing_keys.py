"""Which heads look at the same token from a query: those of its layer, and those of the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace


def favourite(layer: LayerTrace, head: int, query: int) -> int:
    """The key, from 0, with the largest weight in the row of ``query``."""
    return int(layer.attention[head, query].argmax())


def given(layer: LayerTrace, query: int, key: int) -> NDArray[np.float32]:
    """(H,) weights that the heads of a layer give to ``key`` from ``query``."""
    weights: NDArray[np.float32] = np.asarray(layer.attention[:, query, key])
    return weights


def strongest_elsewhere(trace: Trace, layer: int, head: int, query: int) -> tuple[int, int, float]:
    """Layer, head (from 0) and weight of the head of another layer that gives most to this head's favourite key.

    A model of one layer has no other: then the weight is 0.
    """
    key = favourite(trace.layer(layer), head, query)
    weights = np.stack([given(trace.layer(at), query, key) for at in range(trace.model.config.layers)])
    weights[layer] = 0
    at = np.unravel_index(int(weights.argmax()), weights.shape)
    return int(at[0]), int(at[1]), float(weights[at])
