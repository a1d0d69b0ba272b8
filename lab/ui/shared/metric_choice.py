"""The metrics on screen, and the controls that choose among them."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lab.analysis.heads.metrics import METRICS, Metric, Metrics, metrics_by_chance, trace_metrics
from lab.analysis.heads.values import Values
from lab.models.trace import Trace
from lab.ui.parameters import CORRECTED, KEPT, METRIC, SINKS, TAU, VERSION


def found(trace: Trace) -> Metrics:
    """Return the metrics of every head at the chosen τ."""
    return trace_metrics(trace, threshold())


def uniform(trace: Trace) -> Metrics:
    """Return the metrics of a head without preference on the same number of tokens."""
    return metrics_by_chance(trace, threshold())


def threshold() -> float:
    """Return the threshold τ, from the control below the metric that uses τ, or from the link."""
    return float(TAU.chosen())


def choose_version() -> bool:
    """Draw the choice between raw and corrected metrics; return True for corrected."""
    help_ = (
        "“Raw” values are computed as published. “Corrected” values are adjusted so that you can compare texts of "
        "different lengths."
    )
    return VERSION.choose("Formula", help=help_) == CORRECTED


def choose_metric(*, tau: bool = True) -> Metric:
    """Draw the choice of a step's metric and its description; between both, the choice of τ if the metric uses it.

    ``tau`` is False where only corrected values are shown, which do not use τ.
    """
    before = next((metric for metric in METRICS if metric.name == METRIC.chosen()), METRICS[0])
    name = METRIC.choose("Metric", help=before.note)
    metric = next(metric for metric in METRICS if metric.name == name)
    told = ""
    if tau and metric.uses_threshold:
        TAU.choose("Threshold τ")
        told = f" Here τ is {threshold():g}: a smaller weight counts as nothing."
    st.markdown(f"{metric.reading} *{metric.use}*{told}")
    return metric


def no_choice(values: Values) -> bool:
    """Return whether there are no values to show; if there are none, say why."""
    if np.isfinite(values).all():
        return False
    st.info(
        "With a single token, no row has a choice, so this corrected metric has no value. Write a longer text.",
        icon=":material/edit:",
    )
    return True


def sinks_left_out() -> bool:
    """Return whether special tokens (or the first token of a model without them) are left out of measurements."""
    return SINKS.chosen() != KEPT


def choose_sinks(otherwise: str | None = None) -> None:
    """Draw the switch for special tokens.

    ``otherwise`` is the reason, if there is one, why the switch does nothing here.
    """
    SINKS.choose(
        "Special tokens or first token",
        help=(
            "If you choose “Left out”, the lab removes the rows and columns of [CLS] and [SEP] (in a model without "
            "these tokens, of the first token), and divides each row by its remaining sum."
        ),
    )
    if otherwise is not None:
        st.caption(otherwise)
