"""The figures of the experiment about copying.

The figures need nothing but the model, so a notebook can draw them again.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.lines import lines
from lab.experiments.copying.induction import ABLATIONS, MEAN, ZERO
from lab.experiments.copying.measure import AWAY, BEST, BOTH, SOURCE, CopyingRow, CopyingTest, Rise, result
from lab.models.loading import LoadedModel


def loss_chart(model: LoadedModel) -> Figure:
    """Draw the loss of each token of the second copy with all heads and without some, as a mean over the texts of B. A
    head that is away writes its mean. The experiment runs unless its result ships or is known already. Raises
    ValueError for a model that the experiment cannot test.
    """
    found = result(model)
    runs = [run for kind in (BEST, SOURCE, BOTH) if (run := found.run(kind, MEAN))]
    series = {"all heads": found.plain.by_place}
    series |= {"neither" if run.kind == BOTH else f"no {run.name}": run.by_place for run in runs}
    series["without a random head"] = np.mean([run.by_place for run in found.random(1, MEAN)], axis=0)
    second = {name: losses[found.period :] for name, losses in series.items()}
    # The loss, at every place, of a model that gives all tokens of the vocabulary the same probability.
    second["all alike"] = np.full(found.period - 1, found.alike)
    return lines(
        second,
        AxisPlaces("Token of the second copy", range(2, found.period + 1)),
        Scale("Loss, nats", format=".2f"),
        title=f"How well {model.id} copies, with and without its heads",
    )


def distance_frame(found: CopyingTest) -> pd.DataFrame:
    """The control for position: the best head's score at repeated tokens, and at other tokens at the same distance."""
    return pd.DataFrame(
        [
            {"tokens back": each.period - 1, "repeated": each.repeated.mean(), "not repeated": each.fresh.mean()}
            for each in found.distances
        ]
    )


def head_table(model: LoadedModel) -> pd.DataFrame:
    """:func:`as_frame` of a model's result; runs the experiment if the result is not known yet."""
    return as_frame(result(model))


def as_frame(found: CopyingTest) -> pd.DataFrame:
    """One line for each removal: the heads of the claim, then random heads, each taken away in both ways."""
    chosen = [_line(found, AWAY[row.kind], (row.zero, row.mean)) | _judged(row) for row in found.rows]
    random = [
        _line(found, "random head" if count == 1 else "random couple", both)
        for count in (1, 2)
        for both in zip(*(found.controls(count, ablation) for ablation in ABLATIONS), strict=True)
    ]
    return pd.DataFrame([*chosen, *random])


def _line(found: CopyingTest, what: str, both: tuple[Rise, ...]) -> dict[str, object]:
    zero, mean = both
    heads = zero.run.heads
    one = heads[0] if len(heads) == 1 else None
    nothing = float("nan")
    return {
        "away": what,
        "head": zero.run.name,
        "induction score": found.induction[one] if one else nothing,
        "previous-token score": found.previous[one] if one else nothing,
        "loss rises by": zero.rise,
        "low": zero.low,
        "high": zero.high,
        "at its mean": mean.rise,
        "at its mean, low": mean.low,
        "at its mean, high": mean.high,
    }


def _judged(row: CopyingRow) -> dict[str, object]:
    return {
        "decides": "0" if row.decides == ZERO else "mean",
        "beyond random": row.effect,
        "beyond, low": row.low,
        "beyond, high": row.high,
        "untrained twin": float("nan") if row.twin is None else row.twin,
        "p (Holm)": row.p,
        "n": len(row.zero.run.second),
        "verdict": row.judged.verdict.value,
        "why": row.judged.why,
    }


def score_frame(found: CopyingTest) -> pd.DataFrame:
    """One line for each head of the model, the best first: its scores on A, where the best was chosen, and on B."""
    places = list(np.ndindex(found.induction.shape))
    frame = pd.DataFrame(
        {
            "head": [f"{layer + 1}-{head + 1}" for layer, head in places],
            "induction score": found.induction.reshape(-1),
            "induction score on A": found.chosen_on.reshape(-1),
            "previous-token score": found.previous.reshape(-1),
            "best head’s score falls by": found.dependence.reshape(-1),
        }
    )
    return frame.sort_values("induction score on A", ascending=False, ignore_index=True)
