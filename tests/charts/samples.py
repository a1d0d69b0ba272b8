"""Tokens and figures that the chart tests share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jsonschema import Draft7Validator
from numpy.typing import NDArray

import lab
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import heatmap
from lab.charts.cells.product import Matrix, product
from lab.charts.cells.slices import activations, strips
from lab.charts.cells.small_maps import small_maps
from lab.charts.marks.arrows import Arrow, arrows
from lab.charts.marks.bars import bars, columns
from lab.charts.marks.curve import curve
from lab.charts.marks.layer_plan import Box, plan
from lab.charts.marks.lines import lines, marked_lines
from lab.charts.marks.scatter import scatter
from lab.figures.trace_axes import KEY, QUERY, WEIGHT
from lab.models.trace import Trace

_OF_SCALE = ("title", "domain", "format", "signed")
HOSTILE = [
    '"); alert(1)//',
    "'] + alert(1) + ['",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u202eoverride",
    "\x00\n\t",
    "\ud83d",
    "",
    " ",
    "datum.value",
    "{{7*7}}",
    "=1+1",
    "שלום",
    "日本語" * 20,
]


def matrix(rows: int, columns: int | None = None, seed: int = 0) -> NDArray[np.float64]:
    """(rows, columns) of numbers in [0, 1), the same for the same seed."""
    return np.random.default_rng(seed).random((rows, columns or rows))


def words(count: int) -> list[str]:
    """Labels of which the first and the last are equal."""
    return ["the", *(f"word{place}" for place in range(1, count - 1)), "the"][:count]


def a_heatmap(size: int = 4, **options: Any) -> Any:
    """One of `values` under `labels` on both sides; `options` are those of a Scale, of heatmap, and `titles`."""
    values, labels = options.pop("values", matrix(size)), options.pop("labels", words(size))
    rows, columns = (Axis(title, labels, 1) for title in options.pop("titles", (QUERY, KEY)))
    scale = Scale(**{"title": "Weight"} | {name: options.pop(name) for name in _OF_SCALE if name in options})
    return heatmap(values, (rows, columns), scale, title="Weights", **options)


def every_figure(labels: list[str]) -> dict[str, Figure]:
    """One figure of each kind with these labels."""
    count = len(labels)
    signed = matrix(count) - 0.5
    return {
        "heatmap": a_heatmap(values=matrix(count), labels=labels, highlight=(0, 0)).clickable(),
        "causal": a_heatmap(values=signed, labels=labels, signed=True, causal=True, highlight=(0, None)),
        "strips": strips(signed, labels, title="Vectors", highlight=(None, 0)).clickable(),
        "bars": bars(labels, signed[0], Scale("Score"), title="Scores", highlight=0),
        "columns": columns(signed[0], Scale("Product"), title="Products", highlight=0),
        "small maps": small_maps(
            np.stack([matrix(count), matrix(count, seed=1)]),
            labels,
            [(labels[0], "mixed"), ("b", "mixed")],
            WEIGHT,
            title="All heads",
            causal=True,
        ).framed(0),
        "activations": activations(signed, labels, title="Neurons", columns=("Neuron", 97)).clickable(),
        "curve": curve(
            ([-1, 0, 1], [0, 0, 1]),
            (signed[0], signed[0].clip(0)),
            ("Before", "After", "Neuron"),
            title="Curve",
            highlight=0,
        ),
        "plan": plan(
            [Box(label, at / 2, 0 if at > 1 else None) for at, label in enumerate(labels)],
            title="Steps",
            value_title="Length",
        ),
        "lines": lines({labels[0]: signed[0], "b": signed[0][:2]}, AxisPlaces("Step"), Scale("Loss"), title="Loss"),
        "arrows": arrows([Arrow(label, at, 1.0, at == 0) for at, label in enumerate(labels)], title="Vectors"),
        "product": product(
            (
                Matrix("A", "n × n", matrix(count), WEIGHT),
                Matrix("B", "n × n", signed, Scale("Number", signed=True)),
                Matrix("C", "n × n", signed, Scale("Number", signed=True)),
            ),
            (labels, labels),
            (0, 0),
            title="Product",
        ),
        "scatter": scatter(
            labels,
            (matrix(1, count)[0], signed[0]),
            (Scale("Share", (0.0, 1.0), ".2f"), Scale("Change", signed=True)),
            title="Points",
            rule=0.9,
            highlight=0,
        ),
        "marked lines": marked_lines(
            {labels[0]: signed[0]},
            {labels[0]: (1.5, 0.1)},
            AxisPlaces("τ", [*range(1, count + 1)]),
            Scale("Share"),
            title="Sparsity",
        ),
    }


@cache
def vega_lite() -> Draft7Validator:
    """The schema of Vega-Lite as Altair brings it."""
    return Draft7Validator(json.loads((files("altair.vegalite.v6.schema") / "vega-lite-schema.json").read_text()))


def expressions(node: object) -> Iterator[str]:
    """Every string of a specification that Vega will evaluate."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in {"expr", "calculate", "filter", "test", "labelExpr", "signal", "update"} and isinstance(
                value, str
            ):
                yield value
            elif key != "value":
                yield from expressions(value)
    elif isinstance(node, list):
        for value in node:
            yield from expressions(value)


def traced_beside_hugging_face(folder: Path, text: str) -> tuple[Trace, list[NDArray[np.float32]]]:
    """Our run of ``text`` and Hugging Face's attention of each layer, (H, n, n)."""
    import torch
    from transformers import AutoModel

    trace = lab.trace(lab.load_model(str(folder)), text)
    theirs = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        found = theirs(torch.tensor([trace.token_ids]), output_attentions=True).attentions
    return trace, [layer[0].numpy() for layer in found]
