"""The figures of the experiment about explanations.

The figures need nothing but the model, so a notebook can redraw them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.lines import lines
from lab.evidence.intervals import mean_interval
from lab.evidence.published import ABNAR
from lab.experiments.explanation.agreement import CLAIMS, ROLLED, TELLS, WEAK
from lab.experiments.explanation.measure import ExplanationTest, result
from lab.experiments.explanation.methods import (
    ATTENTION,
    AVERAGE,
    GRADIENT,
    INTEGRATED,
    METHODS,
    NEAR,
    NORMS,
    RARE,
    ROLLOUT,
)
from lab.models.loading import LoadedModel

LEFT_OUT = "leave-one-out"
NAMES = {
    ATTENTION: "raw attention",
    AVERAGE: "attention, all layers",
    NORMS: "length of what arrives",
    ROLLOUT: "rollout",
    GRADIENT: "gradient × input",
    INTEGRATED: "integrated gradients",
    NEAR: "nearness alone",
    RARE: "rarity alone",
}
# The methods that get a line, no more than a reader can tell apart.
_DRAWN = (ATTENTION, AVERAGE, NORMS, ROLLOUT, GRADIENT, NEAR)
# Short names of the methods, because a map has room for only a dozen letters beside its cells.
_SHORT = {NORMS: "length", AVERAGE: "all layers", GRADIENT: "grad × input", INTEGRATED: "integrated"}
WHOSE = {
    WEAK: "Jain & Wallace 2019",
    TELLS: "after Wiegreffe & Pinter 2019",
    ROLLED: "Abnar & Zuidema 2020",
}


def layer_chart(model: LoadedModel) -> Figure:
    """Draw how each method agrees with leave-one-out after each layer, as a mean over the texts.

    A method without layers is a level line; integrated gradients are only in the table. Runs the experiment if its
    result neither ships nor is known yet. Raises ValueError for a model that the experiment cannot test.
    """
    rho = result(model).own.rho
    layers = rho[ATTENTION].shape[1]
    series = {NAMES[name]: np.broadcast_to(rho[name].mean(axis=0), layers) for name in _DRAWN}
    return lines(
        series,
        AxisPlaces("After layer"),
        Scale("Spearman’s ρ with leave-one-out", format=".2f"),
        title=f"Which methods order the tokens as leave-one-out does, in {model.id}",
    )


def agreement_chart(model: LoadedModel) -> Heatmap:
    """Draw how any two methods agree, in the last layer, as a mean over the texts."""
    names = [*(_SHORT.get(name, NAMES[name]) for name in METHODS), LEFT_OUT]
    axis = Axis("Method", names)
    return heatmap(
        result(model).between,
        (axis, axis),
        Scale("Spearman’s ρ", (-1.0, 1.0), ".2f", signed=True),
        title=f"How well any two methods agree in {model.id}",
    )


def method_table(model: LoadedModel) -> pd.DataFrame:
    """:func:`as_frame` of a model's result; runs the experiment if the result is not known yet."""
    return as_frame(result(model))


def as_frame(found: ExplanationTest) -> pd.DataFrame:
    """One line for each method or control: its ρ with leave-one-out in the last layer, the intervals, the twin's ρ."""
    lines = []
    for name, values in found.own.rho.items():
        low, high = mean_interval(values[:, -1]).tolist()
        beyond = found.beyond.get(name, np.full(len(values), np.nan))
        twin = found.twin.rho.get(name, np.full((1, 1), np.nan))
        beyond_low, beyond_high = mean_interval(beyond).tolist() if name in found.beyond else (np.nan, np.nan)
        lines.append(
            {
                "method": NAMES[name],
                "ρ": values[:, -1].mean(),
                "low": low,
                "high": high,
                "beyond": beyond.mean(),
                "beyond, low": beyond_low,
                "beyond, high": beyond_high,
                "untrained twin": twin[:, -1].mean(),
                "n": len(values),
            }
        )
    return pd.DataFrame(lines)


def claim_frame(found: ExplanationTest) -> pd.DataFrame:
    """One line for each claim: the comparison, published and our values, the twin, interval, verdict and its reason."""
    return pd.DataFrame(
        [
            {
                "whose": WHOSE[row.claim],
                "verdict": row.judged.verdict.value,
                "published": CLAIMS[row.claim].published,
                "ours": row.effect,
                "low": row.low,
                "high": row.high,
                "untrained twin": row.twin,
                "n": row.count,
                "first": CLAIMS[row.claim].first,
                "mean of first": row.first,
                "second": CLAIMS[row.claim].second,
                "mean of second": row.second,
                "p (Holm)": row.p,
                "p above the twin (Holm)": row.beside_twin.p,
                "why": row.judged.why,
            }
            for row in found.rows
        ]
    )


def layer_frame(found: ExplanationTest) -> pd.DataFrame:
    """One line for each layer: raw attention, lengths and rollout, beside Abnar & Zuidema's values if they have any."""
    rho = found.own.rho
    layers = rho[ATTENTION].shape[1]
    columns: dict[str, object] = {"layer": range(1, layers + 1)}
    columns |= {NAMES[name]: rho[name].mean(axis=0) for name in (ATTENTION, NORMS, ROLLOUT)}
    columns |= {f"twin, {NAMES[name]}": found.twin.rho[name].mean(axis=0) for name in (ATTENTION, ROLLOUT)}
    published = pd.DataFrame(
        {
            "layer": range(1, len(ABNAR[0]) + 1),
            "published, raw": ABNAR[0],
            "published, rollout": ABNAR[1],
        }
    )
    return pd.DataFrame(columns).merge(published, on="layer", how="outer")
