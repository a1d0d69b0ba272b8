"""Compare heads: small maps of all of them (Vig 2019), their parts of a layer's output, and the likeness of the parts.

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

from lab.analysis.heads.values import Weights, as_heads, layers
from lab.models.layer_trace import LayerTrace
from lab.models.memo import once
from lab.models.trace import Trace

Array = NDArray[np.float32]


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


MOST_CELLS = 64  # the largest number of cells per side of a map: a thumbnail has no more pixels
# The largest number of cells of all maps together: 1.4 MB at two bytes for each cell.
_CELLS_IN_ALL = 700_000


@dataclass(frozen=True, eq=False)
class Thumbnails:
    """Every head's attention in a few cells.

    maps      (L, H, m, m), rows are queries; a cell is the largest weight between ``block`` queries and ``block`` keys
    (fewer at the end of the text) block     the number of tokens per cell; 1 in a short text, and then the maps are the
    attention itself
    """

    maps: Weights
    block: int


def cells_a_side(heads: int) -> int:
    """Return the most cells per side of a thumbnail if a model has ``heads`` heads in all."""
    return min(MOST_CELLS, math.isqrt(_CELLS_IN_ALL // heads))


@once
def thumbnails(trace: Trace) -> Thumbnails:
    """Make the small maps of all heads of a run. Memory holds one layer's attention at a time."""
    config = trace.model.config
    most = cells_a_side(config.layers * config.heads)
    found = [small_maps(attention, most) for attention in layers(trace)]
    return Thumbnails(np.stack([maps for maps, _ in found]), found[0][1])


def strongest_in(attention: Weights, query: int, key: int, block: int) -> tuple[int, int]:
    """Return the query and the key of the largest weight in a block of (n, n) that begins at ``query`` and ``key``."""
    part = attention[query : query + block, key : key + block]
    row, column = divmod(int(part.argmax()), part.shape[1])
    return query + row, key + column
