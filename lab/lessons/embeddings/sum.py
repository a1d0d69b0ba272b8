"""Word + segment + place: the vectors that are added for a token, on a pair if the model reads pairs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers.embeddings import WorkedDimension, worked_dimension
from lab.course.words import listed, signed, told_apart
from lab.figures import embeddings
from lab.figures.embeddings import stretch
from lab.figures.sentence import sentence
from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.segments import EXAMPLE, segments_listed, show_segments, without_segments
from lab.lessons.embeddings.view import EmbeddingView, choose_dimensions
from lab.models import forward
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import which_holds
from lab.questions.question import Question
from lab.questions.returning import Spot
from lab.ui import runs, selection
from lab.ui.drawing import code, draw, draw_cells
from lab.ui.frame.closing import meaning
from lab.ui.frame.header import idea
from lab.ui.parameters import DIMENSION
from lab.ui.quiz.predictions import ask_beside
from lab.ui.sentence import show_row, show_sentence
from lab.ui.shared.borrowed import borrows
from lab.ui.terms import say

IDEA = """
The row says which word a token is, but not where it is. So BERT looks up a vector for the token’s place (its
**position**), too, and one for its segment. The first layer reads only one vector, so they are added."""
# The source of each vector of a sum, as worded inside a sentence.
_SOURCES = {"token": "the word", "position": "the place", "segment": "the segment"}


def said(worked: WorkedDimension, dimension: int) -> str:
    """Say which vector gives the largest part of one dimension (from 0) of the sum."""
    if len(worked.summands) == 1:
        return f"In dimension {dimension + 1}, the word alone gives {signed(worked.total)}."
    most, *rest = sorted(worked.summands, key=lambda name: -abs(worked.summands[name]))
    told = [f"{_SOURCES[name]} gives {_three(worked.summands[name])}" for name in rest]
    return (
        f"In dimension {dimension + 1}, {_SOURCES[most]} contributes most: {_three(worked.summands[most])}; "
        f"{listed(told)}."
    )


def _three(value: float) -> str:
    """Write a number with three decimals and a true minus sign."""
    return f"{value:.3f}".replace("-", "−")


@asks(
    "token",
    basis=derivable(LESSON, "sum", "the vectors that are added"),
    hint="Which vectors are added for a token? On what does each of them depend?",
    returns=2,
)
def what_changes(spot: Spot) -> Question:
    """Ask what changes the vector that enters layer 1: what the model adds, never the other words."""
    config, trace = spot.trace.model.config, spot.trace
    added, segments = trace.model.weights.embeddings.position is not None, config.segments > 1
    whose = told_apart(trace, spot.query)
    also = "the place" + (" and the segment" if segments else "")
    why = (
        f"The vector is made of the row of {whose} and "
        + (f"the vectors of {also}" if segments else f"the vector of {also}")
        if added
        else f"The vector is the row of {whose}, and nothing is added"
    ) + ". The layers bring in the other words later."
    outcomes = {
        "Another place in the text" + (", or the other segment" if segments else ""): added,
        "Other words around it": False,
        "Another meaning in its sentence": False,
        "Nothing: it is the same in every text": not added,
    }
    prompt = f"What can change the vector of {whose} that enters layer 1?"
    return which_holds("what-changes", prompt, why, outcomes, mixed=True)


def bracketed(value: float) -> str:
    """Write a number as a term of a product or sum; a negative number gets parentheses."""
    return f"{value:.4f}" if value >= 0 else f"({value:.4f})"


def show(view: EmbeddingView) -> Trace:
    """Show the vectors that are added for one token, with one dimension worked out. Returns the run on screen."""
    idea(IDEA)
    view = _show_a_pair(view)
    pair = view.trace.model.config.segments > 1 and bool(view.trace.pair)
    if pair:
        _show_segments_of(view)
    elif not view.of_toy and (why := without_segments(view.trace.model.config)) is not None:
        say(f"{view.model} {why}")
    first = choose_dimensions(view.width)
    dimension = _chosen_dimension(view, stretch(first, view.width))
    call = partial(embeddings.summands, view.trace, view.token, first, dimension)
    clicked = draw_cells(call, "summands")
    if clicked is not None and clicked != st.session_state.get("_clicked_dimension"):
        st.session_state["_clicked_dimension"] = clicked
        DIMENSION.set(first + clicked[1] + 1)
        st.rerun()
    worked = worked_dimension(view.trace, view.token, dimension)
    _show_sum(view, worked, dimension)
    meaning(said(worked, dimension))
    ask_beside(LESSON, what_changes(view.spot))
    with st.expander("Then comes LayerNorm", on_change="rerun", key="_layer_norm") as norm:
        if norm.open:
            _show_norm(view, worked, first, dimension)
    if pair:
        with st.expander("What do the segments change?", on_change="rerun", key="_segments") as segments:
            if segments.open:
                show_segments(view)
    code(forward.embed, forward.layer_norm)
    return view.trace


def _show_a_pair(view: EmbeddingView) -> EmbeddingView:
    """The learner's token, or a token of the lab's own pair if the learner's text is no pair that shows segments.

    Only this step uses the lab's pair: it is in no link, and the learner's text stays as it is.
    """
    trace = view.trace
    needed = not trace.pair and trace.model.config.segments > 1 and not view.of_toy
    if not needed or not borrows("segments", "only a pair of texts shows segments."):
        show_sentence(trace, view.token)
        return view
    example = runs.run(trace.model.id, EXAMPLE.text, EXAMPLE.pair, Interventions())
    name = f"_sum_token.{trace.model.id}"
    token = st.session_state.setdefault(name, example.segment_ids.index(1))

    def take(query: int, _: int) -> None:
        st.session_state[name] = query

    show_row(sentence(example, token), take)
    return replace(view, trace=example, token=token, key=token)


def _show_segments_of(view: EmbeddingView) -> None:
    """Say why BERT reads two texts, and which token of this input is in which of them."""
    say(
        "BERT can read two texts at once, such as a question and an answer. The **segment** vector says to which of "
        f"the two a token belongs: {segments_listed(view.trace.segment_ids)}."
    )


def _chosen_dimension(view: EmbeddingView, shown: slice) -> int:
    """The dimension to work out, from 0: the one that was clicked, otherwise the one with the largest sum on screen."""
    asked = selection.fit_place(DIMENSION, view.parts["sum"].shape[1], "The vector") - 1
    if shown.start <= asked < shown.stop:
        return asked
    return shown.start + int(np.abs(view.parts["sum"][view.token, shown]).argmax())


def one_space(worked: WorkedDimension) -> str:
    """Say that the vectors that are added have the same dimensions; "" if nothing is added."""
    if len(worked.summands) == 1:
        return ""
    count = {2: "two", 3: "three"}[len(worked.summands)]
    return f"The {count} vectors share **one space**: each number is added to the numbers of the same dimension."


def _show_sum(view: EmbeddingView, worked: WorkedDimension, dimension: int) -> None:
    asked = f"**Dimension {dimension + 1}** of {view.word}. Click another column to work it out."
    say(f"{one_space(worked)} {asked}".strip())
    if len(worked.summands) == 1:
        say(
            f"{view.model} adds nothing: a token has only the vector of its word. Each layer brings in the place "
            "later, as the step **Rotary** shows."
        )
    terms = " + ".join(
        rf"\underbrace{{{bracketed(value)}}}_{{\text{{{name}}}}}" for name, value in worked.summands.items()
    )
    st.latex(rf"\begin{{aligned}} & {terms} \\ & = {worked.total:.4f} \end{{aligned}}")


def _show_norm(view: EmbeddingView, worked: WorkedDimension, first: int, dimension: int) -> None:
    """Give the lengths of the vectors; show LayerNorm of the sum, or say why there is none."""
    lengths = [f"{name} {np.linalg.norm(view.parts[name][view.token]):.2f}" for name in (*worked.summands, "sum")]
    say(f"These are the lengths of the vectors of {view.word}: {', '.join(lengths)}.")
    norm, own = worked.norm, view.trace.model.weights.embeddings.norm
    if norm is None or own is None:
        say(
            f"{view.model} has no LayerNorm here. The sum itself enters layer 1, and each layer normalizes its own "
            "input (Radford et al. 2019, §2.3)."
        )
        return
    say(
        "**LayerNorm** brings the numbers of every token to the same scale. It subtracts their mean and divides by "
        "their standard deviation. Then it multiplies each dimension by a learned number γ"
        + (
            " and adds a learned β."
            if view.trace.model.config.biases
            else f". {view.model} adds no β, so here it is 0."
        )
    )
    draw(partial(embeddings.layer_norm, view.trace, view.token, first, dimension), "layer-norm")
    st.latex(rf"\frac{{{worked.total:.4f} - {bracketed(norm.mean)}}}{{{norm.deviation:.4f}}} = {norm.normalized:.4f}")
    st.latex(rf"{norm.gamma:.4f} \cdot {bracketed(norm.normalized)} + {bracketed(norm.beta)} = {norm.output:.4f}")
    shown_value = float(view.parts["LayerNorm"][view.token, dimension])
    say(
        f"These are the mean and the deviation of all {view.width} numbers of this token. The model has "
        f"{shown_value:.4f} at this place."
    )
