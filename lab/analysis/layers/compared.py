"""Measure the distance between the residual streams of two runs, layer by layer."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Mask, Values
from lab.models.trace import Trace

_SMALLEST = 1e-12
_END = re.compile(r"[.!?…。؟]*\s*\Z")


@dataclass(frozen=True, eq=False)
class Apart:
    """The distance between the vectors of A and B at the same places, (L+1, n); state 0 is the embeddings' output.

    ``distance`` is ‖B − A‖ / ‖A‖, ``cosine`` is the cosine of the angle between A's and B's vectors.
    """

    distance: Values
    cosine: Values


def same_tokens(a: Trace, b: Trace) -> Mask:
    """A mask of the places at which two runs read the same token, (n,). Raises ValueError for different lengths."""
    if len(a) != len(b):
        raise ValueError(f"A has {len(a)} tokens, B has {len(b)}.")
    return np.array([one == other for one, other in zip(a.tokens, b.tokens, strict=True)])


def apart(a: Trace, b: Trace) -> Apart:
    """Compare every vector of A's residual stream with B's vector at the same place.

    Raises ValueError if the streams have different shapes: other numbers of layers, tokens or dimensions.
    """
    first, second = (_stream(each) for each in (a, b))
    if first.shape != second.shape:
        raise ValueError(f"A's residual stream is {first.shape}, B's is {second.shape}.")
    lengths = [np.linalg.norm(each, axis=-1).clip(_SMALLEST) for each in (first, second)]
    distance = np.linalg.norm(second - first, axis=-1) / lengths[0]
    return Apart(distance, (first * second).sum(axis=-1) / (lengths[0] * lengths[1]))


def turned_round(text: str, pair: str = "") -> tuple[str, str]:
    """Reorder a text for comparison: swap the texts of a pair, or reverse the words of a single text.

    Words are separated by white space; a punctuation mark at the end of the text stays at the end.
    """
    if pair.strip():
        return pair, text
    bare = _END.sub("", text)
    return " ".join(reversed(bare.split())) + text[len(bare) :].strip(), ""


def _stream(traced: Trace) -> NDArray[np.float64]:
    return traced.hidden_states.numpy().astype(np.float64)
