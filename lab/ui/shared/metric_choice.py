"""The metrics on screen, and the controls that choose among them."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lab.analysis.heads.metrics import METRICS, Metric, Metrics, metrics_by_chance, trace_metrics
from lab.analysis.heads.values import Values
from lab.models.trace import Trace
from lab.ui.parameters import CORRECTED, KEPT, METRIC, SINKS, TAU, VERSION

LESSON = "attention-metrics"


def found(trace: Trace) -> Metrics:
    """The metrics of every head at the chosen τ."""
    return trace_metrics(trace, threshold())


def uniform(trace: Trace) -> Metrics:
    """Those of a head without preference on as many tokens."""
    return metrics_by_chance(trace, threshold())


def threshold() -> float:
    """τ, as chosen below the metric that needs it, or in the link."""
    return float(TAU.chosen())


def rows_of(corrected: bool) -> dict[str, tuple[Metric, bool]]:
    """The metrics of a table, by name, each with whether it is corrected.

    Among the raw ones stands corrected spread, too: the lesson speaks of shares of the largest entropy.
    """
    rows: dict[str, tuple[Metric, bool]] = {}
    for metric in METRICS:
        rows[metric.name] = (metric, corrected)
        if metric.id == "spread" and not corrected:
            rows[f"{metric.name}, corrected"] = (metric, True)
    return rows


def choose_version() -> bool:
    """Raw or corrected; True for corrected."""
    help_ = "Raw: as published. Corrected: so that texts of different lengths compare."
    return VERSION.choose("Formula", help=help_) == CORRECTED


def choose_metric() -> Metric:
    """The metric of a step, and its τ if it has one; below them what it says."""
    name = METRIC.choose("Metric")
    metric = next(metric for metric in METRICS if metric.name == name)
    tau = ""
    if metric.uses_threshold:
        TAU.choose("Threshold τ")
        tau = f" Here τ is {threshold():g}: a smaller weight counts as nothing."
    st.markdown(f"{metric.reading} *{metric.use}* {metric.note}{tau}")
    return metric


def no_choice(values: Values) -> bool:
    """Say why there is no value, if there is none."""
    if np.isfinite(values).all():
        return False
    st.info(
        "With one token no row has a choice, so this corrected metric has no value. Write a longer text.",
        icon=":material/edit:",
    )
    return True


def sinks_left_out() -> bool:
    """Whether special tokens, or the first token of a model without them, are left out of what is measured."""
    return SINKS.chosen() != KEPT


def choose_sinks(otherwise: str | None = None) -> None:
    """The switch. ``otherwise`` says why it does nothing here, where it does nothing."""
    SINKS.choose(
        "Special tokens or first token",
        help="Left out: the rows and columns of [CLS] and [SEP], or of the first token of a model without them, are "
        "removed, and each row is divided by its remaining sum.",
    )
    if otherwise is not None:
        st.caption(otherwise)
