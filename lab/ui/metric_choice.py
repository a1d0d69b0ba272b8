"""The metrics on screen, and the controls that choose among them."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lab.analysis.heads.metrics import METRICS, Metric, Metrics, metrics_by_chance, trace_metrics
from lab.analysis.heads.values import Values
from lab.models.trace import Trace
from lab.ui import parameters
from lab.ui.parameters import CORRECTED, RAW

LESSON = "attention-metrics"


def found(trace: Trace) -> Metrics:
    """The metrics of every head at the chosen τ."""
    return trace_metrics(trace, threshold())


def uniform(trace: Trace) -> Metrics:
    """Those of a head without preference on as many tokens."""
    return metrics_by_chance(trace, threshold())


def threshold() -> float:
    """τ, as chosen in the step about it, or asked for in the link before that step was ever drawn."""
    chosen = st.session_state.get("tau", st.query_params.get("tau"))
    return float(chosen if chosen in parameters.CHOICES["tau"] else parameters.DEFAULTS.tau)


def choose_version() -> bool:
    """Raw or corrected; True for corrected."""
    chosen = st.segmented_control(
        "Formula", [RAW, CORRECTED], default=RAW, required=True, key="version", bind="query-params",
        persist_state="session", help="Raw: as published. Corrected: so that texts of different lengths compare.",
    )  # fmt: skip
    return chosen == CORRECTED


def choose_metric() -> Metric:
    """The metric of a step; below it what it says."""
    names = [metric.name for metric in METRICS]
    name = st.selectbox(
        "Metric", names, names.index(parameters.DEFAULTS.metric), key="metric", bind="query-params",
        persist_state="session",
    )  # fmt: skip
    metric = METRICS[names.index(str(name))]
    st.markdown(f"{metric.reading} {metric.note}")
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
