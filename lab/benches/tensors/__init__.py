"""Tensors: every tensor of a run, and attention in the variants of bertplus."""

from __future__ import annotations

from dataclasses import dataclass

from lab.models.trace import Trace
from lab.ui.bench import BenchParts
from lab.ui.drawing import take_click
from lab.ui.page import BenchPage
from lab.ui.parameters import HEAD

ALL_HEADS = "variant-all"  # the chart in which a click chooses a head


@dataclass(frozen=True)
class TensorView:
    """A run, and the chosen layer and head, from 0."""

    trace: Trace
    layer: int
    head: int


def look(page: BenchPage, trace: Trace, step: str) -> TensorView:
    """Take a click, and draw the choices of layer and head in the sidebar."""
    take_click(ALL_HEADS, {HEAD: "map"})
    return TensorView(trace, *page.head_controls(trace))


PARTS: BenchParts[TensorView] = BenchParts(look=look)
