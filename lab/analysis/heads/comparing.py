"""Compare the heads of a layer: their parts of the layer's output, the lengths of these parts, and the similarity of
two maps.

Vaswani et al. 2017, §3.2.2: MultiHead(x) = Concat(head_1 … head_H)·W_O. A concatenation times a matrix is
a sum: each head's context times its own d_k rows of W_O (Elhage et al. 2021, "A Mathematical Framework for
Transformer Circuits").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lab.analysis.heads.values import Values, Weights, as_heads, is_causal, row_entropy, row_lengths
from lab.models.config import ModelConfig
from lab.models.layer_trace import LayerTrace
from lab.models.memo import once
from lab.models.trace import Trace

Array = NDArray[np.float32]

# The divergence, in nats, of two rows that share no key.
MOST_APART = math.log(2)


@dataclass(frozen=True, eq=False)
class HeadSum:
    """The attention output of one layer, split by head.

    parts      (H, n, d), each head's context through its rows of W_O
    bias       (d,), b_O
    total      (n, d), the parts and the bias added up
    output     (n, d), the layer's own output: the concatenated heads through the whole W_O
    """

    parts: Array
    bias: Array
    total: Array
    output: Array

    @property
    def difference(self) -> float:
        """The largest |total − output| over all tokens and dimensions."""
        return float(np.abs(self.total - self.output).max())

    @property
    def largest(self) -> float:
        """The largest |output|, with which the largest difference can be compared."""
        return float(np.abs(self.output).max())

    @property
    def norms(self) -> Array:
        """The length of the vector that each head adds to each token, (H, n)."""
        return np.asarray(np.linalg.norm(self.parts, axis=-1))


@torch.inference_mode()
def head_parts(context: Tensor, w_o: Tensor) -> Tensor:
    """Multiply each head's context (H, n, d_k) by the head's own d_k rows of W_O (d, d): (H, n, d)."""
    return context @ w_o.unflatten(0, (len(context), -1))


def head_sum(layer: LayerTrace) -> HeadSum:
    """Compute the vector that each head of a layer adds to each token, and their sum next to the layer's output."""
    parts, bias = head_parts(layer.context, layer.weights.w_o), layer.weights.b_o
    total = parts.sum(dim=0) + bias
    return HeadSum(*(np.asarray(t) for t in (parts, bias, total, layer.attention_output)))


def row_divergence(first: NDArray[Any], second: NDArray[Any]) -> Values:
    """Return the distance of two heads' rows: the Jensen–Shannon divergence in nats, (..., n, n) -> (..., n).

    H(m) − (H(p) + H(q)) / 2 with m = (p + q) / 2 (Lin 1991): 0 for equal rows, ln 2 ≈ 0.69 for rows that
    share no key. Clark et al. 2019, §6, compare heads by this divergence.
    """
    p, q = np.asarray(first, dtype=np.float32), np.asarray(second, dtype=np.float32)
    mean = np.asarray((p + q) / 2, dtype=np.float32)
    nats = row_entropy(mean) - (row_entropy(p) + row_entropy(q)) / 2
    return np.clip(nats, 0, MOST_APART).astype(np.float64)


def head_divergence(attention: NDArray[Any] | Tensor, *, causal: bool) -> Values:
    """Return the mean :func:`row_divergence` of every two heads of a layer, (H, n, n) -> (H, H).

    Rows with a single key, such as the first row of a causal model, are the same in all heads and are left
    out; nan if there are no other rows.
    """
    weights = as_heads(attention)
    heads, n, _ = weights.shape
    free = row_lengths(n, causal) > 1
    if not free.any():
        return np.full((heads, heads), np.nan)
    read = weights[:, free]
    found = np.zeros((heads, heads))
    for head in range(heads - 1):
        found[head, head + 1 :] = row_divergence(read[head], read[head + 1 :]).mean(axis=-1)
    return found + found.T


@once
def layer_divergence(trace: Trace, layer: int) -> Values:
    """:func:`head_divergence` of layer ``layer`` (from 0) of a trace, (H, H)."""
    return head_divergence(trace.layer(layer).attention, causal=is_causal(trace))


def block_size(n: int, most: int) -> int:
    """Return the number of tokens per side of a cell, in a map of at most ``most`` × ``most`` cells."""
    return math.ceil(n / most)


def small_maps(attention: NDArray[Any] | Tensor, most: int) -> tuple[Weights, int]:
    """Reduce maps to at most ``most`` × ``most`` cells, (H, n, n) -> (H, m, m); also return the tokens per side of a
    cell.

    In a longer text, a cell holds the largest weight of its block, so that large weights stay visible.
    """
    weights = as_heads(attention)
    heads, n, _ = weights.shape
    block = block_size(n, most)
    if block == 1:
        return weights, 1
    m = math.ceil(n / block)
    padded = np.zeros((heads, m * block, m * block), dtype=np.float32)
    padded[:, :n, :n] = weights
    return padded.reshape(heads, m, block, m, block).max(axis=(2, 4)), block


def counted_parameters(layer: LayerTrace, config: ModelConfig) -> int:
    """Return the number of parameters in the heads of a layer, counted in the layer's own tensors."""
    w = layer.weights
    biases = (w.b_q, w.b_k, w.b_v, w.b_o) if config.biases else ()
    return sum(t.numel() for t in (w.w_q, w.w_k, w.w_v, w.w_o, *biases))


def favourite(layer: LayerTrace, head: int, query: int) -> int:
    """Return the key, from 0, with the largest weight in the row of ``query``."""
    return int(layer.attention[head, query].argmax())


def given(layer: LayerTrace, query: int, key: int) -> Array:
    """Return the weight that each head of a layer gives to ``key`` from ``query``, (H,)."""
    weights: Array = np.asarray(layer.attention[:, query, key])
    return weights


def strongest_elsewhere(trace: Trace, layer: int, head: int, query: int) -> tuple[int, int, float]:
    """The head of another layer with the largest weight on this head's favourite key: layer, head (from 0) and weight.

    In a model with only one layer, the weight is 0.
    """
    key = favourite(trace.layer(layer), head, query)
    weights = np.stack([given(trace.layer(at), query, key) for at in range(trace.model.config.layers)])
    weights[layer] = 0
    at = np.unravel_index(int(weights.argmax()), weights.shape)
    return int(at[0]), int(at[1]), float(weights[at])
