"""The screen with the likeliest words of every place, nothing hidden."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import streamlit as st

from lab.analysis.words.predictions import Likeliest, likeliest, word_of
from lab.charts.base.labels import visible
from lab.course.words import share
from lab.lessons.masked_language_model import meanings as means
from lab.models.trace import Trace
from lab.ui.drawing import code
from lab.ui.frame.script import meaning

_WORDS = 5
_ROWS = 24  # of a table that is shown whole; a longer one scrolls


def show_every_place(trace: Trace) -> Trace:
    """A row for each token of the text as it stands: its five likeliest words, or what is expected after it."""
    if trace.model.config.causal:
        st.markdown("This model reads from left to right: each row shows what it expects **after** its token.")
    found = likeliest(trace, min(_WORDS, trace.model.config.vocabulary))
    table = _table(trace, found)
    height: Literal["content", "auto"] = "content" if len(table) <= _ROWS else "auto"
    st.dataframe(table, hide_index=True, height=height)
    meaning(means.copied(trace, found.ids[:, 0].tolist()))
    if not trace.model.config.causal and any(trace.encoding.special):
        st.caption("In training only words are hidden, never a special token. So read nothing into the rows of those.")
    code(likeliest)
    return trace


def _table(trace: Trace, found: Likeliest) -> pd.DataFrame:
    """Number, token, then a column for each rank with the word and its probability."""
    tokenizer = trace.model.tokenizer
    named = [visible(word_of(tokenizer, token_id)) for token_id in trace.token_ids]
    cells = [
        [f"{visible(word_of(tokenizer, int(i)))}  {share(float(p))}" for i, p in zip(ids, shares, strict=True)]
        for ids, shares in zip(found.ids, found.probabilities, strict=True)
    ]
    columns = {f"rank {rank + 1}": [row[rank] for row in cells] for rank in range(found.ids.shape[1])}
    return pd.DataFrame({"number": range(1, len(trace) + 1), "token": named, **columns})
