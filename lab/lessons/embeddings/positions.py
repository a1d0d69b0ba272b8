"""Learned positions and computed ones: two screens of the embeddings lesson, and the sliders they share."""

from __future__ import annotations

import math
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.analysis.layers.positions import (
    frequencies,
    sinusoids,
)
from lab.charts.cells.heatmap import Heatmap
from lab.lessons.embeddings import figures, meanings
from lab.lessons.embeddings.screens import EmbeddingView, choose_dimensions
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameters import PE_BASE, PE_LENGTH, PE_WIDTH


def settings() -> tuple[int, int, float]:
    """The sinusoids' length, width and base, from three sliders in the sidebar."""
    with sidebar.controls():
        length = PE_LENGTH.choose("Positions", 8)
        width = PE_WIDTH.choose("Dimensions d of the sinusoids", 4)
        base = PE_BASE.choose("Base of the sinusoids")
    return length, width - width % 2, float(base)


def show_tables(view: EmbeddingView) -> None:
    """Learned rows beside computed ones."""
    length, width, base = settings()
    own = (
        f"{view.model} has learned them, as BERT has. (Many newer models add none; see **Rotary**.)"
        if view.learned
        else f"{view.model} adds no vector for the position. (The step **Rotary** shows what it does instead.)"
    )
    st.markdown(
        f"{own} The first transformer computed them from waves, the **sinusoids** (Vaswani et al. 2017, §3.5): the "
        "first dimensions go up and down fast from place to place, the last ones slowly. So no two places have the "
        "same numbers. Positions count from 0: token 1 is at position 0."
    )
    _about_offset(view)
    first = choose_dimensions(view.width) if view.learned else 0
    with _beside(view, partial(figures.learned_table, view.trace, length, first), "learned-positions"):
        draw(partial(figures.sinusoid_table, length, width, base), "sinusoids")
    _cut_rows(view, length)
    draw(partial(figures.similarity_by_distance, view.trace, length, width, base), "similarity-by-distance")
    meaning(meanings.positions(view.trace, length, width, base))
    if length < PE_LENGTH.most:
        why = "many more positions. Are neighbours still more alike than places far apart?"
        try_this(why, f"Take {PE_LENGTH.most} positions", {PE_LENGTH: PE_LENGTH.most})
    st.latex(
        r"\begin{aligned} PE_{(pos,\,2i)} & = \sin(pos \cdot \omega_i) \\ PE_{(pos,\,2i+1)} & = \cos(pos \cdot "
        r"\omega_i) \\ \omega_i & = \text{base}^{-2i/d} \end{aligned}"
    )
    code(sinusoids, frequencies)


def _beside(view: EmbeddingView, learned: partial[Heatmap], key: str) -> DeltaGenerator:
    """Draw what the model has learned, if it has; returns the place beside it."""
    if not view.learned:
        return st.container()
    left, right = st.columns(2)
    with left:
        draw(learned, key)
    return right


def _about_offset(view: EmbeddingView) -> None:
    first = view.trace.model.config.position_offset
    if first:
        st.markdown(f"In the table of {view.model}, position 0 is its row {first}. The rows before it are for padding.")


def _cut_rows(view: EmbeddingView, asked: int) -> None:
    there = view.trace.model.config.max_tokens
    if view.learned and there < asked:
        st.caption(f"{view.model} has only {there} positions. The sinusoids are computed for all {asked}.")
    step = math.ceil(asked / figures.ROWS)
    if step > 1:
        st.caption(f"One position in {step} is drawn.")
