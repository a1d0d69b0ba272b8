"""Learned or computed: where the vectors of places come from, and which places have similar vectors."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from lab.analysis.layers.embeddings import Array, position_rows
from lab.analysis.layers.positions import (
    BASE,
    Values,
    frequencies,
    learned_by_distance,
    similarity,
    sinusoids,
    sinusoids_by_distance,
    spaced,
    wavelengths,
)
from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.course.sentences.looks import is_story
from lab.course.words import signed
from lab.figures.embedding_figures import DIMENSIONS, dimension_names, stretch
from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.view import EmbeddingView, choose_dimensions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.parameters import PE_BASE, PE_LENGTH, PE_WIDTH
from lab.ui.screen import meaning, say, try_this

IDEA = """
So each place needs its own vector. Where do these vectors come from? Either a model **learns** them, as BERT and
GPT-2 did, or they are **computed**, as in the first transformer: the numbers go up and down like waves, fast in the
first dimensions and slowly in the last (**sinusoids**, Vaswani et al. 2017)."""
NO_PLACES = "{model} adds no position vector. (The step **Rotary** shows what it does instead.)"
OFFSET = "In the table of {model}, position 0 is row {first}. The rows before this row are for padding."
CAPTION = """
Each cell is the cosine of the vectors of two places. On the diagonal, a place is compared with itself: the cosine
is 1. Places count from 0: token 1 is at place 0."""
LEARNED = (
    "In the table of the model, neighbours have the cosine {near} on average; places that are further apart have "
    "{far} at most, as a mean over all pairs at one distance."
)
COMPUTED = "Computed, neighbours have {near}, and places at any larger distance {far} at most."
WRITTEN = """ Place 0 is an exception: there is always [CLS], and of
the places shown, none has a vector like it (cosine {most:.2f} at most)."""
VECTORS = "Each row is a place, and each column is a dimension."
LONGER = """
**Longer texts.** The table of {model} ends after {most} places, so it cannot read longer texts. Sinusoids can be
computed for every place, but a model has never met places beyond its training texts."""
FORMULA = r"""\begin{aligned} PE_{(pos,\,2i)} & = \sin(pos \cdot \omega_i) \\ PE_{(pos,\,2i+1)} & = \cos(pos \cdot
\omega_i) \\ \omega_i & = \text{base}^{-2i/d} \end{aligned}"""
TERMS = """
PE is the vector of position pos, 2i and 2i + 1 are two of its d dimensions, and ω says how fast their wave goes. With
{width} dimensions and base {base:,.0f}, the first wave repeats after {first:.2f} places, and the last after
{last:,.2f}."""
TURNED = """
**One place further.** Turn every pair of dimensions by the angle ω, and you have the vector of the next place: the same
linear map from any place. The authors hoped that a model could use this to see distances. In their tests, learned
vectors worked just as well (Vaswani et al. 2017, §3.5)."""
ROWS = 64
_COSINE = Scale("Cosine", (-1.0, 1.0), signed=True)


def show(view: EmbeddingView) -> None:
    """Show how similar the vectors of two places are; behind clicks, the vectors and the formula of sinusoids."""
    say(IDEA)
    with sidebar.controls():
        length = PE_LENGTH.choose("Places", 8)
        width = PE_WIDTH.choose("Dimensions d of the sinusoids", 4)
        base = float(PE_BASE.choose("Base of the sinusoids"))
    width -= width % 2
    _show_own(view)
    right = _show_learned_beside(view, partial(learned_similarity, view.trace.model, length), "learned-similarity")
    with right:
        draw(partial(computed_similarity, length, width, base), "computed-similarity")
    st.caption(CAPTION)
    _show_cut_rows(view, length)
    told = said(view.trace, length, width, base)
    if is_story(view.trace):
        told += WRITTEN.format(most=float(similarity(position_rows(view.trace.model, length))[0, 1:].max()))
    meaning(told)
    if length < PE_LENGTH.most:
        why = "many more places. Are neighbours still more similar than places that are far apart?"
        try_this(why, f"Take {PE_LENGTH.most} places", {PE_LENGTH: PE_LENGTH.most})
    with st.expander("The vectors of the places", icon=":material/grid_on:", on_change="rerun", key="_places") as rows:
        if rows.open:
            _show_vectors(view, length, width, base)
    with st.expander("The formula of the waves", icon=":material/function:", on_change="rerun", key="_waves") as waves:
        if waves.open:
            st.latex(FORMULA)
            every = wavelengths(width, base)
            say(TERMS.format(width=width, base=base, first=every[0], last=every[-1]))
            say(TURNED)
    code(sinusoids, frequencies)


def _show_own(view: EmbeddingView) -> None:
    """Say what the model on screen does, if it is not what BERT does."""
    first = view.trace.model.config.position_offset
    if not view.learned:
        say(NO_PLACES.format(model=view.model))
    elif first:
        say(OFFSET.format(model=view.model, first=first))


def _show_vectors(view: EmbeddingView, length: int, width: int, base: float) -> None:
    """Show the learned vectors beside the computed vectors, with a row for each place."""
    say(VECTORS)
    first = choose_dimensions(view.width) if view.learned else 0
    with _show_learned_beside(view, partial(learned_table, view.trace, length, first), "learned-positions"):
        draw(partial(sinusoid_table, length, width, base), "sinusoids")
    if view.learned:
        say(LONGER.format(model=view.model, most=view.trace.model.config.max_tokens))


def _show_learned_beside(view: EmbeddingView, learned: partial[Heatmap], key: str) -> DeltaGenerator:
    """Draw the figure of the learned positions, if the model has any; returns the place beside the figure."""
    if not view.learned:
        return st.container()
    left, right = st.columns(2)
    with left:
        draw(learned, key)
    return right


def _show_cut_rows(view: EmbeddingView, asked: int) -> None:
    there = view.trace.model.config.max_tokens
    if view.learned and there < asked:
        st.caption(f"{view.model} has only {there} positions. The sinusoids are computed for all {asked}.")
    step = math.ceil(asked / ROWS)
    if step > 1:
        st.caption(f"The figure shows one position in {step}.")


@asks(
    basis=derivable(LESSON, "learned-or-computed", "the two ways to get the vector of a place"),
    hint="Where does the vector of a place come from in this model?",
)
def no_row_left() -> Question:
    """Ask what a model can do with a place for which it has learned no vector."""
    return Question(
        "no-row-left",
        "BERT has learned vectors for 512 places. A text has 513 tokens. What does BERT do with the last one?",
        (
            Option(
                "It computes the missing vector from the others",
                "Sinusoids could be computed for any place. BERT’s vectors were learned, one by one, and this one was "
                "not.",
            ),
            Option(
                "It cannot read it: there is no vector for it",
                "A learned table has an end. So longer texts are cut.",
                correct=True,
            ),
            Option(
                "It reads it without a place",
                "The sum would be possible. But BERT’s program looks up a row for every token, and row 513 is missing.",
            ),
        ),
        mixed=True,
    )


def learned_similarity(model: LoadedModel, length: int) -> Heatmap:
    """Draw the cosine of the learned vectors of every two of the first places.

    Raises ValueError for a model without a table of places.
    """
    return _similarity(position_rows(model, length), f"Learned by {model.id}")


def computed_similarity(length: int, width: int, base: float = BASE) -> Heatmap:
    """Draw the cosine of the sinusoids of every two of the first places."""
    return _similarity(sinusoids(np.arange(length), width, base), "Computed: sinusoids")


def _similarity(rows: Array | Values, title: str) -> Heatmap:
    places = spaced(len(rows), ROWS)
    names = _numbered(places)
    axes = Axis("Place", names), Axis("Other place", names)
    return heatmap(similarity(rows[places]), axes, _COSINE, title=title)


def learned_table(traced: Trace, length: int, first: int = 0) -> Heatmap:
    """The learned vectors of the first positions, the dimensions from ``first`` on."""
    rows = position_rows(traced.model, length)
    shown = stretch(first, rows.shape[1])
    title = f"Learned positions, dimensions {shown.start + 1} to {shown.stop} of {rows.shape[1]}"
    return _table(rows[:, shown], dimension_names(traced, shown), title)


def sinusoid_table(length: int, width: int, base: float = BASE) -> Heatmap:
    """The sinusoids of the first positions; of a wide table, only pairs of dimensions at equal distances."""
    pairs = spaced(width // 2, DIMENSIONS // 2)
    kept = np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel()
    part = "" if len(kept) == width else f", {len(pairs)} pairs at even steps"
    table = sinusoids(np.arange(length), width, base)[:, kept]
    return _table(table, _numbered(kept + 1), f"Sinusoids, d = {width}{part}")


def _table(rows: Array | Values, dimensions: list[str], title: str) -> Heatmap:
    places = spaced(len(rows), ROWS)
    axes = Axis("Position", _numbered(places)), Axis("Dimension", dimensions)
    return heatmap(rows[places], axes, Scale("Value", signed=True), title=title)


def _numbered(places: NDArray[np.int64]) -> list[str]:
    return [str(place) for place in places.tolist()]


def said(trace: Trace, length: int, width: int, base: float) -> str:
    """Compare the mean cosine of neighbouring places with the highest mean at any other distance."""
    _, computed, _ = sinusoids_by_distance(length, width, base)
    told = _neighbours(COMPUTED, computed)
    if trace.model.weights.embeddings.position is None:
        return told
    return f"{_neighbours(LEARNED, learned_by_distance(trace, length)[1])} {told}"


def _neighbours(told: str, cosines: Values) -> str:
    return told.format(near=signed(float(cosines[1])), far=signed(float(cosines[2:].max(initial=-1.0))))
