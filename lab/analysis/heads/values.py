"""Shared parts of every analysis over all heads: the walk through a trace, uniform heads, tokens left out.

A layer's attention is (H, n, n): rows are queries, columns keys, rows sum to 1. In a causal model
only the lower triangle exists, so row i has length i + 1; everywhere else rows have length n.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

    from lab.models.trace import Trace

Weights = NDArray[np.float32]
Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
ArraysT = TypeVar("ArraysT")

# The number of weights processed at once. They are a megabyte, which stays in a core's cache
# while several statistics read it.
_CELLS_AT_ONCE = 1 << 18


def as_heads(attention: NDArray[Any] | Tensor) -> Weights:
    """One layer's attention as a float32 array (H, n, n), which shares memory with the input if possible.

    Raises ValueError for any other shape.
    """
    found = attention if isinstance(attention, np.ndarray) else attention.detach().cpu().numpy()
    if found.ndim != 3 or found.shape[1] != found.shape[2] or 0 in found.shape:
        raise ValueError(f"attention of one layer has the shape (heads, n, n); this one has {found.shape}.")
    return np.ascontiguousarray(found, dtype=np.float32)


def is_causal(trace: Trace) -> bool:
    """True if the trace's attention has only a lower triangle."""
    return trace.model.config.causal and not trace.interventions.no_causal_mask


def layers(trace: Trace) -> Iterator[Weights]:
    """The attention of each layer in turn, (H, n, n); only one layer is in memory at a time."""
    for index in range(trace.model.config.layers):
        yield as_heads(trace.layer(index).attention)


def layer_groups(trace: Trace) -> Iterator[Weights]:
    """The attention of several layers in one array, (k·H, n, n), as long as the array is small.

    Larger arrays save time on a short text, where NumPy's calls cost more than the computation itself.
    """
    held: list[Weights] = []
    for attention in layers(trace):
        held.append(attention)
        if (len(held) + 1) * attention.size > _CELLS_AT_ONCE:
            yield np.concatenate(held)
            held = []
    if held:
        yield np.concatenate(held)


def row_lengths(n: int, causal: bool) -> NDArray[np.int64]:
    """Return the number of keys that each query may see, (n,)."""
    return np.arange(1, n + 1) if causal else np.full(n, n)


def uniform_attention(n: int, causal: bool) -> Weights:
    """Return a head without any preference, (1, n, n): the same weight for every key that a query may see."""
    whole = np.tri(n, dtype=np.float32) if causal else np.ones((n, n), dtype=np.float32)
    return (whole / row_lengths(n, causal).astype(np.float32)[:, None])[None]


def places_left_out(trace: Trace) -> tuple[Mask, bool]:
    """Return a mask of the tokens on which heads park unused attention, (n,), and whether these are special tokens.

    These are the model's special tokens; in a model without any, the first token, on which heads of GPT-2 park.
    """
    special = np.array(trace.encoding.special, dtype=np.bool_)
    if special.any():
        return special, True
    return np.arange(len(trace)) == 0, False


def keep_others(trace: Trace) -> Mask | None:
    """A mask of the tokens that :func:`places_left_out` does not name, (n,); None if there are no such tokens."""
    out, _ = places_left_out(trace)
    return None if out.all() else ~out


def kept_mask(keep: Sequence[bool] | Mask | None, n: int) -> Mask:
    """Return ``keep`` as (n,) bool; None keeps every token.

    Raises ValueError for a wrong length, or if no token is kept.
    """
    mask = np.ones(n, dtype=np.bool_) if keep is None else np.asarray(keep, dtype=np.bool_)
    if mask.shape != (n,) or not mask.any():
        raise ValueError(f"keep is one truth value for each of the {n} tokens, at least one of them true.")
    return mask


def without(attention: Weights, keep: Mask) -> tuple[Weights, Values]:
    """Leave out tokens, as queries and as keys; rows sum to 1 again.

    Returns the attention among the m kept tokens, (H, m, m), and for each head the weight that its
    kept queries had given to removed keys, averaged over these queries, (H,). A row with all its weight on removed
    keys stays 0.
    """
    if keep.all():
        return attention, np.zeros(len(attention))
    inside = among(attention, np.flatnonzero(keep))
    total = row_sums(inside)
    return renormalised(inside, total), 1 - np.minimum(total, 1).mean(axis=-1, dtype=np.float64)


def among(attention: Weights, places: NDArray[np.intp]) -> Weights:
    """Return the attention among the m tokens at ``places``, in that order, (H, m, m); rows no longer sum to 1."""
    first, m = int(places[0]), len(places)
    if (np.diff(places) == 1).all():
        return attention[:, first : first + m, first : first + m]  # a view: nothing is copied
    return np.take(np.take(attention, places, axis=1), places, axis=2)


def renormalised(attention: Weights, total: NDArray[np.float32]) -> Weights:
    """Divide rows by their sums ``total`` (..., n); a row of zeros stays 0."""
    return np.asarray(attention / np.where(total > 0, total, 1)[..., None], dtype=np.float32)


def row_sums(attention: NDArray[np.float32]) -> NDArray[np.float32]:
    """The sums of rows, (H, n, n) -> (H, n). A product with ones takes a third of the time of ``sum(axis=-1)``."""
    return attention @ np.ones(attention.shape[-1], dtype=np.float32)


def row_entropy(attention: Weights) -> NDArray[np.float32]:
    """−Σ_j A_ij ln A_ij of each row, in nats, (H, n); a weight of 0 adds nothing."""
    terms = np.maximum(attention, np.finfo(np.float32).tiny)
    np.log(terms, out=terms)
    terms *= attention
    return np.asarray(-row_sums(terms))


def even_spread(entropy: NDArray[np.float32], lengths: NDArray[np.int64]) -> Values:
    """Mean over rows of entropy / ln(row length), (H, n) -> (H,), in [0, 1].

    Rows of length 1 have no choice and are left out; nan if there are no other rows.
    """
    free = lengths > 1
    if not free.any():
        return np.full(len(entropy), np.nan)
    return np.asarray((entropy[:, free] / np.log(lengths[free])).mean(axis=-1))


def chunks(attention: Weights) -> Iterator[Weights]:
    """Yield a few heads at a time, so that intermediate arrays stay in the cache."""
    step = max(1, _CELLS_AT_ONCE // (attention.shape[1] * attention.shape[2]))
    for start in range(0, len(attention), step):
        yield attention[start : start + step]


def stack(parts: Sequence[ArraysT]) -> ArraysT:
    """Stack one data class per layer, of arrays (H,) or dicts of them, into one of arrays (L, H)."""
    first = parts[0]
    if not is_dataclass(first) or isinstance(first, type):
        raise TypeError(f"stack takes data classes of arrays, not {type(first).__name__}.")
    values = {}
    for field in fields(first):
        column = [getattr(part, field.name) for part in parts]
        named = isinstance(column[0], Mapping)
        values[field.name] = (
            {name: np.stack([part[name] for part in column]) for name in column[0]} if named else np.stack(column)
        )
    return type(first)(**values)


def join(parts: Sequence[ArraysT], heads: int) -> ArraysT:
    """Join one data class per group of :func:`layer_groups`, of arrays (k·H,), into one of arrays (L, H)."""
    first = parts[0]
    if not is_dataclass(first) or isinstance(first, type):
        raise TypeError(f"join takes data classes of arrays, not {type(first).__name__}.")
    columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(first)}
    return type(first)(**{name: np.concatenate(column).reshape(-1, heads) for name, column in columns.items()})


def running_means(arrays: Iterable[Values]) -> Iterator[Values]:
    """Yield the mean of all arrays so far, after each array.

    A nan does not count; if all values are nan, the mean is nan.
    """
    total: Values | float = 0.0
    count: Values | float = 0.0
    for array in arrays:
        known = ~np.isnan(array)
        total = total + np.where(known, array, 0)
        count = count + known
        yield np.where(count > 0, total / np.maximum(count, 1), np.nan)
