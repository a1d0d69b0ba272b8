"""All metrics over all heads: their mean and standard deviation, beside the chosen head and a uniform head."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.metrics import METRICS
from lab.course.words import head_name
from lab.figures.metrics import unit
from lab.lessons.attention_metrics import MANY
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.ui.shared.metric_choice import found, uniform
from lab.ui.tables import show_table
from lab.ui.terms import say


def over_all_heads(trace: Trace, head: Head, corrected: bool) -> pd.DataFrame:
    """Draw one row per metric: mean and standard deviation over all heads, ``head`` (from 0), a uniform head."""
    every, even = found(trace), uniform(trace)
    values = {metric.name: every.values(metric.id, corrected) for metric in METRICS}
    return pd.DataFrame(
        {
            "metric": list(values),
            "mean": [float(np.mean(each)) for each in values.values()],
            "standard deviation": [float(np.std(each)) for each in values.values()],
            head_name(head): [float(each[head]) for each in values.values()],
            "uniform head": [float(even.values(metric.id, corrected)[0]) for metric in METRICS],
            "unit": [unit(metric, corrected) for metric in METRICS],
        }
    )


def show_summary(trace: Trace, head: Head, corrected: bool) -> None:
    """The table of :func:`over_all_heads`."""
    table = over_all_heads(trace, head, corrected)
    say(f"**All {MANY} metrics over the {found(trace).raw['spread'].size} heads**")
    numbers = dict.fromkeys(table.columns[1:-1], "%.3g")
    show_table(table, formats=numbers)
    st.caption("The standard deviation says how far the heads are from their mean: 0 if all heads have the same value.")
