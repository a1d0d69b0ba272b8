"""A Sankey diagram of tokens: bands from the tokens before a layer to the tokens after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.axes import visible
from lab.charts.base.figure import numbers
from lab.charts.base.plotted import Plotted, plotly_text
from lab.charts.marks.sankey_picture import sankey_picture

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

_BAND, _BAND_HOVER = "rgba(47, 134, 214, 0.34)", "rgba(47, 134, 214, 0.8)"
_STRONG = "rgba(207, 100, 1, 0.6)"
_NODE, _CHOSEN = "rgba(128, 132, 149, 0.9)", "#cf6401"
_ROW, _WORD, _LEAST = 24, 16, 320  # heights in pixels: a token in the fullest column, a word, the smallest figure
_TOP, _BOTTOM = 60, 50  # pixels above and below the drawing
_LINE = 45  # characters of the title that fit on a telephone; Plotly does not wrap titles
# Plotly treats a coordinate of 0 as missing.
_EDGE = 0.002
_TOLD = "%{customdata}<extra></extra>"


@dataclass(frozen=True)
class Bands:
    """m bands, each from the token ``start`` on a ``level`` to the token ``end`` on the next; all are (m,), from 0.

    ``weight`` (m,) is the width of a band. Bands that end at the token ``target`` are in a strong colour.
    """

    level: NDArray[np.intp]
    start: NDArray[np.intp]
    end: NDArray[np.intp]
    weight: ArrayLike
    target: int | None = None


def sankey(
    bands: Bands, tokens: Sequence[str], layers: int, *, title: str, value_title: str, chosen: int | None = None
) -> Plotted:
    """Draw ``bands`` from left to right, one column of tokens before each of the ``layers`` and one after the last.

    Parameters
    ----------
    tokens
        A label for each token; labels may be any text.
    value_title
        The quantity that a band's width shows.
    chosen
        A token (from 0) whose node in the first column has a strong colour.

    Raises
    ------
    ValueError
        No bands, NaN or infinity.
    """
    weight = numbers(bands.weight, ("bands",), of="sankey")
    nodes, source, target = _nodes(bands)
    value = np.maximum(np.bincount(source, weight, len(nodes)), np.bincount(target, weight, len(nodes)))
    _, row = np.unique(nodes[:, 1], return_inverse=True)
    widest = np.zeros(int(row.max()) + 1)
    np.maximum.at(widest, row, value)
    height = max(_LEAST, _ROW * len(widest))
    pad, scale = _scale(_columns(len(nodes), source, target), value, widest, height)
    y = _middles(np.maximum(widest * scale, _WORD), height)[row]
    x = np.clip(nodes[:, 0] / layers, _EDGE, 1 - _EDGE).tolist()
    node = {"x": x, "y": np.clip(y, _EDGE, 1).tolist(), "pad": pad, **_node_look(nodes, tokens, chosen)}
    link = {"source": source.tolist(), "target": target.tolist(), "value": weight.tolist()}
    link["color"] = [_STRONG if end == bands.target else _BAND for end in bands.end]
    told = {"hovercolor": _BAND_HOVER, "customdata": _hover(bands, weight, tokens, value_title), "hovertemplate": _TOLD}
    trace = {"type": "sankey", "arrangement": "fixed", "valueformat": ".4f", "node": node, "link": link | told}
    table = partial(_table, bands, weight, tokens, value_title)
    alt = _alt(bands, weight, tokens, layers)
    drawn = partial(sankey_picture, trace, scale, height, _columns_below(layers), alt)
    return Plotted(_figure(trace, height, layers, title), title, alt, table, drawn)


def _nodes(bands: Bands) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The (level, token) pairs at the ends of bands, (nodes, 2), by level; each band's first and last node, (m,)."""
    before = np.stack([bands.level, bands.start], axis=1)
    after = np.stack([bands.level + 1, bands.end], axis=1)
    nodes, places = np.unique(np.concatenate([before, after]), axis=0, return_inverse=True)
    source, target = np.split(places.ravel(), 2)
    return nodes, source, target


def _columns(count: int, source: NDArray[np.intp], target: NDArray[np.intp]) -> NDArray[np.intp]:
    """The column into which Plotly sorts each node to find the scale: the length of the longest way there, (nodes,)."""
    column = np.zeros(count, dtype=np.intp)
    for band in np.argsort(source, kind="stable"):  # nodes are numbered level by level
        column[target[band]] = max(column[target[band]], column[source[band]] + 1)
    return column


def _scale(column: NDArray[np.intp], value: NDArray[Any], widest: NDArray[Any], height: int) -> tuple[float, float]:
    """Return the padding to ask Plotly for, and the number of pixels that a weight of 1 takes with this padding.

    Plotly draws all bands on one scale, the largest at which its fullest column fits with the padding. A token has one
    row in all columns, as high as its ``widest`` node and at least as high as a word; the padding is chosen so that the
    rows fit.
    """
    low, wanted = 0.0, height / float(widest.sum())
    for _ in range(40):  # the largest scale at which the rows fit
        middle = (low + wanted) / 2
        low, wanted = (low, middle) if np.maximum(widest * middle, _WORD).sum() > height else (middle, wanted)
    filled, total = np.bincount(column), np.bincount(column, value)
    needed = np.min((height - low * total) / np.maximum(filled - 1, 1))
    pad = float(min(max(needed, 1.0), 2 / 3 * height / max(int(filled.max()) - 1, 1)))
    return pad, float(np.min((height - (filled - 1) * pad) / total))


def _middles(size: NDArray[Any], height: int) -> NDArray[Any]:
    """The middle of each row, from 0 (top) to 1: rows are one below the other, and share the space between them."""
    fits = np.minimum(1.0, height / size.sum())
    gap = (height - fits * size.sum()) / len(size)
    ends = np.cumsum(fits * size + gap)
    return np.asarray((ends - (fits * size + gap) / 2) / height)


def _node_look(nodes: NDArray[np.intp], tokens: Sequence[str], chosen: int | None) -> dict[str, Any]:
    drawn = {"hovertemplate": _TOLD, "align": "left", "thickness": 12, "line": {"width": 0}}
    after = ["input" if level == 0 else f"after layer {level}" for level in nodes[:, 0]]
    return {
        "label": [plotly_text(tokens[token]) for token in nodes[:, 1]],
        "color": [_CHOSEN if level == 0 and token == chosen else _NODE for level, token in nodes],
        "customdata": [
            f"{plotly_text(tokens[token])} ({token + 1}), {where}"
            for token, where in zip(nodes[:, 1], after, strict=True)
        ],
        **drawn,
    }


def _hover(bands: Bands, weight: NDArray[np.float32], tokens: Sequence[str], value_title: str) -> list[str]:
    return [
        f"Layer {level + 1}: from {plotly_text(tokens[start])} ({start + 1}) to {plotly_text(tokens[end])} "
        f"({end + 1})<br>{value_title} {value:.4f}"
        for level, start, end, value in zip(bands.level, bands.start, bands.end, weight, strict=True)
    ]


def _alt(bands: Bands, weight: NDArray[np.float32], tokens: Sequence[str], layers: int) -> str:
    top = int(weight.argmax())
    first, last = (f"“{visible(tokens[each[top]])}” ({each[top] + 1})" for each in (bands.start, bands.end))
    return (
        f"Sankey diagram of {len(weight)} bands through {layers} layers. The widest, {weight[top]:.3f}, leads from "
        f"{first} to {last} in layer {bands.level[top] + 1}."
    )


def _figure(trace: dict[str, Any], height: int, layers: int, title: str) -> PlotlyFigure:
    import plotly.graph_objects as go

    below = {"y": 0, "yshift": -14, "xref": "paper", "yref": "paper", "showarrow": False, "yanchor": "top"}
    sides = ["left", *["center"] * (layers - 1), "right"]
    named = enumerate(zip(_columns_below(layers), sides, strict=True))
    under = [{"text": name, "x": place / layers, "xanchor": side, **below} for place, (name, side) in named]
    heading, margin = {"text": "<br>".join(wrap(title, _LINE)), "x": 0}, {"l": 8, "r": 8, "t": _TOP, "b": _BOTTOM}
    frame = {"title": heading, "height": height + _TOP + _BOTTOM, "margin": margin}
    return go.Figure(data=[trace], layout=frame | {"annotations": under, "font": {"size": 13}})


def _columns_below(layers: int) -> list[str]:
    """The names of the columns; more words would not fit on a telephone."""
    return ["Input", "Layer 1", *map(str, range(2, layers + 1))]


def _table(bands: Bands, weight: NDArray[np.float32], tokens: Sequence[str], value_title: str) -> pd.DataFrame:
    """One line for each band; tokens and layers are counted from 1."""
    return pd.DataFrame(
        {
            "layer": bands.level + 1,
            "query": bands.end + 1,
            "query token": [visible(tokens[i], None) for i in bands.end],
            "key": bands.start + 1,
            "key token": [visible(tokens[i], None) for i in bands.start],
            value_title.lower(): weight,
        }
    )
