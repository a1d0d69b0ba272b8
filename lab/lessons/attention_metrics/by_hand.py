"""By hand: the entropy of one row, term by term."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.attention import attention_map, heaviest
from lab.analysis.heads.effective import RowEntropy, entropy_of_row
from lab.analysis.heads.formulas import tex
from lab.analysis.heads.values import is_causal
from lab.course.words import named
from lab.models.trace import Trace
from lab.ui.drawing import code
from lab.ui.frame.closing import meaning
from lab.ui.frame.header import idea
from lab.ui.quiz.blanks import blanks
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.tables import show_table
from lab.ui.terms import say

IDEA = """
The **entropy** of a row says how widely its attention is spread. It is 0 if one token gets everything, and largest if
all tokens get the same weight. Compute it for one row."""
_ROWS = 24  # number of terms of a row in the list


def said(trace: Trace, query: int, found: RowEntropy) -> str:
    """State the effective number of tokens of the row."""
    count = len(found.weights)
    share = found.total / found.largest if found.largest else 0.0
    return (
        f"{named(trace, query)} could look at {count} tokens. The effective number of its row is {found.keys:.1f}, and "
        f"the row has {share:.0%} of the largest possible entropy."
    )


def show(view: OneHead) -> None:
    """Write out the entropy of one row, term by term."""
    show_sentence(view)
    idea(IDEA)
    row = entropy_of_row(attention_map(view.layer, view.head), view.query, causal=is_causal(view.trace))
    if len(row.weights) < 2:
        st.info(
            "This token sees only one token. The weight is 1, and the entropy is 0. Choose a later token.",
            icon=":material/info:",
        )
        return
    say(
        f"These are the {len(row.weights)} weights of {view.token(view.query)} in {view.place}. Multiply each of them "
        "by its natural logarithm, add up the products, and change the sign."
    )
    _show_terms(view, row)
    if _show_own_share(view, row):
        meaning(said(view.trace, view.query, row))
    code(entropy_of_row)


def _show_terms(view: OneHead, row: RowEntropy) -> None:
    """List the terms of the sum, and the sum."""
    count = len(row.weights)
    shown = heaviest(row.weights.astype(np.float32), int(row.weights.argmax()), _ROWS)
    table = pd.DataFrame(
        {
            "key": [view.trace.labels[i] for i in shown],
            "weight A": row.weights[shown],
            "ln A": row.logarithms[shown],
            "−A ln A": row.terms[shown],
        },
        index=[i + 1 for i in shown],
    )
    numbers = dict.fromkeys(table.columns[1:], "%.4f")
    show_table(table, formats=numbers, numbered=True)
    if count > len(shown):
        rest = row.total - float(row.terms[shown].sum())
        st.caption(f"These are the {len(shown)} largest weights of {count}. The other weights add {rest:.4f}.")
    first, second = sorted(range(count), key=lambda i: -row.weights[i])[:2]
    st.latex(
        rf"\begin{{aligned}} H = & -{tex(row.weights[first])} \cdot \ln {tex(row.weights[first])} \\ & "
        rf"-{tex(row.weights[second])} \cdot \ln {tex(row.weights[second])}"
        + (r" - \dots" if count > 2 else "")
        + rf" \\ = & \ {tex(row.total)}\ \text{{nats}} \end{{aligned}}"
        if row.weights[second] > 0
        else rf"H = {tex(row.total)}\ \text{{nats}}"
    )
    say(
        f"So the effective number of tokens of this row is e^{row.total:.3f} = **{row.keys:.2f}**. A row that is even "
        f"over all {count} tokens has the entropy ln {count} = {row.largest:.3f}."
    )


def _show_own_share(view: OneHead, row: RowEntropy) -> bool:
    """Ask for the row's share of its largest possible entropy; return whether the answer is right."""
    count = len(row.weights)
    say(f"Your turn: what share of the largest possible entropy, ln {count}, does this row have?")
    known = blanks(
        {"Share of the maximum": row.total / row.largest},
        f"Divide {row.total:.3f} by {row.largest:.3f}.",
        f"_metrics.{hash(view.trace.token_ids)}.{view.layer.index}.{view.head}.{view.query}",
    )
    if known:
        st.success(
            f"{row.total:.3f} ÷ {row.largest:.3f} = {row.total / row.largest:.3f}. The mean of this share over all "
            "rows is the metric **Spread (entropy)**, corrected.",
            icon=":material/check:",
        )
    return known
