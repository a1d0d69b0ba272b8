"""Layer by layer: the vocabulary head reads the blank's vector after every layer, not only after the last."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers.lens import likeliest_after
from lab.analysis.words.predictions import word_of
from lab.course.words import escaped, quoted
from lab.figures.choices import FITTED
from lab.lessons.masked_language_model import word_figures
from lab.lessons.masked_language_model.view import tells_story
from lab.models.config import CheckpointError
from lab.models.fitted_lens import fitted_lens
from lab.models.trace import Trace
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.parameters import READ_WITH
from lab.ui.screen import caption, meaning, say
from lab.ui.shared.prediction import PredictionView

_TASK = (
    "When does the word appear? A **lens** lets the vocabulary head read the vector after each layer, as if this layer "
    "were the last. "
)
_PLAIN = "The **plain lens** (*logit lens*) gives the head this vector as it is."
_FITTED = "You see a **fitted lens**: trained on other texts, it first turns the vector into a likely last one."
READING = (
    "After {before}, the lens reads {early} first, with {p:.2f}. After layer {last}, the model says {final}, "
    "with **{q:.2f}**."
)
WRITTEN = "After layers 1 to 5, no word gets more than 0.10. In layer 6, two heads look at *France* (lesson 4)."
PLAIN = (
    "The vocabulary head was trained on last vectors. So an early word shows what this lens can read, not what the "
    "model uses."
)
# With a fitted lens, the words of both lenses before the last layer.
BOTH = (
    "The vocabulary head was trained on last vectors, so an early word depends on the lens, too: after layer {layer}, "
    "the plain lens reads {plain}, and the fitted one {fitted}."
)


def show(view: PredictionView) -> Trace:
    """Show the words that a lens reads at the place asked about after each layer."""
    has_fitted = _show_damage(view)
    fitted = has_fitted and READ_WITH.chosen() == FITTED
    say(_TASK + (_FITTED if fitted else _PLAIN))
    draw(partial(word_figures.lens_words, view.trace, view.place, fitted=fitted), "lens-words")
    meaning(found(view.trace, view.place, fitted) + (f" {WRITTEN}" if tells_story(view) else ""))
    caption(both(view.trace, view.place) if has_fitted else PLAIN)
    if has_fitted:
        with sidebar.controls():
            READ_WITH.choose("Read with")
    code(likeliest_after)
    return view.trace


def _show_damage(view: PredictionView) -> bool:
    """Return whether a lens was fitted for the model; if its file is damaged, say so."""
    try:
        return fitted_lens(view.model) is not None
    except CheckpointError as error:
        st.warning(f"{escaped(str(error))} You see the plain lens instead.", icon=":material/broken_image:")
        return False


def _first(trace: Trace, place: int, layer: int, fitted: bool) -> tuple[str, float]:
    """Return the most probable word after a layer, in quotation marks, and its probability."""
    read = likeliest_after(trace, place, word_figures.READ, fitted=fitted)
    return quoted(word_of(trace.model.tokenizer, int(read.ids[layer, 0]))), float(read.probabilities[layer, 0])


def found(trace: Trace, place: int, fitted: bool) -> str:
    """Say what the lens reads before the last layer and after it."""
    last = trace.model.config.layers
    (early, p), (final, q) = (_first(trace, place, layer, fitted) for layer in (last - 1, last))
    return READING.format(
        before=f"layer {last - 1}" if last > 1 else "the embeddings", early=early, p=p, last=last, final=final, q=q
    )


def both(trace: Trace, place: int) -> str:
    """Say what both lenses read after the last layer, but one or more, after which they read different words."""
    for layer in range(trace.model.config.layers - 1, 0, -1):
        plain, fitted = (_first(trace, place, layer, each)[0] for each in (False, True))
        if plain != fitted:
            return BOTH.format(layer=layer, plain=plain, fitted=fitted)
    return PLAIN
