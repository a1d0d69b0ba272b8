"""The screen about heads that have a name, and the checks of the lesson."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis import patterns as measure
from lab.analysis.attention import attention_map
from lab.analysis.heads import Values, is_causal
from lab.analysis.patterns import PATTERNS, name_heads
from lab.analysis.specialization_parts import specialization_parts
from lab.course import specialization_checks as ask
from lab.course.checks import Question
from lab.figures import specialization as figures
from lab.text.tags import Tags
from lab.ui import cached_tags
from lab.ui.attention_steps import View
from lab.ui.figures import code
from lab.ui.parameters import TOY
from lab.ui.quiz import checks, predict
from lab.ui.specialization_view import LESSON, dimension, draw_names, tags_or_reason

NAMED = "named-heads"


def show_patterns(view: View) -> None:
    """Which heads do something that has a name, on this text."""
    found = cached_tags.patterns(view.trace)
    names = name_heads(found)
    question = ask.most_common_name([str(name) for name in names.ravel()])
    if question is not None and not predict(LESSON, question):
        return
    layer, head = view.layer.index, view.head
    draw_names(names, view, "Named heads, this text", NAMED, partial(figures.named_heads, view.trace, layer, head))
    st.markdown(
        f"{view.place[0].upper()}{view.place[1:]} is **{ask.pattern_name(str(names[layer, head]))}**. A head has a "
        "name when its score is above the pattern’s threshold; broad goes first, then the largest score. Click a head "
        "to choose it."
    )
    scores = np.stack([getattr(found, pattern.id) for pattern in PATTERNS])
    st.dataframe(
        _table(scores, (layer, head)), hide_index=True, height="content",
        column_config={
            name: st.column_config.NumberColumn(format=form)
            for name, form in (("this head", "%.3f"), ("threshold", "%.1f"), ("its score", "%.3f"))
        },
    )  # fmt: skip
    if not np.isfinite(scores).all():
        st.caption("No score: this text has no case of the pattern, or a causal model cannot show it.")
    with st.expander("What the scores are", icon=":material/function:"):
        for pattern in PATTERNS:
            st.markdown(f"**{pattern.name}**, above {pattern.threshold:g}. {pattern.reading}")
            st.latex(pattern.formula)
        st.caption(
            r"$\ell_i$ keys a query may see, $k_i$ places of a word, $D$ the delimiters, $s(i)$ the words of the "
            "token’s segment."
        )
    code(measure.head_patterns, measure.name_scores)


def _table(scores: Values, at: tuple[int, int]) -> pd.DataFrame:
    """For each pattern the chosen head's score, the threshold, and the head that fits best. ``scores`` (P, L, H)."""
    rows: list[tuple[str, float | None, float, str, str, float | None]] = []
    for pattern, values in zip(PATTERNS, scores, strict=True):
        own = float(values[at])
        if np.isnan(values).all():
            rows.append((pattern.name, None, pattern.threshold, "", "", None))
            continue
        best = np.unravel_index(int(np.nanargmax(values)), values.shape)
        passes = "passes" if own > pattern.threshold else "below"
        where = f"layer {best[0] + 1}, head {best[1] + 1}"
        rows.append((pattern.name, own, pattern.threshold, passes, where, float(values[best])))
    return pd.DataFrame(
        rows, columns=["pattern", "this head", "threshold", "this head’s score", "best head", "its score"]
    )


def show_checks(view: View) -> None:
    """Questions on this text and this head."""
    found = cached_tags.patterns(view.trace)
    scores = np.stack([getattr(found, pattern.id) for pattern in PATTERNS])
    name = ask.name_of(view.place, scores[:, view.layer.index, view.head])
    best = [ask.best_head(pattern, values) for pattern, values in zip(PATTERNS, scores, strict=True)]
    tags = None if view.page.selection.mode == TOY else tags_or_reason(view.trace)
    tagged: list[Question | None] = [] if tags is None else _about_tags(view, tags)
    checks(LESSON, (*tagged, name, *(question for question in best if question is not None)), most=5 if tagged else 4)


def _about_tags(view: View, tags: Tags) -> list[Question | None]:
    every, layer = cached_tags.specialization(view.trace), view.layer.index
    causal, n = is_causal(view.trace), len(view.trace)
    parts = specialization_parts(attention_map(view.layer, view.head), *tags, causal=causal)
    by_id = {part.id: part for part in parts}
    rim = (
        ask.rim_of_radar(layer, dimension(id), (every.values(id, False)[layer], every.values(id, True)[layer]))
        for id in ("content_words", "function_words", "self", "cls")
    )
    return [
        ask.base_rate(by_id["content_words"], n, causal),
        ask.corrected_value(view.place, by_id["function_words"]),
        next((question for question in rim if question is not None), None),
    ]
