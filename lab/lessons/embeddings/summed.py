"""The step of the embeddings lesson in which word, place and segment are added: on a pair, if the model reads pairs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers.embeddings import WorkedDimension, worked_dimension
from lab.figures import embeddings
from lab.figures.embeddings import stretch
from lab.figures.sentence import sentence
from lab.lessons.embeddings import LESSON, checks, meanings
from lab.lessons.embeddings.screens import EmbeddingView, choose_dimensions, signed
from lab.lessons.embeddings.segments import EXAMPLE, segments_listed, show_segments
from lab.models import forward
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.ui import runs, selection
from lab.ui.drawing import code, draw, draw_cells
from lab.ui.frame.closing import meaning
from lab.ui.parameters import DIMENSION, MODE, TOY
from lab.ui.quiz.predictions import predict
from lab.ui.sentence import show_row, show_sentence
from lab.ui.shared.borrowed import borrows
from lab.ui.terms import say


def show_sum(view: EmbeddingView) -> Trace:
    """Show the vectors that are added for one token, with one dimension worked out. Returns the run on screen."""
    view = _with_a_pair(view)
    pair = view.trace.model.config.segments > 1 and bool(view.trace.pair)
    if pair:
        _say_what_segments_are_for(view)
    if not predict(LESSON, checks.same_word(view.trace, view.parts)):
        return view.trace
    first = choose_dimensions(view.width)
    dimension = _chosen_dimension(view, stretch(first, view.width))
    call = partial(embeddings.summands, view.trace, view.token, first, dimension)
    clicked = draw_cells(call, "summands")
    if clicked is not None and clicked != st.session_state.get("_clicked_dimension"):
        st.session_state["_clicked_dimension"] = clicked
        DIMENSION.set(first + clicked[1] + 1)
        st.rerun()
    worked = worked_dimension(view.trace, view.token, dimension)
    _write_sum(view, worked, dimension)
    meaning(meanings.summed(worked, dimension))
    with st.expander("Then comes LayerNorm", on_change="rerun", key="_layer_norm") as norm:
        if norm.open:
            _show_norm(view, worked, first, dimension)
    if pair:
        with st.expander("What do the segments change?", on_change="rerun", key="_segments") as segments:
            if segments.open:
                show_segments(view)
    code(forward.embed, forward.layer_norm)
    return view.trace


def _with_a_pair(view: EmbeddingView) -> EmbeddingView:
    """The learner's token, or a token of the lab's own pair if the learner's text is no pair that shows segments.

    Only this step uses the lab's pair: it is in no link, and the learner's text stays as it is.
    """
    trace = view.trace
    needed = not trace.pair and trace.model.config.segments > 1 and view.page.selection[MODE] != TOY
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


def _say_what_segments_are_for(view: EmbeddingView) -> None:
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


def _write_sum(view: EmbeddingView, worked: WorkedDimension, dimension: int) -> None:
    say(f"**Dimension {dimension + 1}** of {view.word}. Click another column to work it out.")
    if len(worked.summands) == 1:
        say(
            f"{view.model} adds nothing: a token has only the vector of its word. Each layer adds the place later; see "
            "**Rotary**."
        )
    terms = " + ".join(
        rf"\underbrace{{{signed(value)}}}_{{\text{{{name}}}}}" for name, value in worked.summands.items()
    )
    st.latex(rf"\begin{{aligned}} & {terms} \\ & = {worked.total:.4f} \end{{aligned}}")


def _show_norm(view: EmbeddingView, worked: WorkedDimension, first: int, dimension: int) -> None:
    """Give the lengths of the vectors; show LayerNorm of the sum, or say why there is none."""
    lengths = [f"{name} {np.linalg.norm(view.parts[name][view.token]):.2f}" for name in (*worked.summands, "sum")]
    say(f"The lengths of the vectors of {view.word}: {', '.join(lengths)}.")
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
        + (" and adds a learned β." if view.trace.model.config.biases else f". {view.model} adds no β: here it is 0.")
    )
    draw(partial(embeddings.layer_norm, view.trace, view.token, first, dimension), "layer-norm")
    st.latex(rf"\frac{{{worked.total:.4f} - {signed(norm.mean)}}}{{{norm.deviation:.4f}}} = {norm.normalized:.4f}")
    st.latex(rf"{norm.gamma:.4f} \cdot {signed(norm.normalized)} + {signed(norm.beta)} = {norm.output:.4f}")
    shown_value = float(view.parts["LayerNorm"][view.token, dimension])
    say(
        f"This is the mean and the deviation of all {view.width} numbers of this token. The model has "
        f"{shown_value:.4f} at this place."
    )
