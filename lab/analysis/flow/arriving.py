"""Split a token's vector into the parts that arrive from other tokens, layer by layer, token by token, head by head.

Attention and the feed-forward network both add to a token's vector. Attention's sum has a part for each token and head,
Σ_j Σ_h α_h·f_h(x_j), with f_h(x) = (x·W_V + b_V)·W_O of head h (Kobayashi et al. 2020, §3; Elhage et al. 2021, "A
Mathematical Framework for Transformer Circuits").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from lab.analysis.flow.maps import squares_by_head
from lab.analysis.heads.values import renormalised, row_sums
from lab.models.layer_trace import LayerTrace
from lab.models.memo import once
from lab.models.one_token import layer_rows

if TYPE_CHECKING:
    from torch import Tensor

    from lab.models.trace import Trace

Numbers = NDArray[np.float32]
# The most tokens of a text whose rows are all computed; for a longer text, only the watched row is computed.
WHOLE = 24


@dataclass(frozen=True, eq=False)
class Arriving:
    """The parts that arrive at the token ``watched`` (from 0), and in a short text also at the other tokens.

    Attributes
    ----------
    rows
        The q tokens whose rows are computed, from 0: all tokens of a short text, else only ``watched``.
    share
        (L, q, n), ‖Σ_h α_h·f_h(x_j)‖ as a share of the sum over all j: the share of attention's output that comes from
        token j. Each row adds up to 1, or to 0 if nothing arrives.
    strength
        (L, q), ‖Σ_j Σ_h α_h·f_h(x_j)‖ / ‖x‖: the length of attention's output relative to the vector x that it is added
        to.
    parts
        (L, H, n), ⟨α_h·f_h(x_j), Σ_g⟩/‖Σ_g‖² with Σ_g = Σ_g α_g·f_g(x_j), for the watched token: each head's part of
        the vector that arrives from token j. The heads' parts add up to 1; a head with a negative part works against
        the others. All are 0 if nothing arrives from token j.
    written
        (L, q), ‖FFN(x)‖/‖x‖: the relative length of the vector that the feed-forward network adds.
    """

    watched: int
    rows: tuple[int, ...]
    share: Numbers
    strength: Numbers
    parts: Numbers
    written: Numbers

    @property
    def row(self) -> Numbers:
        """The watched token's shares, (L, n)."""
        return np.asarray(self.share[:, self.rows.index(self.watched)])

    def brought_most(self, count: int) -> tuple[int, ...]:
        """Return the ``count`` tokens with the largest share in any layer, and the watched token, in text order."""
        largest = self.row.max(axis=0)
        largest[self.watched] = np.inf
        return tuple(sorted(int(each) for each in np.argsort(-largest, kind="stable")[:count]))


@once
def arriving(trace: Trace, watched: int) -> Arriving:
    """Split the vectors that each layer adds to ``watched`` into parts. Raises IndexError if there is no such token."""
    n = len(trace)
    if not 0 <= watched < n:
        raise IndexError(f"token {watched}: the text has tokens 0 to {n - 1}.")
    # A single row can be computed alone only if nothing but links and states of tokens is changed.
    alone = n > WHOLE and trace.interventions.without_tokens.changes_nothing
    rows = (watched,) if alone else tuple(range(n))
    layers = (_layer_at(trace, index, rows) for index in range(trace.model.config.layers))
    found = [_of_layer(layer, rows.index(watched)) for layer in layers]
    share, strength, parts, written = (np.stack(each).astype(np.float32) for each in zip(*found, strict=True))
    return Arriving(watched, rows, share, strength, parts, written)


@torch.inference_mode()
def _layer_at(trace: Trace, index: int, rows: Sequence[int]) -> LayerTrace:
    """Compute a layer of a run at the tokens ``rows``.

    For a long text, a few rows take only a small part of the work.
    """
    if len(rows) == len(trace):
        return trace.layer(index)
    w, config = trace.model.weights.layers[index], trace.model.config
    steps = trace.interventions.with_padding(len(trace), trace.encoding.padding).steps(index, config, len(trace))
    return LayerTrace.of(index, w, layer_rows(trace.hidden_states[index], rows, w, config, steps))


@torch.inference_mode()
def _of_layer(layer: LayerTrace, at: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return share (q, n), strength (q,), parts (H, n) and written (q,) of one layer.

    The watched token has row ``at``.
    """
    by_head = squares_by_head(layer)
    squares = by_head.sum(dim=0).clamp(min=0)
    lengths = np.asarray(squares.sqrt().float())
    parts = torch.where(squares[at] > 0, by_head[:, at] / squares[at], 0.0)
    brought = layer.context_concat @ layer.weights.w_o  # without the bias, which does not come from a token
    return (
        renormalised(lengths, row_sums(lengths)),
        _relative(brought, layer.input),
        np.asarray(parts),
        _relative(layer.ffn_output, layer.ffn_residual - layer.ffn_output),
    )


def _relative(added: Tensor, to: Tensor) -> Numbers:
    """Return the length of each vector ``added``, divided by the length of ``to``, to which it is added, (…,)."""
    return np.asarray((added.norm(dim=-1) / to.norm(dim=-1).clamp(min=1e-12)).numpy())
