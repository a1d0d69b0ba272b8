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
from lab.charts.base.axes import Axis, AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.lines import lines, settled
from lab.course.words import quoted, signed
from lab.figures.embeddings import DIMENSIONS, dimension_names, stretch
from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.view import EmbeddingView, choose_dimensions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Question
from lab.questions.returning import Spot
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import PE_BASE, PE_LENGTH, PE_WIDTH
from lab.ui.terms import say

IDEA = """
So each place needs its own vector. Where do these vectors come from? Either a model **learns** them, as BERT and
GPT-2 did, or they are **computed**, as in the first transformer: the numbers go up and down like waves, fast in the
first dimensions and slowly in the last (**sinusoids**, Vaswani et al. 2017)."""
ROWS = 64
_COSINE = Scale("Cosine", (-1.0, 1.0), signed=True)
# A cosine that rises by so much again after its fall is a stripe that a reader sees in the map.
_STRIPE = 0.3
_FEW = 4  # with fewer places, none can be called an exception


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


def similarity_by_distance(traced: Trace, length: int, width: int, base: float = BASE) -> Figure:
    """Draw the mean cosine of the vectors of two places by their distance: learned vectors, if any, and sinusoids."""
    drawn = {}
    if traced.model.weights.embeddings.position is not None:
        drawn = {"learned": learned_by_distance(traced, length)[1]}
    _, computed, _ = sinusoids_by_distance(length, width, base)
    places = AxisPlaces("How far apart two places are", range(len(computed)))
    title = "How similar the vectors of two places are"
    return settled(lines({**drawn, "computed": computed}, places, Scale("Cosine, mean"), title=title))


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
    """Say whether near places have similar vectors, among learned vectors (if there are any) and among sinusoids."""
    _, computed, _ = sinusoids_by_distance(length, width, base)
    if trace.model.weights.embeddings.position is None:
        return _by_distance("computed vectors", computed)
    _, learned, _ = learned_by_distance(trace, length)
    return f"{_by_distance('learned vectors', learned)} {_by_distance('computed vectors', computed)}"


def _by_distance(name: str, cosines: Values) -> str:
    """Compare the mean cosine of neighbouring places with the highest mean at any other distance."""
    near, rest = float(cosines[1]), cosines[2:]
    if not len(rest):
        return f"For {name}, the cosine of neighbours is {signed(near)} on average."
    farther = f"at every larger distance, the mean is at most {signed(float(rest.max()))}"
    if near - rest.max() > MARGIN:
        return f"For {name}, neighbours are the most similar: their mean cosine is {signed(near)}, and {farther}."
    return (
        f"For {name}, neighbours are hardly more similar than other places: their mean cosine is {signed(near)}, and "
        f"{farther}."
    )


def stands_apart(trace: Trace, length: int) -> str:
    """Say if the learned vector of the first place is far from all others, its neighbour included; otherwise ""."""
    if trace.model.weights.embeddings.position is None:
        return ""
    cosines = similarity(position_rows(trace.model, length))
    if len(cosines) < _FEW:
        return ""
    most, usual = float(cosines[0, 1:].max()), float(np.diagonal(cosines, offset=1)[1:].mean())
    if usual - most < _STRIPE:
        return ""
    first = f": there is always {quoted(trace.labels[0])}" if trace.encoding.special[0] else ""
    return f" Place 0 is an exception{first}. Its learned vector has a cosine of at most {signed(most)} with any other."


def stripes(trace: Trace, length: int) -> str:
    """Explain the first stripes of the learned map: the cosine falls with the distance, and rises again; or "".

    Distances of more than three quarters of the map are left out: there, too few pairs of places are averaged.
    """
    if trace.model.weights.embeddings.position is None:
        return ""
    mean = learned_by_distance(trace, length)[1][: 3 * length // 4 + 1]
    low, risen = 0, None
    for far, cosine in enumerate(mean):
        if cosine < mean[low]:
            low = far
        elif cosine - mean[low] >= _STRIPE:
            risen = far
            break
    if risen is None:
        return ""
    high = risen
    while high + 1 < len(mean) and mean[high + 1] > mean[high]:
        high += 1
    return (
        f"The stripes show that the learned vectors repeat, as waves do. The cosine of places that are {low} "
        f"apart is {signed(float(mean[low]))} on average. Places that are {high} apart are farther from each other, "
        f"but more similar again: {signed(float(mean[high]))}."
    )


def apart(rows: Array | Values) -> tuple[int, int, float]:
    """The two places whose vectors are nearest to each other, and the distance of the vectors."""
    values = np.asarray(rows, dtype=np.float64)
    squares = (values**2).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * values @ values.T, 0))
    np.fill_diagonal(distances, np.inf)
    one, other = divmod(int(distances.argmin()), len(values))
    return one, other, float(np.linalg.norm(values[one] - values[other]))


def shift_error(length: int, width: int, base: float, step: int = 1) -> float:
    """The largest error when each pair of dimensions is turned by step · ω to get the sinusoids ``step`` places on."""
    rows, later = (sinusoids(np.arange(start, start + length), width, base) for start in (0, step))
    angle = step * frequencies(width, base)
    sine, cosine = rows[:, 0::2], rows[:, 1::2]
    turned = np.stack(
        [sine * np.cos(angle) + cosine * np.sin(angle), cosine * np.cos(angle) - sine * np.sin(angle)], axis=-1
    )
    return float(np.abs(turned.reshape(later.shape) - later).max())


@asks(
    basis=derivable(LESSON, "learned-or-computed", "the two ways to get the vector of a place"),
    hint="Where does the vector of a place come from in this model?",
    returns=5,
)
def no_row_left(spot: Spot) -> Question | None:
    """Ask what a model can do with a place for which it has learned no vector. None if it adds no positions."""
    model = spot.trace.model
    most = model.config.max_tokens
    if model.weights.embeddings.position is None:
        return None
    why = f"A learned table has an end. {quoted(model.id)} has rows for {most} places, and no vectors for later places."
    outcomes = {
        "It cannot read it: there is no vector for this place": True,
        "It computes the missing vector from the other vectors": False,
        "It reads it without a place": False,
    }
    prompt = f"A text has {most + 1} tokens. What does {quoted(model.id)} do with the last one?"
    return which_holds("no-row-left", prompt, why, outcomes, mixed=True)


def show(view: EmbeddingView) -> None:
    """Show how similar the vectors of two places are; behind clicks, the vectors and the formula of sinusoids."""
    idea(IDEA)
    with sidebar.controls():
        length = PE_LENGTH.choose("Places", 8)
        width = PE_WIDTH.choose("Dimensions d of the sinusoids", 4)
        base = float(PE_BASE.choose("Base of the sinusoids"))
    width -= width % 2
    _show_own(view)
    right = _show_learned_beside(view, partial(learned_similarity, view.trace.model, length), "learned-similarity")
    with right:
        draw(partial(computed_similarity, length, width, base), "computed-similarity")
    st.caption(
        "Each cell is the cosine of the vectors of two places. On the diagonal, a place is compared with itself, "
        f"so the cosine is 1. Places count from 0: token 1 is at place 0.{stands_apart(view.trace, length)}"
    )
    _show_cut_rows(view, length)
    meaning(said(view.trace, length, width, base))
    say(stripes(view.trace, length))
    if length < PE_LENGTH.most:
        why = "many more places. Are neighbours still more similar than places that are far apart?"
        try_this(why, f"Take {PE_LENGTH.most} places", {PE_LENGTH: PE_LENGTH.most})
    _show_folds(view, length, width, base)
    code(sinusoids, frequencies)


def _show_folds(view: EmbeddingView, length: int, width: int, base: float) -> None:
    """Offer the mean cosine by distance, the vectors themselves, and the formula."""
    with st.expander("By distance", icon=":material/timeline:", on_change="rerun", key="_distance") as distance:
        if distance.open:
            draw(partial(similarity_by_distance, view.trace, length, width, base), "similarity-by-distance")
    with st.expander(
        "The vectors of the places", icon=":material/grid_on:", on_change="rerun", key="_places"
    ) as places:
        if places.open:
            _show_vectors(view, length, width, base)
    with st.expander("The formula of the waves", icon=":material/function:", on_change="rerun", key="_waves") as waves:
        if waves.open:
            _show_formula(length, width, base)


def _show_own(view: EmbeddingView) -> None:
    """Say what the model on screen does."""
    if not view.learned:
        say(f"{view.model} adds no position vector. (The step **Rotary** shows what it does instead.)")
        return
    first = view.trace.model.config.position_offset
    if first:
        say(f"In the table of {view.model}, position 0 is row {first}. The rows before this row are for padding.")


def _show_vectors(view: EmbeddingView, length: int, width: int, base: float) -> None:
    """Show the learned vectors beside the computed vectors, with a row for each place."""
    say("Each row is a place, and each column is a dimension. Positions count from 0 here: token 1 is at position 0.")
    first = choose_dimensions(view.width) if view.learned else 0
    with _show_learned_beside(view, partial(learned_table, view.trace, length, first), "learned-positions"):
        draw(partial(sinusoid_table, length, width, base), "sinusoids")
    kinds: dict[str, Array | Values] = {"learned": position_rows(view.trace.model, length)} if view.learned else {}
    kinds["computed"] = sinusoids(np.arange(length), width, base)
    for name, rows in kinds.items():
        one, other, distance = apart(rows)
        unique = f"{'Each' if distance > 0 else 'Not every'} place has its own vector"
        nearest = f"the two nearest vectors, of places {one} and {other}, are {distance:.3g} apart"
        say(f"**{name.capitalize()}.** {unique}: {nearest}.")
    if view.learned:
        most = view.trace.model.config.max_tokens
        say(
            f"**Longer texts.** The table of {view.model} ends after {most} places, so it cannot read longer texts. "
            "Sinusoids can be computed for every place, but a model has never met places beyond its training texts."
        )


def _show_formula(length: int, width: int, base: float) -> None:
    """Show the formula of sinusoids with their wavelengths, and what its authors hoped from it."""
    st.latex(
        r"\begin{aligned} PE_{(pos,\,2i)} & = \sin(pos \cdot \omega_i) \\ PE_{(pos,\,2i+1)} & = \cos(pos \cdot "
        r"\omega_i) \\ \omega_i & = \text{base}^{-2i/d} \end{aligned}"
    )
    st.caption(
        "PE is the vector of position pos, 2i and 2i + 1 are two of its d dimensions, and ω says how fast their wave "
        "goes. The base, 10,000 in the paper, decides how slow the slowest wave is."
    )
    waves = wavelengths(width, base)
    say(
        f"With {width} dimensions and base {base:,.0f}, the first wave repeats after {waves[0]:.2f} places, and the "
        f"last wave after {waves[-1]:,.2f}."
    )
    say(
        "**One place further.** Turn every pair of dimensions by the angle ω, and you have the vector of the next "
        "place: the same linear map from any place (here the largest error is "
        f"{shift_error(length, width, base):.0e}, which is rounding). The authors hoped that a model could use this "
        "to see distances. In their tests, learned vectors worked just as well (Vaswani et al. 2017, §3.5)."
    )


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
