"""The parts of a token's vector that arrive from other tokens, layer by layer, each from one token through one head.

Attention and the feed-forward network both add to a token's vector. Attention's sum has a part for each token and head,
Σ_j Σ_h α_h·f_h(x_j), with f_h(x) = (x·W_V + b_V)·W_O of head h (Kobayashi et al. 2020, §3; Elhage et al. 2021, "A
Mathematical Framework for Transformer Circuits").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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
# Up to this many tokens all rows of a text are known; of a longer text the watched row is.
WHOLE = 24


@dataclass(frozen=True, eq=False)
class Arriving:
    """The parts that arrive at the token ``watched`` (from 0), and at the others of a short text.

    Attributes
    ----------
    rows
        The q tokens whose rows are known, from 0: all of a short text, else ``watched`` alone.
    share
        (L, q, n), ‖Σ_h α_h·f_h(x_j)‖ as a share of the sum over all j: how much of what attention brings comes from
        token j. Each row adds up to 1, or to 0 where nothing arrives.
    strength
        (L, q), ‖Σ_j Σ_h α_h·f_h(x_j)‖ / ‖x‖: how long all that is beside the vector that it is added to.
    parts
        (L, H, n), ⟨α_h·f_h(x_j), Σ_g⟩/‖Σ_g‖² with Σ_g = Σ_g α_g·f_g(x_j), for the watched token: each head's part of
        what comes from token j. The heads' parts add up to 1; a negative one works against the others. 0 where nothing
        comes.
    written
        (L, q), ‖FFN(x)‖/‖x‖: how much the feed-forward network adds.
    """

    watched: int
    rows: tuple[int, ...]
    share: Numbers
    strength: Numbers
    parts: Numbers
    written: Numbers

    @property
    def row(self) -> Numbers:
        """(L, n), the watched token's shares."""
        return np.asarray(self.share[:, self.rows.index(self.watched)])

    def brought_most(self, count: int) -> tuple[int, ...]:
        """The ``count`` tokens with the largest share in any layer, and the watched one, in the order of the text."""
        largest = self.row.max(axis=0)
        largest[self.watched] = np.inf
        return tuple(sorted(int(each) for each in np.argsort(-largest, kind="stable")[:count]))


@once
def arriving(trace: Trace, watched: int) -> Arriving:
    """Take apart what each layer of a run adds to ``watched``. Raises IndexError for a token that is not there."""
    n = len(trace)
    if not 0 <= watched < n:
        raise IndexError(f"token {watched}: the text has tokens 0 to {n - 1}.")
    # Other changes than blocked links may take a row together with others.
    nothing = frozenset[Any]()
    others = replace(trace.interventions, blocked=nothing, blocked_links=nothing, blocked_in_heads=nothing)
    rows = (watched,) if n > WHOLE and others.changes_nothing else tuple(range(n))
    layers = (_layer_at(trace, index, rows) for index in range(trace.model.config.layers))
    found = [_of_layer(layer, rows.index(watched)) for layer in layers]
    share, strength, parts, written = (np.stack(each).astype(np.float32) for each in zip(*found, strict=True))
    return Arriving(watched, rows, share, strength, parts, written)


@torch.inference_mode()
def _layer_at(trace: Trace, index: int, rows: Sequence[int]) -> LayerTrace:
    """A layer of a run at these tokens: of a long text a few of its rows are a small part of the work."""
    if len(rows) == len(trace):
        return trace.layer(index)
    w, config = trace.model.weights.layers[index], trace.model.config
    steps = trace.interventions.with_padding(len(trace), trace.encoding.padding).steps(index, config, len(trace))
    return LayerTrace(index, w, layer_rows(trace.hidden_states[index], rows, w, config, steps))


@torch.inference_mode()
def _of_layer(layer: LayerTrace, at: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Share (q, n), strength (q,), parts (H, n), written (q,) of one layer; the watched one is row ``at``."""
    by_head = squares_by_head(layer)
    squares = by_head.sum(dim=0).clamp(min=0)
    lengths = np.asarray(squares.sqrt().float())
    parts = torch.where(squares[at] > 0, by_head[:, at] / squares[at], 0.0)
    brought = layer.context_concat @ layer.weights.w_o  # without the bias, which comes from no token
    return (
        renormalised(lengths, row_sums(lengths)),
        _relative(brought, layer.input),
        np.asarray(parts),
        _relative(layer.ffn_output, layer.ffn_residual - layer.ffn_output),
    )


def _relative(added: Tensor, to: Tensor) -> Numbers:
    """(…,), the length of each vector that is ``added``, divided by the length of the vector ``to`` which it is."""
    return np.asarray((added.norm(dim=-1) / to.norm(dim=-1).clamp(min=1e-12)).numpy())
