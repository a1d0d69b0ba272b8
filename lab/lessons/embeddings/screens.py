"""The screens of the embeddings lesson about the tokens' own vectors; those about positions are next door."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import streamlit as st

from lab.analysis.heads.attention import window
from lab.analysis.layers.embeddings import SUMMANDS, Array, WorkedDimension, lengths, parts, worked_dimension
from lab.course.words import quoted
from lab.figures import embeddings as figures
from lab.figures.embeddings import DIMENSIONS, TOKENS, stretch
from lab.lessons.embeddings import checks as ask
from lab.lessons.embeddings import meanings, side_meanings
from lab.models import forward
from lab.models.trace import Trace
from lab.ui import selection
from lab.ui.chosen_tokens import with_tokens
from lab.ui.drawing import code, draw, draw_cells
from lab.ui.frame.script import meaning, try_this
from lab.ui.one_head import choose_token
from lab.ui.page import LessonPage
from lab.ui.parameters import DIMENSION, FIRST_DIMENSION, PART
from lab.ui.quiz.predictions import predict

LESSON = "embeddings"


@dataclass(frozen=True)
class EmbeddingView:
    """What the learner looks at: one token of a text, and another to set beside it. Both count from 0."""

    page: LessonPage
    trace: Trace
    token: int
    key: int

    @cached_property
    def parts(self) -> dict[str, Array]:
        """The vectors on their way into layer 1, (n, width) each; what the model lacks is left out."""
        return parts(self.trace)

    @property
    def width(self) -> int:
        """Numbers in each of the vectors that are added."""
        return int(self.parts["sum"].shape[1])

    @property
    def learned(self) -> bool:
        """Whether the model has a table of positions."""
        return "position" in self.parts

    @property
    def model(self) -> str:
        return quoted(self.trace.model.id)

    @property
    def word(self) -> str:
        return quoted(self.trace.labels[self.token])


def choose_dimensions(width: int) -> int:
    """The first of the 64 dimensions that are drawn, from 0; all of a narrow model are."""
    if width <= DIMENSIONS:
        return 0
    last, asked = width - DIMENSIONS + 1, FIRST_DIMENSION.chosen()
    if not 1 <= asked <= last:
        selection.note(f"{DIMENSIONS} of {width} dimensions can start at 1 to {last}, so {asked} became {last}.")
        asked = last
        FIRST_DIMENSION.set(asked)
    FIRST_DIMENSION.type_in(f"Show {DIMENSIONS} of {width} dimensions, from", asked, last, DIMENSIONS)
    return asked - 1


def look(page: LessonPage, trace: Trace) -> EmbeddingView:
    """What is selected, brought inside this text."""
    return EmbeddingView(page, trace, *with_tokens(trace))


def _choose(view: EmbeddingView) -> None:
    choose_token(view.trace, "Token", view.token)


def show_vectors(view: EmbeddingView) -> None:
    """From ids to rows of numbers: every token's vector, part by part."""
    _choose(view)
    trace, table = view.trace, view.trace.model.weights.embeddings.token
    st.markdown(
        f"An id picks a row. The token table has {table.shape[0]:,} rows of {view.width} numbers each. {view.word} has "
        f"the id {trace.token_ids[view.token]}, so it gets that row. Such a row of numbers is a **vector**, here also "
        f"called an **embedding**; each of its numbers is a **dimension**. {_what_is_added(view)}"
    )
    question = ask.same_word(trace, view.parts)
    if question is not None and not predict(LESSON, question):
        return
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        part = PART.choose("Vectors", list(view.parts))
    with right:
        first = choose_dimensions(view.width)
    _draw_rows(view, part, first)
    meaning(meanings.rows(trace, view.token, part))
    if view.learned and part != "sum":
        why = "the sums, with places added. Is a token that comes twice still twice the same?"
        try_this(why, "Show the sums", {PART: "sum"})
    code(forward.embed)


def _what_is_added(view: EmbeddingView) -> str:
    if not view.learned:
        return (
            f"Here, nothing else is added: {view.model} has no vector for a position, nor for a segment. Where a token "
            "stands comes in later, in each layer; see **Rotary**."
        )
    segment = " Its segment picks one of the segment table." if "segment" in view.parts else ""
    norm = " **LayerNorm** then gives all tokens numbers of one size." if "LayerNorm" in view.parts else ""
    return f"The token’s position picks a row of the position table.{segment} These vectors are added up.{norm}"


def _draw_rows(view: EmbeddingView, part: str, first: int) -> None:
    """One strip a token; of a long text those around the chosen one."""
    n = len(view.trace)
    rows = window(view.token, n, TOKENS)
    draw(partial(figures.vectors, view.trace, part, view.token, first), "vectors")
    if n > TOKENS:
        st.caption(f"Drawn are tokens {rows.start + 1} to {rows.stop} of {n}, around the chosen one.")
    names = {"LayerNorm": "norm"}
    st.markdown(
        f"One scale of colours serves all {view.width} dimensions.{_beyond(view, part)} In Python these are the "
        f"{n} × {view.width} numbers of `trace.embeddings.{names.get(part, part)}`."
    )


def _beyond(view: EmbeddingView, part: str) -> str:
    """How many numbers lie beyond the last colour, and how far."""
    values = view.parts[part]
    end, sizes = figures.colours_end(values), np.abs(values)
    count = int((sizes > end).sum())
    if not count:
        return ""
    return (
        f" The strongest colour is for {end:g} and all beyond: {count} of {values.size:,} numbers, the largest "
        f"{sizes.max():.2f}."
    )


def show_sum(view: EmbeddingView) -> None:
    """One token, one dimension under the other: what is added and what comes out."""
    _choose(view)
    first = choose_dimensions(view.width)
    dimension = _chosen_dimension(view, stretch(first, view.width))
    call = partial(figures.summands, view.trace, view.token, first, dimension)
    clicked = draw_cells(call, "summands")
    if clicked is not None and clicked != st.session_state.get("_clicked_dimension"):
        st.session_state["_clicked_dimension"] = clicked
        DIMENSION.set(first + clicked[1] + 1)
        st.rerun()
    worked = worked_dimension(view.trace, view.token, dimension)
    _write_sum(view, worked, dimension)
    _show_norm(view, worked, first, dimension)
    meaning(side_meanings.summed(worked, dimension))
    code(forward.embed, forward.layer_norm)


def _chosen_dimension(view: EmbeddingView, shown: slice) -> int:
    """The dimension worked out, from 0: the one clicked, else the largest sum of those drawn."""
    asked = DIMENSION.chosen() - 1
    if shown.start <= asked < shown.stop:
        return asked
    return shown.start + int(np.abs(view.parts["sum"][view.token, shown]).argmax())


def _write_sum(view: EmbeddingView, worked: WorkedDimension, dimension: int) -> None:
    st.markdown(f"**Dimension {dimension + 1}** of {view.word}. Click a cell to work out another.")
    if len(worked.summands) == 1:
        st.markdown(f"{view.model} has one such vector for a token, that of its word. So there is nothing to add.")
    terms = " + ".join(
        rf"\underbrace{{{signed(value)}}}_{{\text{{{name}}}}}" for name, value in worked.summands.items()
    )
    st.latex(rf"\begin{{aligned}} & {terms} \\ & = {worked.total:.4f} \end{{aligned}}")


def signed(value: float) -> str:
    """A number as a term of a product or sum: a negative one in parentheses."""
    return f"{value:.4f}" if value >= 0 else f"({value:.4f})"


def _show_norm(view: EmbeddingView, worked: WorkedDimension, first: int, dimension: int) -> None:
    """LayerNorm of the sum, or why there is none."""
    norm, own = worked.norm, view.trace.model.weights.embeddings.norm
    if norm is None or own is None:
        st.markdown(
            f"{view.model} has no LayerNorm here: the sum itself enters layer 1, and each layer normalizes what it "
            "reads (Radford et al. 2019, §2.3)."
        )
        return
    st.markdown(
        "**LayerNorm** brings the numbers of each token to one scale. It subtracts their mean and divides by their "
        "standard deviation. Then it multiplies each dimension by a γ"
        + (
            " and adds a β; both are learned and the same for all tokens."
            if view.trace.model.config.biases
            else f"; it is learned and the same for all tokens. {view.model} adds no β: here it is 0."
        )
    )
    draw(partial(figures.layer_norm, view.trace, view.token, first, dimension), "layer-norm")
    st.latex(rf"\frac{{{worked.total:.4f} - {signed(norm.mean)}}}{{{norm.deviation:.4f}}} = {norm.normalized:.4f}")
    st.latex(rf"{norm.gamma:.4f} \cdot {signed(norm.normalized)} + {signed(norm.beta)} = {norm.output:.4f}")
    shown_value = float(view.parts["LayerNorm"][view.token, dimension])
    st.markdown(
        f"The mean and the deviation are those of all {view.width} dimensions of this token. The model itself has "
        f"{shown_value:.4f} there."
    )


def show_lengths(view: EmbeddingView) -> None:
    """How long the vectors are, token by token, and what enters the first layer."""
    _choose(view)
    sizes = lengths(view.parts)
    draw(partial(figures.lengths, view.trace), "lengths")
    own = {name: float(size[view.token]) for name, size in sizes.items()}
    listed = ", ".join(f"{name} {own[name]:.3f}" for name in SUMMANDS if name in own)
    right_angle = math.sqrt(sum(own[name] ** 2 for name in SUMMANDS if name in own))
    st.markdown(
        f"The vectors of {view.word} have these lengths: {listed}. Their sum has the length **{own['sum']:.3f}**. If "
        f"they stood at right angles, it would have √(Σ length²) = {right_angle:.3f}{_angle(own['sum'], right_angle)}"
        if view.learned
        else f"In {view.model} nothing is added to the vector of a word. That of {view.word} has the length "
        f"**{own['sum']:.3f}**."
    )
    if "LayerNorm" in sizes:
        after = sizes["LayerNorm"]
        st.markdown(
            f"Among the tokens of this text, the sums are {sizes['sum'].min():.2f} to {sizes['sum'].max():.2f} long. "
            f"LayerNorm gives all of them the length √{view.width} = {math.sqrt(view.width):.2f}; with γ and β they "
            f"are {after.min():.2f} to {after.max():.2f} long."
        )
    meaning(side_meanings.longer(view.trace, view.token))
    st.markdown(_on_the_way(view))
    code(lengths)


def _angle(length: float, right_angle: float) -> str:
    if abs(length - right_angle) < 0.01 * right_angle:
        return ": they are close to right angles."
    return f": they point partly {'the same way' if length > right_angle else 'against each other'}."


def _on_the_way(view: EmbeddingView) -> str:
    config, n = view.trace.model.config, len(view.trace)
    gone = "Ids, positions and segments are gone." if view.learned else "The ids are gone."
    project = ""
    if view.trace.model.weights.embeddings.project is not None:
        project = f" A matrix of {view.width} × {config.width} first widens each row to {config.width} numbers."
    rest = (
        "The model has one **layer**. It reads this matrix and hands on one of the same shape."
        if config.layers == 1
        else f"The model is a stack of {config.layers} **layers**. Each reads such a matrix and hands on one of the "
        "same shape."
    )
    return f"**On the way to layer 1.** {gone} From here on the text is {n} × {config.width} numbers.{project} {rest}"
