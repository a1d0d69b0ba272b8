"""The effective number of keys in a row of attention: e to the row's entropy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lab.analysis.heads.values import as_heads, row_entropy

Keys = NDArray[np.float64]


def effective_keys(attention: NDArray[Any] | Tensor) -> Keys:
    """Return the effective number of keys of each query, (H, n, n) maps -> (H, n).

    The number is 1 for a row with all weight on one key, and k for a row spread evenly over k keys.
    """
    return np.exp(row_entropy(as_heads(attention)).astype(np.float64))
