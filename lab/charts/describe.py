"""A chart in one sentence, for those who do not see it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lab.charts.labels import visible


def describe_heatmap(values, rows, columns, *, value_format=".2f", causal=False) -> str:
    return "Heatmap"
