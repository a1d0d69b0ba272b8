"""Head specialization: the radar of a layer's heads, and which heads do something that has a name."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lab.analysis.heads.named import MIXED, trace_names
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.specialization import (
    SPECIALIZATIONS,
    Dimension,
    relative_to_layer,
    specialization,
)
from lab.analysis.heads.values import Values
from lab.charts.base.figure import Figure
from lab.charts.base.labels import visible
from lab.charts.base.plotted import Plotted
from lab.charts.cells.categories import Category, category_map
from lab.charts.marks import radar as chart
from lab.models.trace import Trace

_SIGNS = {
    "broad": "B", "next_token": "N", "previous_token": "P", "same_word": "W", "delimiter": "D", "bag_of_words": "S",
}  # fmt: skip
_NAMES = (*(Category(each.name, _SIGNS[each.id]) for each in PATTERNS), Category("Mixed", "–", rest=True))


def axis_name(traced: Trace, dimension: Dimension) -> str:
    """A dimension's name; what stands first in the text is not everywhere [CLS]."""
    if dimension.id == "cls":
        return traced.labels[0] if traced.encoding.special[0] else "First token"
    return dimension.name


def present(raw: Values) -> NDArray[np.intp]:
    """Which dimensions have a value: those of which the text has a token. ``raw`` (H, 7)."""
    return np.flatnonzero(np.isfinite(raw).all(axis=0))


def radar(traced: Trace, layer: int, head: int, everyone: bool = False, left_out: bool = False) -> Plotted:
    """The specialization of ``head``, or of ``everyone`` in its layer, relative to the layer.

    ``left_out``: without the special tokens, or without the first token where a model has none.

    Raises ValueError for a text with fewer than three kinds of token, and
    :class:`lab.text.tags.pipeline.PipelineUnavailable`.
    """
    found = specialization(traced, only_words=left_out)
    places = present(found.raw[layer])
    axes = [axis_name(traced, SPECIALIZATIONS[place]) for place in places]
    relative, raw, corrected = (
        values[:, places] for values in (relative_to_layer(found.raw[layer]), found.raw[layer], found.corrected[layer])
    )
    heads = range(len(raw)) if everyone else [head]
    return chart.radar(
        {_name(each): relative[each] for each in heads}, axes,
        {_name(each): _hover(_name(each), axes, relative[each], raw[each], corrected[each]) for each in heads},
        title=f"Specialization, layer {layer + 1}" + ("" if everyone else f", head {head + 1}"),
        axis_title="relative to this layer", chosen=_name(head), table=_numbers(axes, relative, raw, corrected),
    )  # fmt: skip


def _name(head: int) -> str:
    return f"Head {head + 1}"


def _hover(name: str, axes: list[str], relative: Values, raw: Values, corrected: Values) -> list[str]:
    return [
        f"{name}, {visible(axis)}<br>raw {raw[place]:.3f}, corrected {corrected[place]:.2f}"
        f"<br>relative to the layer {relative[place]:.2f}"
        for place, axis in enumerate(axes)
    ]


def _numbers(axes: list[str], relative: Values, raw: Values, corrected: Values) -> pd.DataFrame:
    """One row a head and axis."""
    heads = len(raw)
    return pd.DataFrame(
        {
            "head": np.repeat(np.arange(1, heads + 1), len(axes)),
            "metric": [visible(axis) for axis in axes] * heads,
            "raw": raw.ravel(),
            "corrected": corrected.ravel(),
            "relative to the layer": relative.ravel(),
        }
    )


def named_heads(traced: Trace, layer: int, head: int) -> Figure:
    """Which head has which named pattern on this text; ``head`` of ``layer`` is outlined."""
    return names_map(trace_names(traced), layer, head, "Named heads, this text", clickable=True)


def names_map(names: NDArray[np.str_], layer: int, head: int, title: str, clickable: bool = False) -> Figure:
    """A map of names, (L, H) ids of patterns."""
    order = [*(pattern.id for pattern in PATTERNS), MIXED]
    places = np.array([[order.index(str(name)) for name in row] for row in names])
    return category_map(
        places, _NAMES, title=title, row_title="Layer", column_title="Head", value_title="Name",
        highlight=(layer, head), select=clickable,
    )  # fmt: skip
