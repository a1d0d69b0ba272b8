"""Learned positions and computed ones: two screens of the embeddings lesson, and the sliders they share."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.embeddings import Array, position_rows
from lab.analysis.positions import (
    Measure,
    Values,
    by_distance,
    frequencies,
    similarity,
    sinusoids,
    spaced,
)
from lab.charts import heatmap, lines
from lab.course import embedding_checks as ask
from lab.ui import selection
from lab.ui.embedding_steps import DIMENSIONS, LESSON, View, choose_dimensions
from lab.ui.figures import code, draw
from lab.ui.quiz import predict

# Positions and dimensions of a drawing; beyond, every k-th is drawn.
_ROWS = 64
_MAP = 96


def settings() -> tuple[int, int, float]:
    """The sinusoids' length, width and base, from three sliders."""
    left, middle, right = st.columns(3)
    with left:
        slider("pe_length", "Positions", 8)
    with middle:
        slider("pe_width", "Dimensions d of the sinusoids", 4)
    with right:
        st.select_slider(
            "Base of the sinusoids", sorted(selection.CHOICES["pe_base"]), selection.CHOICES["pe_base"][0],
            key="pe_base", bind="query-params",
        )  # fmt: skip
    chosen = selection.current()
    _, least, most = selection.NUMBERS["pe_width"]
    width = min(max(chosen.pe_width, least), most)
    length = min(max(chosen.pe_length, selection.NUMBERS["pe_length"][1]), selection.NUMBERS["pe_length"][2])
    base = chosen.pe_base if chosen.pe_base in selection.CHOICES["pe_base"] else selection.CHOICES["pe_base"][0]
    return length, width - width % 2, float(base)


def slider(name: str, label: str, step: int) -> None:
    default, least, most = selection.NUMBERS[name]
    st.slider(label, least, most, default, step, key=name, bind="query-params")


def _numbered(places: NDArray[np.int64]) -> list[str]:
    return [str(place) for place in places.tolist()]


def show_tables(view: View) -> None:
    """Learned rows beside computed ones."""
    length, width, base = settings()
    learned, pe = position_rows(view.trace, length), sinusoids(np.arange(length), width, base)
    st.markdown(
        f"{view.model} **looks up** a vector for each position in a table of its weights. Vaswani et al. **compute** "
        "it: sines and cosines of the position, at another speed in each pair of dimensions. Positions count from 0 "
        "here, as in their formula: token 1 stands at position 0."
    )
    _about_offset(view)
    shown = choose_dimensions(view.width)
    left, right = st.columns(2)
    with left:
        title = f"Learned positions, dimensions {shown.start + 1} to {shown.stop} of {view.width}"
        _draw_table(learned[:, shown], view.dimensions(shown), title, "learned-positions")
    with right:
        pairs = spaced(width // 2, DIMENSIONS // 2)
        kept = np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel()
        part = "" if len(kept) == width else f", {len(pairs)} pairs at even steps"
        _draw_table(pe[:, kept], _numbered(kept + 1), f"Sinusoids, d = {width}{part}", "sinusoids")
    _cut_rows(view, length)
    _draw_lengths(learned, pe)
    st.latex(
        r"\begin{aligned} PE_{(pos,\,2i)} & = \sin(pos \cdot \omega_i) \\ PE_{(pos,\,2i+1)} & = \cos(pos \cdot "
        r"\omega_i) \\ \omega_i & = \text{base}^{-2i/d} \end{aligned}"
    )
    code(sinusoids, frequencies)


def _about_offset(view: View) -> None:
    first = view.trace.model.config.position_offset
    if first:
        st.markdown(
            f"The table of {view.model} begins {first} rows earlier: position 0 is its row {first}. The rows before it "
            "belong to padding."
        )


def _cut_rows(view: View, asked: int) -> None:
    there = view.trace.model.config.max_tokens
    if there < asked:
        st.caption(f"{view.model} has {there} positions; the sinusoids are computed for all {asked}.")
    step = math.ceil(asked / _ROWS)
    if step > 1:
        st.caption(f"One position in {step} is drawn.")


def _draw_table(rows: Array | Values, dimensions: list[str], title: str, key: str) -> None:
    places = spaced(len(rows), _ROWS)
    draw(
        heatmap(
            rows[places], _numbered(places), dimensions, title=title, row_title="Position", column_title="Dimension",
            value_title="Value", scale="diverging", numbered=False,
        ),
        key,
    )  # fmt: skip


def _draw_lengths(learned: Array, pe: Values) -> None:
    sizes = {"learned": np.linalg.norm(learned, axis=1), "sinusoids": np.linalg.norm(pe, axis=1)}
    draw(
        lines(
            sizes, x=range(len(pe)), x_title="Position", y_title="Length of the row", title="Length of each row",
            y_domain=(0.0, 1.05 * float(max(each.max() for each in sizes.values()))),
        ),
        "row-lengths",
    )  # fmt: skip
    half = pe.shape[1] // 2
    off = float(np.abs(sizes["sinusoids"] - math.sqrt(half)).max())
    st.markdown(
        f"Each pair of a sinusoid adds sin² + cos² = 1, so every row has the length √(d/2) = √{half} = "
        f"**{math.sqrt(half):.4f}**; the largest difference on screen is {off:.1g}. The learned rows have lengths from "
        f"{sizes['learned'].min():.3f} to {sizes['learned'].max():.3f}."
    )


def show_similarity(view: View) -> None:
    """Which positions are alike? The same map for both tables."""
    length, width, base = settings()
    measures = get_args(Measure)
    chosen = st.segmented_control(
        "Similarity", measures, default=measures[0], required=True, key="similarity", bind="query-params"
    )
    measure: Measure = chosen if chosen in measures else measures[0]
    question = ask.same_distance(width, base)
    if question is not None and not predict(LESSON, question):
        return
    learned = similarity(position_rows(view.trace, length), measure)
    pe = similarity(sinusoids(np.arange(length), width, base), measure)
    for column, values, title, key in zip(
        st.columns(2), (learned, pe), ("learned positions", f"sinusoids, d = {width}"), ("learned", "sinusoids"),
        strict=True,
    ):  # fmt: skip
        with column:
            _draw_map(values, measure, f"{measure.capitalize()} of {title}", f"similarity-{key}")
    if length > _MAP:
        st.caption(f"One position in {math.ceil(length / _MAP)} is drawn.")
    _draw_by_distance(learned, pe, measure)
    code(similarity, by_distance)


def _draw_map(values: Values, measure: Measure, title: str, key: str) -> None:
    places = spaced(len(values), _MAP)
    draw(
        heatmap(
            values[np.ix_(places, places)], _numbered(places), _numbered(places), title=title, row_title="Position",
            column_title="Other position", value_title=measure.capitalize(), scale="diverging",
            domain=(-1.0, 1.0) if measure == "cosine" else None, numbered=False,
        ),
        key,
    )  # fmt: skip


def _draw_by_distance(learned: Values, pe: Values, measure: Measure) -> None:
    least, mean, most = by_distance(learned)
    pe_least, pe_mean, pe_most = by_distance(pe)
    series = {"learned: mean": mean, "learned: least": least, "learned: largest": most, "sinusoids": pe_mean}
    draw(
        lines(
            series, x=range(len(pe)), x_title="Distance |p − q|", y_title=measure.capitalize(),
            title=f"{measure.capitalize()} by distance",
        ),
        "similarity-by-distance",
    )  # fmt: skip
    far, share = len(mean) // 2, " ÷ (d/2)" if measure == "cosine" else ""
    st.markdown(
        f"Among sinusoids the {measure} depends on the distance k alone: it is Σ cos(k·ω){share}. At one distance, no "
        f"two values differ by more than {float((pe_most - pe_least).max()):.1g}."
    )
    st.markdown(
        f"Among the learned vectors, the least and the largest value at one distance are up to "
        f"{float((most - least).max()):.3f} apart. The mean is {mean[1]:.3f} between neighbours and {mean[far]:.3f} at "
        f"the distance {far}."
    )
