"""Tokens and figures that the chart tests share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from jsonschema import Draft7Validator
from numpy.typing import NDArray

from lab.charts import Figure, bars, columns, heatmap, lines, strips

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
    titles = {"title": "Weights", "row_title": "Query (attends)", "column_title": "Key (attended to)"}
    settings = {**titles, "value_title": "Weight", **options}
    values = settings.pop("values", matrix(size))
    labels = settings.pop("labels", words(size))
    return heatmap(values, labels, labels, **settings)


def every_figure(labels: list[str]) -> dict[str, Figure]:
    """One figure of each kind with these labels."""
    count = len(labels)
    signed = matrix(count) - 0.5
    return {
        "heatmap": a_heatmap(values=matrix(count), labels=labels, select="cell", highlight=(0, 0)),
        "causal": a_heatmap(values=signed, labels=labels, scale="diverging", causal=True, highlight=(0, None)),
        "strips": strips(signed, labels, title="Vectors", value_title="Value", highlight=0, select="cell"),
        "bars": bars(labels, signed[0], title="Scores", value_title="Score", highlight=0, numbered=True),
        "columns": columns(signed[0], title="Products", value_title="Product", highlight=0),
        "lines": lines({labels[0]: signed[0], "b": signed[0][:2]}, title="Loss", x_title="Step", y_title="Loss"),
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
