"""Learned and computed positions: two screens of the embeddings lesson, and the sliders that they share."""

from __future__ import annotations

import math
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.analysis.layers.positions import frequencies, sinusoids, wavelengths
from lab.charts.cells.heatmap import Heatmap
from lab.lessons.embeddings import figures, meanings
from lab.lessons.embeddings.screens import EmbeddingView, choose_dimensions
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import PE_BASE, PE_LENGTH, PE_WIDTH
from lab.ui.terms import say


def settings() -> tuple[int, int, float]:
    """The sinusoids' length, width and base, from three sliders in the sidebar."""
    with sidebar.controls():
        length = PE_LENGTH.choose("Positions", 8)
        width = PE_WIDTH.choose("Dimensions d of the sinusoids", 4)
        base = PE_BASE.choose("Base of the sinusoids")
    return length, width - width % 2, float(base)


def show_tables(view: EmbeddingView) -> None:
    """Show how similar the vectors of two places are; behind clicks, the vectors and the formula of sinusoids."""
    length, width, base = settings()
    own = (
        f"{view.model} has **learned** a vector for each place, as BERT did."
        if view.learned
        else f"{view.model} adds no position vector. (The step **Rotary** shows what it does instead.)"
    )
    say(
        f"{own} The first transformer **computed** them: the numbers go up and down like waves, fast in the first "
        "dimensions and slowly in the last (**sinusoids**, Vaswani et al. 2017). Are the vectors of two places more "
        "alike if the places are near?"
    )
    _about_offset(view)
    draw(partial(figures.similarity_by_distance, view.trace, length, width, base), "similarity-by-distance")
    meaning(meanings.positions(view.trace, length, width, base))
    if length < PE_LENGTH.most:
        why = "many more places. Are neighbours still more alike than places far apart?"
        try_this(why, f"Take {PE_LENGTH.most} places", {PE_LENGTH: PE_LENGTH.most})
    with st.expander(
        "The vectors of the places", icon=":material/grid_on:", on_change="rerun", key="_places"
    ) as places:
        if places.open:
            _show_vectors(view, length, width, base)
    with st.expander("The formula of the waves", icon=":material/function:", on_change="rerun", key="_waves") as waves:
        if waves.open:
            _show_formula(width, base)
    code(sinusoids, frequencies)


def _show_vectors(view: EmbeddingView, length: int, width: int, base: float) -> None:
    """Show the learned vectors beside the computed vectors, with a row for each place."""
    say("Each row is a place, and each column is a dimension. Positions count from 0 here: token 1 is at position 0.")
    first = choose_dimensions(view.width) if view.learned else 0
    with _beside(view, partial(figures.learned_table, view.trace, length, first), "learned-positions"):
        draw(partial(figures.sinusoid_table, length, width, base), "sinusoids")
    _cut_rows(view, length)


def _show_formula(width: int, base: float) -> None:
    """Show the formula of sinusoids with their wavelengths, and what its authors hoped from it."""
    st.latex(
        r"\begin{aligned} PE_{(pos,\,2i)} & = \sin(pos \cdot \omega_i) \\ PE_{(pos,\,2i+1)} & = \cos(pos \cdot "
        r"\omega_i) \\ \omega_i & = \text{base}^{-2i/d} \end{aligned}"
    )
    st.caption(
        "PE is the vector of position pos, 2i and 2i + 1 are two of its d dimensions, and ω says how fast their wave "
        "goes. The base, 10,000 in the paper, decides how slow the slowest wave is."
    )
    lengths = wavelengths(width, base)
    say(
        f"With {width} dimensions and base {base:,.0f}, the first wave repeats after {lengths[0]:.2f} places, the last "
        f"after {lengths[-1]:,.2f}. Such a table is not learned, and it has a row for every place, however long the "
        "text. To go k places further, every pair of dimensions turns by the angle kω, from any place: the vector of "
        "place pos + k is the same linear map of the vector of pos. The authors hoped that a model could use this to "
        "see distances; learned vectors worked as well for them (Vaswani et al. 2017, §3.5)."
    )


def _beside(view: EmbeddingView, learned: partial[Heatmap], key: str) -> DeltaGenerator:
    """Draw the figure of the learned positions, if the model has any; returns the place beside the figure."""
    if not view.learned:
        return st.container()
    left, right = st.columns(2)
    with left:
        draw(learned, key)
    return right


def _about_offset(view: EmbeddingView) -> None:
    first = view.trace.model.config.position_offset
    if first:
        say(f"In the table of {view.model}, position 0 is its row {first}. The rows before it are for padding.")


def _cut_rows(view: EmbeddingView, asked: int) -> None:
    there = view.trace.model.config.max_tokens
    if view.learned and there < asked:
        st.caption(f"{view.model} has only {there} positions. The sinusoids are computed for all {asked}.")
    step = math.ceil(asked / figures.ROWS)
    if step > 1:
        st.caption(f"One position in {step} is drawn.")
