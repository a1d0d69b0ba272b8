"""How many keys a row of attention looks at, in effect: e to its entropy, the perplexity of its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lab.analysis.heads.values import as_heads, row_entropy

Keys = NDArray[np.float64]


def effective_keys(attention: NDArray[Any] | Tensor) -> Keys:
    """(H, n, n) maps -> (H, n): as if each query looked evenly at so many keys.

    1 for a row that gives everything to one key, k for a row that is spread evenly over k of them.
    """
    return np.exp(row_entropy(as_heads(attention)).astype(np.float64))
