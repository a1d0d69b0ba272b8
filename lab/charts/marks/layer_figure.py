"""Draw the paper's figure of a layer, block by block from the bottom up, and mark the block of a tensor."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import pandas as pd

from lab.charts.base import alt, colour
from lab.charts.base.figure import Figure, base
from lab.charts.base.plain import of_kind, specification

_ROW = 27  # pixels
_LANE, _LEFT, _RIGHT = 0.06, 0.17, 0.97  # shares of the width
_THIRDS = ((0.17, 0.41), (0.45, 0.69), (0.73, 0.97))
_HALF = 0.33  # half a block's height, in rows
_BELOW = ("token", "position", "segment")
_HEADS = ("vocabulary", "pair", "replaced")
_LABELS = {
    "token": "token", "position": "position", "segment": "segment", "sum": "sum", "embedding_norm": "LayerNorm",
    "project": "W_E", "input": "x", "query": "query", "key": "key", "value": "value", "scores": "QKᵀ",
    "scale": "÷ √d_k", "softmax": "softmax", "mix": "· V", "concat": "concat", "projection": "W_O", "add_1": "add",
    "norm_1": "LayerNorm 1", "ffn_in": "W_1", "gate": "W_gate", "activation": "activation",
    "ffn_out": "W_2", "add_2": "add", "norm_2": "LayerNorm 2", "final_norm": "LayerNorm", "vocabulary": "words",
    "pair": "pair", "replaced": "replaced?",
}  # fmt: skip
_ATTENTION = ("scores", "scale", "softmax")


@dataclass(frozen=True)
class Architecture:
    """The facts that decide the figure's form: the blocks that not every layer has, and the order of the blocks."""

    blocks: Collection[str]
    pre_norm: bool
    masked: bool

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The blocks, row by row from the bottom."""
        norm_1, norm_2 = (("norm_1",),) if "norm_1" in self.blocks else (), (("norm_2",),)
        ffn_in = ("ffn_in", "gate") if "gate" in self.blocks else ("ffn_in",)
        before, after = (norm_1, ()) if self.pre_norm else ((), norm_1)
        before_ffn, last = (norm_2, ()) if self.pre_norm else ((), norm_2)
        attention = (("query", "key", "value"), *((name,) for name in _ATTENTION), ("mix",), ("concat",))
        attended = (("input",), *before, *attention, ("projection",), ("add_1",), *after)
        layer = (*attended, *before_ffn, ffn_in, ("activation",), ("ffn_out",), ("add_2",), *last)
        below = (_BELOW, ("sum",), ("embedding_norm",), ("project",))
        above = (("final_norm",), _HEADS) if self.pre_norm else (_HEADS,)
        known = {"sum", "final_norm", *self.blocks}
        outside = [[tuple(b for b in row if b in known) for row in part] for part in (below, above)]
        return (*filter(None, outside[0]), *layer, *filter(None, outside[1]))

    def marked(self, place: str) -> tuple[str, ...]:
        """Return the blocks behind a tensor's place: some places are different blocks in each family."""
        left = "add_2" if self.pre_norm else "norm_2"
        entered = next(b for b in ("project", "embedding_norm", "sum") if b in {"sum", *self.blocks})
        final = "final_norm" if self.pre_norm else left
        special = {"left": (left,), "stream": ("input", left), "embedded": (entered,), "final": (final,)}
        return special.get(place, (place,))


def layer_figure(architecture: Architecture, place: str, *, title: str) -> Figure:
    """Draw the blocks of `architecture` from the bottom up, and mark the block that contains the tensor `place`."""
    rows, marked = architecture.rows, architecture.marked(place)
    blocks = [block for row in rows for block in row]
    labels = [_label(block, architecture) for block in blocks]
    frame = base(title, _ROW * len(rows), texts={"labels": labels})
    spec = specification(frame, _chart, len(rows))
    shown = [_LABELS[block] for block in marked]
    told = f"{len(blocks)} blocks from the bottom up: {', '.join(labels)}. Marked: {' and '.join(shown)}."
    return Figure(spec, _data(rows, marked, architecture), 320, told, partial(_table, blocks, labels, marked))


def _label(block: str, architecture: Architecture) -> str:
    if block == "activation" and "gate" in architecture.blocks:
        return "activation · gate"
    return "÷ √d_k, mask" if block == "scale" and architecture.masked else _LABELS[block]


def _sides(row: Sequence[str]) -> list[tuple[float, float]]:
    """Return the left and the right end of each block of a row."""
    if row[0] in _ATTENTION:
        return [(_LEFT, _THIRDS[1][1])]
    if len(row) == 3:
        return list(_THIRDS)
    gap = 0.04
    width = (_RIGHT - _LEFT - gap * (len(row) - 1)) / len(row)
    return [(_LEFT + i * (width + gap), _LEFT + i * (width + gap) + width) for i in range(len(row))]


_Row = tuple[str, int, bool, float, float, float, float]


def _data(rows: Sequence[Sequence[str]], marked: Collection[str], architecture: Architecture) -> pd.DataFrame:
    """Blocks, lines and the layer's frame in one table, told apart by ``kind``."""
    at = {block: number for number, row in enumerate(rows) for block in row}
    last = at[architecture.marked("left")[0]]
    data: list[_Row] = [("frame", 0, False, 0.0, at["input"] - 0.45, 1.0, last + 0.5)]
    place = 0
    for number, row in enumerate(rows):
        for block, (left, right) in zip(row, _sides(row), strict=True):
            data.append(("block", place, block in marked, left, number - _HALF, right, number + _HALF))
            place += 1
    for corners in _lines(rows, at, architecture.pre_norm):
        data += [("wire", 0, False, *start, *end) for start, end in pairwise(corners)]
    frame = pd.DataFrame(data, columns=["kind", "label", "marked", "x", "y", "x2", "y2"])
    return frame.assign(across=(frame["x"] + frame["x2"]) / 2, up=(frame["y"] + frame["y2"]) / 2)


def _lines(rows: Sequence[Sequence[str]], at: Mapping[str, int], pre_norm: bool) -> list[list[tuple[float, float]]]:
    """The lines between blocks as chains of corners: row to row, the value past the scores, and the two residuals."""
    ways = [(x, number) for number, (below, above) in enumerate(pairwise(rows)) for x in _ways(below, above)]
    lines = [[(x, number + _HALF), (x, number + 1 - _HALF)] for x, number in ways]
    value = sum(_THIRDS[2]) / 2
    lines.append([(value, at["value"] + _HALF), (value, at["mix"] - _HALF)])
    for start, end in (("input", "add_1"), ("add_1" if pre_norm else "norm_1", "add_2")):
        lines.append([(_LEFT, at[start]), (_LANE, at[start]), (_LANE, at[end]), (_LEFT, at[end])])
    return lines


def _ways(below: Sequence[str], above: Sequence[str]) -> list[float]:
    """The horizontal positions of the lines from a row to the next: the block middles of the row with more blocks."""
    lower, upper = ([(left + right) / 2 for left, right in _sides(row)] for row in (below, above))
    if above[0] == "scores":
        return lower[:2]  # the line from the value leads past the scores
    return upper if len(upper) > len(lower) else lower


def _chart(rows: int) -> alt.LayerChart:
    """Return the layer's frame, the lines, the blocks on the lines and the names of the blocks.

    A marked block has its own colours.
    """
    quiet: dict[str, Any] = {"tooltip": None, "aria": False}
    ends = alt.X2("x2"), alt.Y2("y2")
    frame = of_kind("frame").mark_rect(fill=colour.SOFT_INK, fillOpacity=0.08, cornerRadius=8, **quiet)
    wires = of_kind("wire").mark_rule(strokeWidth=1.5, color=colour.SOFT_INK, **quiet)
    boxes = of_kind("block").mark_rect(stroke=colour.SOFT_INK, strokeWidth=1, cornerRadius=5, **quiet)
    fill = alt.FillValue(colour.PAPER).condition(test="datum.marked", value=colour.POSITIVE)
    texts = of_kind("block").mark_text(align="center", baseline="middle", fontSize=12, **quiet)
    ink = alt.ColorValue(colour.INK).condition(test="datum.marked", value=colour.themed("#ffffff", "#0e1117"))
    word = alt.TextValue(alt.ExprRef("labels[datum.label]"))
    layers = (
        frame.encode(*ends),
        wires.encode(*ends),
        boxes.encode(*ends, fill),
        texts.encode(alt.X("across:Q"), alt.Y("up:Q"), word, ink),
    )
    across, up = (alt.Scale(domain=side, nice=False) for side in ([0, 1], [-0.6, rows - 0.4]))
    return alt.LayerChart(layer=layers).encode(alt.X("x:Q", scale=across, axis=None), alt.Y("y:Q", scale=up, axis=None))


def _table(blocks: Sequence[str], labels: Sequence[str], marked: Collection[str]) -> pd.DataFrame:
    return pd.DataFrame({"block": labels, "marked": [block in marked for block in blocks]})
