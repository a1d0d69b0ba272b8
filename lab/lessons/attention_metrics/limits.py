"""What moves a metric besides the head: special tokens, the threshold, the length of the text."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import metric_parts as take
from lab.analysis.heads.metrics import trace_metrics
from lab.analysis.heads.values import Values, is_causal, places_left_out
from lab.course.words import quoted
from lab.figures import metrics as figures
from lab.figures.metrics import unit
from lab.lessons.attention_metrics import LESSON
from lab.lessons.attention_metrics import checks as ask
from lab.ui.drawing import code, draw
from lab.ui.metric_choice import choose_metric, choose_version, found, no_choice, rows_of, threshold, uniform
from lab.ui.one_head import OneHead
from lab.ui.parameters import TAU
from lab.ui.quiz.predictions import predict


def show_specials(view: OneHead) -> None:
    """Leave out [CLS] and [SEP]; where there are none, the first token."""
    trace = view.trace
    out, special = places_left_out(trace)
    if out.all():
        st.info("Nothing else is left of this text. Write a longer one.", icon=":material/edit:")
        return
    names = " and ".join(dict.fromkeys(quoted(trace.labels[i]) for i in np.flatnonzero(out)))
    kept = int((~out).sum())
    what = "the special tokens" if special else "the first token"
    before, after = found(view.trace), trace_metrics(trace, threshold(), only_words=True)
    at = (view.layer.index, view.head)
    question = ask.without_specials(at, before.corrected["spread"][at], after.corrected["spread"][at], what)
    if not predict(LESSON, question):
        return
    st.markdown(
        f"Your text is read as it stands, with nothing more hidden. Here {what} {'are' if special else 'is'} {names}. "
        + ("" if special else f"The model has no special tokens; {_stands_in(is_causal(trace))} ")
        + f"Left out as query and as key: {kept} of {len(trace)} tokens stay. Each row is divided by what is left "
        "of it, so that it adds up to 1 again."
    )
    _show_removed(view, after.removed)
    _table_of_both(view, choose_version())


def _stands_in(causal: bool) -> str:
    return "its first token is the one that every query can see." if causal else "its first token stands in for them."


def _show_removed(view: OneHead, removed: Values) -> None:
    """How much of their attention went there, head by head."""
    at = (view.layer.index, view.head)
    draw(partial(figures.removed, view.trace, *at), "removed")
    st.markdown(
        f"In {view.place}, the tokens that stay had spent **{removed[at]:.1%}** of their attention there on average. "
        f"In {int(np.count_nonzero(removed > 0.5))} of {removed.size} heads it was more than half."
    )
    st.markdown(
        "A row must add up to 1, so a head that has nothing to look for must put its attention somewhere. Tokens that "
        "take it are called **attention sinks** (Xiao et al. 2024, on models in which a token sees only itself and "
        "those before it). For BERT, Clark et al. 2019 "
        "conjecture that attention to [SEP] does nothing. Lesson 4, “Each head off”, shows what the prediction loses "
        "without such a head."
    )


def _table_of_both(view: OneHead, corrected: bool) -> None:
    at, rows = (view.layer.index, view.head), rows_of(corrected)
    table = pd.DataFrame({"metric": list(rows)})
    for name, every in (
        ("all tokens", found(view.trace)),
        ("without", trace_metrics(view.trace, threshold(), only_words=True)),
    ):
        table[name] = [float(every.values(metric.id, how)[at]) for metric, how in rows.values()]
    table["unit"] = [unit(*row) for row in rows.values()]
    numbers = {name: st.column_config.NumberColumn(format="%.3g") for name in table.columns[1:-1]}
    st.dataframe(table, hide_index=True, height="content", column_config=numbers)


def show_threshold(view: OneHead) -> None:
    """Sparsity counts the cells below τ, and τ is a choice."""
    n, causal, trace = len(view.trace), is_causal(view.trace), view.trace
    tau = float(TAU.choose("Threshold τ"))
    question = ask.uniform_below(n, causal, tau)
    if not predict(LESSON, question):
        return
    shown = (view.layer.index, view.head, tau)
    draw(partial(figures.by_threshold, trace, *shown), "by-threshold")
    own, flat = (shares[-1] for shares in take.sparsity_by_threshold(trace, *shown))
    cells = n * (n + 1) // 2 if causal else n * n
    st.markdown(
        f"**{own:.1%}** of the {cells:,} cells of this head are below τ = {tau:g}; of a uniform head’s cells it is "
        f"{flat:.1%}. "
        + (
            f"Row i of a uniform head has the weight 1/i: rows longer than 1/τ = {1 / tau:g} are below τ as a whole."
            if causal
            else f"A uniform head jumps from 0 to 1 at τ = 1/{n} = {1 / n:.4f}."
        )
        + " The corrected metric compares each row with its own $1/\\ell_i$ instead of with one τ."
    )
    of_head = trace_metrics(trace, tau).corrected["sparsity"][view.layer.index, view.head]
    st.markdown(f"Corrected, this head’s sparsity is **{of_head:.1%}**, whatever τ; a uniform head’s is 0.0%.")
    code(take.shares_below)


def show_length(view: OneHead) -> None:
    """A head without preference scores otherwise on a longer text."""
    n, causal = len(view.trace), is_causal(view.trace)
    question = ask.doubled(n, causal)
    if not predict(LESSON, question):
        return
    metric = choose_metric()
    by_length = take.uniform_by_length(causal, threshold())
    at = (view.layer.index, view.head)
    if no_choice(found(view.trace).values(metric.id, True)):
        return
    for corrected in (False, True):
        asked = (metric.id, *at, corrected, threshold())
        draw(partial(figures.by_length, view.trace, *asked), f"by-length-{'corrected' if corrected else 'raw'}")
    raw, mended = (by_length.values(metric.id, each)[:, 0] for each in (False, True))
    even, own = uniform(view.trace), float(found(view.trace).values(metric.id, False)[at])
    shown = [f"{line[0]:.4g} to {line[-1]:.4g}" for line in (raw, mended)]
    same = np.allclose(mended, mended[0])
    st.markdown(
        f"The line is a uniform head on {take.LENGTHS[0]} to {take.LENGTHS[-1]} tokens, the point is "
        f"{view.place} on your {n}. From the shortest text to the longest, the line’s raw value goes from {shown[0]}. "
        + (
            f"Corrected, it is {mended[0]:.4g} at every length. "
            if same
            else f"The corrected one goes from {shown[1]}. "
        )
        + f"On {n} tokens, the raw value of the uniform head is {even.values(metric.id, False)[0]:.4g}, that of this "
        f"head {own:.4g}."
    )
