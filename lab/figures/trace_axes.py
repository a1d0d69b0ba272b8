"""The sides of a trace's matrices: its tokens, its layers and heads."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lab.charts.base.axes import Axis, Scale
from lab.models.trace import Trace

QUERY, KEY = "Query (attends)", "Key (attended to)"
WEIGHT = Scale("Weight", (0.0, 1.0))


def tokens(traced: Trace, title: str = "Token", shown: slice = slice(0, None)) -> Axis:
    """The tokens of a trace, or only the ``shown`` tokens, with their positions in the text."""
    return Axis(title, traced.labels[shown], shown.start + 1, things="tokens", count=len(traced))


def queries_and_keys(traced: Trace, rows: slice = slice(0, None), columns: slice = slice(0, None)) -> tuple[Axis, Axis]:
    """The sides of an attention map, or of a part of it."""
    return tokens(traced, QUERY, rows), tokens(traced, KEY, columns)


def counted(title: str, count: int) -> Axis:
    """A side with layers, heads or other things, counted from 1."""
    return Axis(title, [str(i + 1) for i in range(count)], things=f"{title.lower()}s")


def layers_and_heads(values: ArrayLike) -> tuple[Axis, Axis]:
    """The sides of a matrix (L, H)."""
    layers, heads = np.shape(values)
    return counted("Layer", layers), counted("Head", heads)
