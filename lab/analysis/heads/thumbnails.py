"""Small attention maps of all heads of a model at once (after BertViz's model view, Vig 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.comparing import small_maps
from lab.analysis.heads.values import Weights, layers
from lab.models.memo import once
from lab.models.trace import Trace

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
