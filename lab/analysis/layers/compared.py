"""Two runs side by side: how far apart their residual streams are, layer by layer."""

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
    """How far the vectors of the same places are apart, both (L+1, n); 0 are the embeddings.

    ``distance`` is ‖B − A‖ / ‖A‖, ``cosine`` that of the angle between A's vector and B's.
    """

    distance: Values
    cosine: Values


def same_tokens(a: Trace, b: Trace) -> Mask:
    """Where two runs read the same token, (n,). Raises ValueError for runs of different lengths."""
    if len(a) != len(b):
        raise ValueError(f"A has {len(a)} tokens, B has {len(b)}.")
    return np.array([one == other for one, other in zip(a.tokens, b.tokens, strict=True)])


def apart(a: Trace, b: Trace) -> Apart:
    """Measure every vector of the residual stream of A against B's at the same place.

    Raises ValueError where the streams have different shapes: other numbers of layers, tokens or dimensions.
    """
    first, second = (_stream(each) for each in (a, b))
    if first.shape != second.shape:
        raise ValueError(f"A's residual stream is {first.shape}, B's is {second.shape}.")
    lengths = [np.linalg.norm(each, axis=-1).clip(_SMALLEST) for each in (first, second)]
    distance = np.linalg.norm(second - first, axis=-1) / lengths[0]
    return Apart(distance, (first * second).sum(axis=-1) / (lengths[0] * lengths[1]))


def turned_round(text: str, pair: str = "") -> tuple[str, str]:
    """Something to compare a text with that is made of the same words: a pair with its two texts swapped, a single
    text with its words, as white space parts them, from the last to the first. What ends the text stays at its end.
    """
    if pair.strip():
        return pair, text
    bare = _END.sub("", text)
    return " ".join(reversed(bare.split())) + text[len(bare) :].strip(), ""


def _stream(traced: Trace) -> NDArray[np.float64]:
    return traced.hidden_states.numpy().astype(np.float64)
