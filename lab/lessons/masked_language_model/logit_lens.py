"""Layer by layer: the vocabulary head reads the vector after every layer, not only the last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.layers import lens
from lab.analysis.layers.lens import Lens, first_read, lens_prediction
from lab.analysis.words import predictions
from lab.analysis.words.predictions import word_of
from lab.course.pages import experiment_of
from lab.course.words import VISIBLE, escaped, percent, quoted, share
from lab.figures.choices import FITTED
from lab.lessons.masked_language_model import LESSON, figures
from lab.models.config import CheckpointError
from lab.models.fitted_lens import FittedLens, MeasuredLens, fitted_lens, measured
from lab.models.trace import Trace
from lab.ui import selection, sidebar
from lab.ui.drawing import code, draw, draw_cells
from lab.ui.frame.closing import caption, meaning, way_to
from lab.ui.parameters import FIRST_TOKEN, LENS, LENS_TOKENS, READ_WITH
from lab.ui.shared import masking
from lab.ui.shared.prediction import PredictionView
from lab.ui.shared.word_forms import show_word_forms
from lab.ui.terms import say

_GRID = "lens-grid"
_CELL, _CLICKED = "_lens_cell", "_lens_clicked"
_TOP = 5


# Said of the fitted lens only: the plain one does not do this.
_TRANSLATED = (
    " But the head has learned to read last vectors only. So the lens that you see, the **fitted lens**, first turns "
    "each vector into a guess of the last one."
)


def arrived(trace: Trace, place: int, truth: int | None, *, fitted: bool = False) -> str:
    """Say from which layer on the lens reads the output's word, and in which layer that word gains most.

    Layers after which the lens reads no better than a guess without context do not count.
    """
    best = lens.lens(trace, (place,), (truth,), fitted=fitted).best[:, 0]
    final, last = int(best[-1]), len(best) - 1
    first = min(first_read(trace, place, fitted=fitted), last)
    since = next(row for row in range(first, last + 1) if (best[row:] == final).all())
    gained = [_read_after(trace, layer, place, final, fitted) for layer in range(first, last + 1)]
    word = quoted(word_of(trace.model.tokenizer, final))
    if first == last:
        return f"The model says {word} after its last layer, which is the first layer that the lens can read."
    if since == first:
        told = (
            f"The lens reads {word} after layer {first}, the first one that it can read, and after every later layer."
        )
    elif since == last:
        before = quoted(word_of(trace.model.tokenizer, int(best[-2])))
        told = f"{word} wins in the last layer. One layer earlier, the lens still reads {before}."
    else:
        told = f"From layer {since} on, the lens reads {word} after every layer."
    steps = np.diff(gained)
    most = int(steps.argmax())
    if steps[most] < VISIBLE:
        return f"{told} No later layer adds {VISIBLE:g} or more to its probability."
    return (
        f"{told} It gains most in layer {first + most + 1}: from {share(gained[most])} to "
        f"**{share(gained[most + 1])}**."
    )


def misread(trace: Trace, place: int, truth: int | None, *, fitted: bool = False) -> str:
    """Say what an early reading is worth: name the first reading if the model does not say its word in the end."""
    best = lens.lens(trace, (place,), (truth,), fitted=fitted).best[:, 0]
    first = min(first_read(trace, place, fitted=fitted), len(best) - 1)
    if best[first] == best[-1]:
        return "The lens shows which word can be read from a vector. It does not show which word the model uses there."
    after = f"layer {first}" if first else "the embeddings"
    word = quoted(word_of(trace.model.tokenizer, int(best[first])))
    return f"After {after}, the lens reads {word}. It always names a word, even if the vector does not contain one yet."


def _read_after(trace: Trace, layer: int, place: int, token_id: int, fitted: bool) -> float:
    return float(lens_prediction(trace, layer, place, None, fitted=fitted).probabilities[token_id])


@dataclass(frozen=True)
class Agreed:
    """The layer, from 1, after which the two lenses differ most, and each lens's agreement there."""

    layer: int
    fitted: float
    plain: float
    untrained: float


def most_apart(found: MeasuredLens) -> Agreed:
    """Find the layer at which the fitted lens and the plain lens differ most in naming the model's best word."""
    fitted, plain, untrained = (each.agreement for each in (found.fitted, found.plain, found.untrained))
    layer = 1 + int(np.abs(np.subtract(fitted, plain)[1:]).argmax())
    return Agreed(layer, fitted[layer], plain[layer], untrained[layer])


def agreed(found: MeasuredLens, causal: bool) -> str:
    """Say how much more the fitted lens reads than the plain lens, and how much a map alone can guess."""
    at = most_apart(found)
    asked = "places" if causal else "hidden words"
    return (
        f"How often does a lens name the word that the model says in the end? The lab asked at {found.places:,} "
        f"{asked} of other texts. After layer {at.layer}, the fitted lens names this word in **{percent(at.fitted)}** "
        f"of them, and the plain lens in {percent(at.plain)}. A lens fitted on an untrained twin reaches "
        f"{percent(at.untrained)}: so often does the map alone guess the word from layers that have learned nothing."
    )


def rows_where_plain_reads_more(found: MeasuredLens) -> list[int]:
    """The rows (0: the embeddings) in which the plain lens names more of the model's words at visible words."""
    plain, fitted = found.in_sight or ((), ())
    return [row for row, (one, other) in enumerate(zip(plain, fitted, strict=True)) if one - other >= VISIBLE]


def fitted_where(found: MeasuredLens, causal: bool) -> str:
    """Say at which places the maps were fitted, and after which layers the plain lens reads more at other places."""
    if causal:
        return "The maps were fitted on other texts."
    rows = ["the embeddings" if row == 0 else f"layer {row}" for row in rows_where_plain_reads_more(found)]
    told = "The maps were fitted at hidden words of other texts."
    if not rows:
        return told
    after = f"{', '.join(rows[:-1])} and {rows[-1]}" if len(rows) > 1 else rows[0]
    return (
        f"{told} For visible words, the plain lens names more of the model’s words than the fitted lens does, after "
        f"{after}."
    )


def show(view: PredictionView) -> Trace:
    """Show how a word forms at the place asked about; behind clicks, a grid of several tokens, and its limits."""
    row = st.container()
    record = _show_record(view)
    fitted = record is not None and READ_WITH.chosen() == FITTED
    with row:
        say(
            "When does the word appear? After each layer, read the vector with the vocabulary head, as if this layer "
            f"were the last. This is called the **logit lens**.{_TRANSLATED if fitted else ''}"
        )
    st.fragment(show_word_forms)(view.trace, view.place, "lens-forms", here=LESSON, choose_lens=False)
    found = lens_at(view, (view.place,), fitted)
    meaning(arrived(view.trace, view.place, found.truths[0], fitted=fitted))
    caption(misread(view.trace, view.place, found.truths[0], fitted=fitted))
    if record is not None:
        with sidebar.controls():
            READ_WITH.choose("Read with")
        st.caption(_what(view, fitted))
    with st.expander("At several tokens", icon=":material/grid_on:", on_change="rerun", key="_lens_tokens") as several:
        if several.open:
            _show_grid(view, fitted)
    with st.expander("How far to trust the lens", on_change="rerun", key="_lens_limits") as limits:
        if limits.open:
            _show_limits(view, found, record, fitted)
    way_to("The experiment", experiment_of("patching"))
    code(lens.lens_rows, lens.lens_prediction, *([FittedLens.guess] if fitted else []))
    return view.trace


def _show_grid(view: PredictionView, fitted: bool) -> None:
    """Show the lens at several tokens, and one cell of the grid in full."""
    places = _choose_places(view)
    shown = LENS.choose("Cells")
    found = lens_at(view, places, fitted)
    at = places.index(view.place) if view.place in places else 0
    layer, column = _chosen_cell(found, at)
    call = partial(figures.lens_grid, view.trace, found.places, found.truths, shown, (layer, column), fitted=fitted)
    clicked = draw_cells(call, _GRID)
    if clicked is not None and clicked != st.session_state.get(_CLICKED):
        st.session_state[_CLICKED] = st.session_state[_CELL] = clicked
        st.rerun()
    if view.causal:
        st.caption("Each column shows what the lens reads as the next token.")
    _show_cell(view, found, (layer, column), fitted)


def _show_limits(view: PredictionView, found: Lens, record: MeasuredLens | None, fitted: bool) -> None:
    """Explain the last row and the earlier rows, and draw how often the lens names the model's word."""
    _show_last_row(view, found, record if fitted else None)
    if record is not None:
        say(agreed(record, view.causal))
        draw(partial(figures.lens_agreement, view.trace), "lens-agreement")


def _show_record(view: PredictionView) -> MeasuredLens | None:
    """Return the measurements of the lens that was fitted for the model; None, with the reason, if it has none."""
    try:
        if fitted_lens(view.model) is not None:
            return measured(view.model)
    except CheckpointError as error:
        st.warning(f"{escaped(str(error))} You see the plain lens instead.", icon=":material/broken_image:")
        return None
    return None


def _what(view: PredictionView, fitted: bool) -> str:
    """Say how the chosen lens treats the vector of a layer."""
    through = "output embeddings" if view.causal else "vocabulary head"
    if view.trace.model.weights.final_norm is not None:
        through = f"final LayerNorm and {through}"
    if fitted:
        return (
            "The fitted lens has a matrix for each layer, learned from other texts. The plain lens takes the vector as "
            "it is."
        )
    return f"The plain lens gives the vector to the model’s own {through}, as if this layer were the last."


def _show_last_row(view: PredictionView, found: Lens, record: MeasuredLens | None) -> None:
    """Explain the last row, the model's own output, and the limits of earlier rows; ``record`` only if fitted."""
    difference = lens.lens_difference(view.trace, found.places, found.truths, fitted=record is not None)
    equal = "are the same" if difference == 0 else f"differ by {difference:.0e} at most"
    if record is not None:
        limits = (
            "Each earlier row is a guess at that output. So the fitted lens may find a word in a layer although the "
            f"model does not use this word there (Belrose et al. 2023). {fitted_where(record, view.causal)}"
        )
    else:
        limits = (
            "The vocabulary head was trained on the last layer. So an early row may show no fitting word, even if "
            "the layer has found something out."
        )
    say(
        f"The last row is the model’s own output: the best probabilities of this row and of the output "
        f"{equal}. {limits}"
    )


def lens_at(view: PredictionView, places: tuple[int, ...], fitted: bool = False) -> Lens:
    """The settings of a lens at some places of the text on screen."""
    return lens.lens(view.trace, places, tuple(_truth(view, place) for place in places), fitted=fitted)


def _truth(view: PredictionView, place: int) -> int | None:
    """The true token at a place (in a causal model, after it); None if the learner typed a blank there."""
    ids = view.plain.token_ids
    if view.causal:
        return ids[place + 1] if place + 1 < len(ids) else None
    typed = place in view.hidden and place not in view.chosen
    return None if typed else ids[place]


def name_of(view: PredictionView, place: int) -> str:
    """A token as the model reads it, and its number."""
    return f"{quoted(word_of(view.model.tokenizer, view.trace.token_ids[place]))} ({place + 1})"


def offered(view: PredictionView) -> tuple[int, ...]:
    """The places that the lens can show: all tokens except special ones, or all if the text has only special tokens."""
    special = view.trace.encoding.special
    ordinary = tuple(i for i in range(len(view.trace)) if not special[i] or i in view.hidden)
    return ordinary or tuple(range(len(view.trace)))


def _choose_places(view: PredictionView) -> tuple[int, ...]:
    """Let the learner choose how many tokens the grid has: around the place asked about, or from a chosen token on."""
    places = offered(view)
    left, right = st.columns(2)
    with left:
        count = int(LENS_TOKENS.choose("Tokens at once"))
    if len(places) <= count:
        return places
    starts = places[: len(places) - count + 1]
    asked = FIRST_TOKEN.chosen() - 1
    if asked >= 0 and asked not in starts:
        selection.note(
            f"The {count} tokens of the lens cannot start at token {asked + 1}, so the lens shows tokens around the "
            "one you ask about."
        )
        FIRST_TOKEN.set(0)
    around = places.index(view.place) - count // 2 if view.place in places else 0
    first = asked if asked in starts else starts[min(max(around, 0), len(starts) - 1)]
    label = f"First of {count} tokens, of {len(places)}"
    with right:
        FIRST_TOKEN.choose(label, starts, first, lambda place: masking.label(view.trace, place), start=1)
    start = places.index(first)
    return places[start : start + count]


def _chosen_cell(found: Lens, at: int) -> tuple[int, int]:
    """The chosen cell, moved inside the grid; at first, the last row at the token asked about."""
    layers, columns = found.best.shape
    layer, column = st.session_state.get(_CELL, (layers - 1, at))
    if layer < layers and column < columns:
        return layer, column
    return layers - 1, at


def _show_cell(view: PredictionView, found: Lens, cell: tuple[int, int], fitted: bool) -> None:
    """Show one cell in full, chosen by a click or from two lists."""
    layer, column = cell
    names = ["Embeddings", *(f"Layer {i}" for i in range(1, len(found.best)))]

    def take() -> None:
        st.session_state[_CELL] = st.session_state["_lens_layer"], st.session_state["_lens_column"]

    st.session_state["_lens_layer"], st.session_state["_lens_column"] = layer, column
    left, right = st.columns(2)
    left.selectbox("Read after", range(len(names)), key="_lens_layer", on_change=take, format_func=lambda i: names[i])
    label, tokens = "After token" if view.causal else "At token", [masking.label(view.trace, i) for i in found.places]
    right.selectbox(label, range(len(tokens)), key="_lens_column", on_change=take, format_func=lambda i: tokens[i])
    place, truth = found.places[column], found.truths[column]
    prediction = lens.lens_prediction(view.trace, layer, place, truth, fitted=fitted)
    draw(partial(figures.lens_words, view.trace, layer, place, truth, _TOP, fitted=fitted), "lens-cell")
    true = predictions.true_word(prediction, view.model.tokenizer)
    if true is not None:
        say(f"The true token, {quoted(true.word)}, has rank **{true.rank:,}** here.")
