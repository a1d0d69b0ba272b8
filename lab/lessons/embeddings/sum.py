"""Word + segment + place: the vectors that are added for a token, on a pair if the model reads pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers.embeddings import SegmentChange, WorkedDimension, with_segments, worked_dimension
from lab.analysis.words.predictions import candidates, prediction_at
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import listed, quoted, signed
from lab.figures import embedding_figures
from lab.figures.embedding_figures import stretch
from lab.figures.sentence_arcs import sentence
from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.view import EmbeddingView, choose_dimensions
from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.encoding import BLANK
from lab.models.interventions import Interventions
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui import runs, selection, sidebar
from lab.ui.drawing import code, draw, draw_cells
from lab.ui.parameters import DIMENSION, SEGMENTS
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import meaning, say
from lab.ui.sentence import show_row, show_sentence
from lab.ui.texts import COURSE, whose

IDEA = """
The row says which word a token is, but not where it is. So BERT looks up a vector for the token’s place (its
**position**), too, and one for its segment. The first layer reads only one vector, and BERT’s is their sum."""
LISTED = """
BERT can read two texts at once, such as a question and an answer. The **segment** vector says to which of the two a
token belongs: {listed}."""
ONE_SPACE = "The {count} vectors share **one space**: each number is added to the numbers of the same dimension. "
CLICK = "**Dimension {dimension}** of {word}. Click another column to work it out."
ADDS_NOTHING = """
{model} adds nothing: a token has only the vector of its word. Each layer brings in the place later, as the step
**Rotary** shows."""
LENGTHS = "These are the lengths of the vectors of {word}: {lengths}."
NO_NORM = """
{model} has no LayerNorm here. The sum itself enters layer 1, and each layer normalizes its own input (Radford et al.
2019, §2.3)."""
NORM = """
**LayerNorm** (lesson 8) brings the numbers of every token to the same scale: less their mean, divided by their standard
deviation, times a learned number γ of the dimension, plus a learned β. The model has {value:.4f} at this place."""
# The source of each vector of a sum, as worded inside a sentence.
_SOURCES = {"token": "the word", "position": "the place", "segment": "the segment"}


def show(view: EmbeddingView) -> Trace:
    """Show the vectors that are added for one token, with one dimension worked out. Returns the run on screen."""
    say(IDEA)
    view = _show_a_pair(view)
    pair = view.trace.model.config.segments > 1 and bool(view.trace.pair)
    if pair:
        say(LISTED.format(listed=segments_listed(view.trace.segment_ids)))
    elif not view.of_toy and (why := without_segments(view.trace.model.config)) is not None:
        say(f"{view.model} {why}")
    first = choose_dimensions(view.width)
    dimension = _chosen_dimension(view, stretch(first, view.width))
    call = partial(embedding_figures.summands, view.trace, view.token, first, dimension)
    clicked = draw_cells(call, "summands")
    if clicked is not None and clicked != st.session_state.get("_clicked_dimension"):
        st.session_state["_clicked_dimension"] = clicked
        DIMENSION.set(first + clicked[1] + 1)
        st.rerun()
    worked = worked_dimension(view.trace, view.token, dimension)
    _show_sum(view, worked, dimension)
    meaning(said(worked, dimension))
    ask_beside(LESSON, what_changes())
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
    """The learner's token, or on the course's sentence a token of its pair, because only a pair shows segments."""
    trace = view.trace
    if view.of_toy or trace.model.config.segments < 2 or whose() != COURSE:
        show_sentence(trace, view.token)
        return view
    pair = runs.run(trace.model.id, *PAIR, Interventions())
    name = f"_sum_token.{trace.model.id}"
    token = st.session_state.setdefault(name, pair.segment_ids.index(1))

    def take(query: int, _: int) -> None:
        st.session_state[name] = query

    show_row(sentence(pair, token), take)
    return replace(view, trace=pair, token=token, key=token)


def _show_sum(view: EmbeddingView, worked: WorkedDimension, dimension: int) -> None:
    count = {2: "two", 3: "three"}.get(len(worked.summands))
    say((ONE_SPACE.format(count=count) if count else "") + CLICK.format(dimension=dimension + 1, word=view.word))
    if count is None:
        say(ADDS_NOTHING.format(model=view.model))
    terms = " + ".join(
        rf"\underbrace{{{bracketed(value)}}}_{{\text{{{name}}}}}" for name, value in worked.summands.items()
    )
    st.latex(rf"\begin{{aligned}} & {terms} \\ & = {worked.total:.4f} \end{{aligned}}")


def _show_norm(view: EmbeddingView, worked: WorkedDimension, first: int, dimension: int) -> None:
    """Give the lengths of the vectors; show LayerNorm of the sum, or say why there is none."""
    lengths = [f"{name} {np.linalg.norm(view.parts[name][view.token]):.2f}" for name in (*worked.summands, "sum")]
    say(LENGTHS.format(word=view.word, lengths=", ".join(lengths)))
    norm, own = worked.norm, view.trace.model.weights.embeddings.norm
    if norm is None or own is None:
        say(NO_NORM.format(model=view.model))
        return
    say(NORM.format(value=float(view.parts["LayerNorm"][view.token, dimension])))
    draw(partial(embedding_figures.layer_norm, view.trace, view.token, first, dimension), "layer-norm")
    st.latex(rf"\frac{{{worked.total:.4f} - {bracketed(norm.mean)}}}{{{norm.deviation:.4f}}} = {norm.normalized:.4f}")
    st.latex(rf"{norm.gamma:.4f} \cdot {bracketed(norm.normalized)} + {bracketed(norm.beta)} = {norm.output:.4f}")


@asks(
    basis=derivable(LESSON, "sum", "the vectors that are added"),
    hint="Which vectors are added for a token? On what does each of them depend?",
)
def what_changes() -> Question:
    """Ask what can change the vector with which a word enters layer 1: its place and segment, never the other words."""
    return Question(
        "what-changes",
        "Layer 1 of BERT reads a vector for *France*. What can change this vector?",
        (
            Option(
                "Other words around it",
                "The table has one row for a word, whatever is beside it. The layers bring in the other words.",
            ),
            Option(
                "Another place in the text",
                "The vector of the place is added, so *France* as token 2 enters with other numbers than as token 5.",
                correct=True,
            ),
            Option(
                "Another meaning: the country, or Anatole France",
                "One would wish so. But one row serves all meanings, and it is the layers that can tell them apart.",
            ),
        ),
        mixed=True,
    )


def said(worked: WorkedDimension, dimension: int) -> str:
    """Say which vector gives the largest part of one dimension (from 0) of the sum."""
    if len(worked.summands) == 1:
        return f"In dimension {dimension + 1}, the word alone gives {signed(worked.total)}."
    most, *rest = sorted(worked.summands, key=lambda name: -abs(worked.summands[name]))
    told = [f"{_SOURCES[name]} gives {signed(worked.summands[name], 3)}" for name in rest]
    return (
        f"In dimension {dimension + 1}, {_SOURCES[most]} contributes most: {signed(worked.summands[most], 3)}; "
        f"{listed(told)}."
    )


def bracketed(value: float) -> str:
    """Write a number as a term of a product or sum; a negative number gets parentheses."""
    return f"{value:.4f}" if value >= 0 else f"({value:.4f})"


def _chosen_dimension(view: EmbeddingView, shown: slice) -> int:
    """The dimension to work out, from 0: the one that was clicked, otherwise the one with the largest sum on screen."""
    asked = selection.fit_place(DIMENSION, view.parts["sum"].shape[1], "The vector") - 1
    if shown.start <= asked < shown.stop:
        return asked
    return shown.start + int(np.abs(view.parts["sum"][view.token, shown]).argmax())


# The course's pair: a text and a second text, whose blank needs a word from the first.
PAIR = ("She has lived in France for years.", "Her city is [MASK].")
# Why a model has no segment vectors, behind its name: it writes on, or its training did not ask about two texts.
WRITES_ON = (
    "has no segment vectors: it learned only to continue a text, token by token, and this task never asks to which "
    "of two texts a token belongs."
)
NOT_ASKED = (
    "has no segment vectors. BERT was given them because it also learned to tell whether one text follows another; "
    "[SEP] separates the two texts, too."
)
READING = "With the segments, the best word is {best} ({before:.2f}). With {change}, it is {other} ({after:.2f})."
NO_BLANK = "Write a blank (_) into one of the two texts, to see what the segments change there."
_CHANGES: dict[SegmentChange, str] = {
    "all 0": "all segments 0",
    "swapped": "the segments swapped",
    "left out": "no segment vectors",
}
_NAMES, _WORDS = "AB", 5


def without_segments(config: ModelConfig) -> str | None:
    """Say why a model has no segment vectors, for a sentence that begins with its name; None if it has them."""
    if config.segments > 1:
        return None
    return WRITES_ON if config.causal else NOT_ASKED


def segments_listed(ids: Sequence[int]) -> str:
    """The tokens of each segment, counted from 1."""
    told = []
    for segment in sorted(set(ids)):
        places = [place for place, each in enumerate(ids, start=1) if each == segment]
        told.append(f"{_NAMES[segment % 2]} (id {segment}) is tokens {places[0]} to {places[-1]}")
    return ", ".join(told)


@once
def with_other(traced: Trace, change: SegmentChange) -> Trace:
    """Run the same tokens with other segment ids, or without segment vectors."""
    changes = replace(traced.interventions, no_segments=change == "left out")
    return trace_encoding(traced.model, with_segments(traced.encoding, change), changes)


def words_in_blank(traced: Trace, place: int, change: SegmentChange) -> Figure:
    """Draw the most probable words in the blank at ``place``, with other segments."""
    found = candidates(prediction_at(with_other(traced, change), place, None), _WORDS, traced.model.tokenizer)
    title, scale = f"With {_CHANGES[change]}", Scale("Probability", (0.0, 1.0), ".2f")
    return bars([each.word for each in found], [each.probability for each in found], scale, title=title)


def segments_said(traced: Trace, place: int, change: SegmentChange) -> str:
    """Say which word is best with the segments as they are, and with other segments."""
    (best,), (other,) = (
        candidates(prediction_at(run, place, None), 1, traced.model.tokenizer)
        for run in (traced, with_other(traced, change))
    )
    return READING.format(
        best=quoted(best.word),
        before=best.probability,
        change=_CHANGES[change],
        other=quoted(other.word),
        after=other.probability,
    )


def show_segments(view: EmbeddingView) -> None:
    """Run a pair with other segments, and show the words in its blank."""
    blanks = [place for place, label in enumerate(view.trace.labels) if label == BLANK]
    if len(blanks) != 1 or view.trace.model.no_words:
        say(NO_BLANK)
        return
    with sidebar.controls():
        change = SEGMENTS.choose("Run the pair again with the segments", SEGMENTS.options)
    draw(partial(words_in_blank, view.trace, blanks[0], change), "words-in-blank")
    say(segments_said(view.trace, blanks[0], change))
    st.caption(f"GPT-2 {WRITES_ON}")
    code(with_segments)
