"""The vectors that enter the first layer: their parts, one number worked out, and runs with changed input.

Devlin et al. 2019, §3 and figure 2: token + segment + position, then LayerNorm. Tokens, dimensions and
hidden states count from 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from lab.models.encoding import Encoding
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding

Array = NDArray[np.float32]
Values = NDArray[np.float64]
T = TypeVar("T")

SUMMANDS = ("token", "position", "segment")
SegmentChange = Literal["all 0", "swapped", "left out"]
Order = Literal["reversed", "shuffled", "moved on by one"]


def parts(trace: Trace) -> dict[str, Array]:
    """Return the summands and results of the embeddings, each (n, e): token, position, segment, sum, LayerNorm.

    A part that the model lacks is left out: positions in ModernBERT, segments in
    GPT-2, DistilBERT and ModernBERT, LayerNorm in GPT-2.
    """
    e = trace.embeddings
    found = {"token": e.token, "position": e.position, "segment": e.segment, "sum": e.sum, "LayerNorm": e.norm}
    return {name: tensor.numpy() for name, tensor in found.items() if tensor is not None}


@dataclass(frozen=True)
class NormalizedNumber:
    """LayerNorm of one number: γ · (sum - mean) / deviation + β (Ba et al. 2016, equation 4).

    ``mean`` and ``deviation`` (√(variance + ε)) are computed over the token's whole sum; ``normalized`` is the
    quotient, before γ and β.
    """

    mean: float
    deviation: float
    normalized: float
    gamma: float
    beta: float
    output: float


@dataclass(frozen=True)
class WorkedDimension:
    """One dimension of one token, from the summands (by name) to the input of layer 1. GPT-2 has no ``norm``."""

    summands: Mapping[str, float]
    total: float
    norm: NormalizedNumber | None


def worked_dimension(trace: Trace, token: int, dimension: int) -> WorkedDimension:
    """Write out ``dimension`` of ``token``, recomputed in float64 from the three rows.

    Raises IndexError for a token or dimension that does not exist.
    """
    vectors, config = parts(trace), trace.model.config
    rows = [vectors[name][token].astype(np.float64) for name in SUMMANDS if name in vectors]
    total = np.sum(rows, axis=0)
    summands = {name: float(vectors[name][token, dimension]) for name in SUMMANDS if name in vectors}
    norm = trace.model.weights.embeddings.norm
    if norm is None:
        return WorkedDimension(summands, float(total[dimension]), None)
    mean, deviation = float(total.mean()), math.sqrt(total.var() + config.norm_eps)
    normalized = (float(total[dimension]) - mean) / deviation
    gamma, beta = norm.gamma[dimension].item(), norm.beta[dimension].item()
    worked = NormalizedNumber(mean, deviation, normalized, gamma, beta, gamma * normalized + beta)
    return WorkedDimension(summands, float(total[dimension]), worked)


def position_rows(model: LoadedModel, count: int) -> Array:
    """Return the learned vectors of the first ``count`` positions, (count, e), or fewer if the table is shorter.

    RoBERTa's first rows belong to no position and are left out. Raises ValueError for a model without such a table.
    """
    table = model.weights.embeddings.position
    if table is None:
        raise ValueError(f"{model.id} has learned no vectors of positions.")
    first = model.config.position_offset
    return table[first : first + count].numpy()


def with_segments(encoding: Encoding, change: SegmentChange) -> Encoding:
    """Return ``encoding`` with every segment id 0, or with 0 and 1 exchanged; "left out" does not change the ids."""
    if change == "all 0":
        return replace(encoding, segment_ids=(0,) * len(encoding))
    if change == "swapped":
        return replace(encoding, segment_ids=tuple(1 - segment for segment in encoding.segment_ids))
    return encoding


def new_order(order: Order, n: int) -> tuple[int, ...]:
    """Return the old place of the token at each new place, (n,).

    A shuffle is the same for all texts of equal length.
    """
    if order == "reversed":
        return tuple(range(n))[::-1]
    if order == "moved on by one":
        return tuple((place - 1) % n for place in range(n))
    return tuple(np.random.Generator(np.random.PCG64(1)).permutation(n).tolist())


def reordered(encoding: Encoding, order: Sequence[int]) -> Encoding:
    """``encoding`` with its tokens in another order: the token from place ``order[j]`` moves to j with its segment.

    Raises ValueError unless ``order`` names every place once.
    """
    if sorted(order) != list(range(len(encoding))):
        raise ValueError(f"the order must name each of the {len(encoding)} places once.")

    def moved(each: tuple[T, ...]) -> tuple[T, ...]:
        return tuple(each[place] for place in order)

    return replace(
        encoding,
        tokens=moved(encoding.tokens),
        token_ids=moved(encoding.token_ids),
        segment_ids=moved(encoding.segment_ids),
        offsets=moved(encoding.offsets),
        word_ids=moved(encoding.word_ids),
        in_pair=moved(encoding.in_pair),
        special=moved(encoding.special),
    )


@dataclass(frozen=True, eq=False)
class Gap:
    """The difference between the outputs after reordering and the reordered outputs.

    ``layers`` (L+1,) is max |after[j] - before[order[j]]| over all tokens and dimensions of each hidden
    state. ``largest`` is the largest |number| in ``before``, to compare the differences with. ``moved`` (L+1,) is
    ‖after[j] - before[order[j]]‖ / ‖before[order[j]]‖, the mean over tokens.
    """

    layers: Values
    largest: float
    moved: Values

    @property
    def follows(self) -> bool:
        """True if the outputs moved with their tokens, so that no difference is larger than float32 rounding."""
        return float(self.layers.max()) <= 1e-4 * max(1.0, self.largest)


@once
def permutation_gap(trace: Trace, order: Order, changes: Interventions) -> Gap:
    """Run the tokens of ``trace`` in their own and in another order, both with ``changes``, and compare the outputs.

    Without positions, only a causal mask tells a transformer the place of a token, because self-attention
    treats its input as a set (Vaswani et al. 2017, §3.5).
    """
    places = new_order(order, len(trace))
    before = trace_encoding(trace.model, trace.encoding, changes).hidden_states
    after = trace_encoding(trace.model, reordered(trace.encoding, places), changes).hidden_states
    along = before[:, list(places)]
    apart = (after - along).abs().amax(dim=(1, 2))
    moved = ((after - along).norm(dim=-1) / along.norm(dim=-1)).mean(dim=1)
    return Gap(apart.double().numpy(), before.abs().max().item(), moved.double().numpy())
