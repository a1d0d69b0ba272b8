"""Tokenization: what the model reads, one row a token."""

from __future__ import annotations

import pandas as pd

from lab.charts.tokens.tables import token_table as table_of
from lab.models.trace import Trace


def token_table(traced: Trace) -> pd.DataFrame:
    """Every token with its id, its segment and the characters it stands for."""
    return table_of(traced.encoding)
