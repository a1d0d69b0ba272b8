"""A neuron switched off, and the word in the blank then: a screen of the feed-forward lesson."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.layers.neurons_off import NeuronOff, best_word, neurons_off, trying
from lab.course.sentences.looks import look_head
from lab.course.words import quoted
from lab.lessons.feed_forward import LESSON, blank_checks, blank_figures, meanings
from lab.lessons.feed_forward.neurons import strongest_tokens, survey_of
from lab.lessons.feed_forward.view import FeedForwardView
from lab.models.ablation import ablate_each_neuron
from lab.models.batches import ProgressFunction
from lab.models.encoding import word_of
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.long_work import unasked
from lab.ui.parameters import DEFAULT_TEXT, NEURON
from lab.ui.quiz.predictions import predict
from lab.ui.shared.keys import is_keys, keys_blank
from lab.ui.shared.prediction import cannot_predict, look
from lab.ui.tables import show_table
from lab.ui.terms import say

_ROWS = 10
# The page tries the neurons by itself if tokens times layers are at most this: half a second on one core.
_QUICK = 150
_BELOW = " An activation below 0 is a small number that the function lets through; setting it to 0 raises it."
_COLUMNS = ["neuron", "excited most by", "activation in the blank", "change without it"]


def show_blank(view: FeedForwardView) -> Trace | None:
    """Set one neuron to 0 at every token, and see the words in the blank change."""
    reason = cannot_predict(view.trace.model)
    if reason is not None:
        st.info(reason, icon=":material/info:")
        return None
    blank = keys_blank(view.page, view.trace.model) or look(view.page, view.trace)
    if blank is None:
        return None
    _show(view, blank.trace, blank.place)
    return blank.trace


def _tried(trace: Trace, place: int, layer: int) -> tuple[NeuronOff, ...] | None:
    """The neurons switched off one by one; None while a long text is read again and the page shows the progress."""
    state = trying(trace, place, layer)
    if not state.finished and len(trace) * (trace.model.config.layers - layer) > _QUICK:
        label, work = f"Switch off {len(state.neurons)} neurons one by one", partial(_try_all, trace, place, layer)
        unasked(("neurons off", id(state)), label, work)
        return None
    return neurons_off(trace, place, layer)


def _try_all(trace: Trace, place: int, layer: int, tell: ProgressFunction) -> None:
    state = trying(trace, place, layer)
    while not state.finished:
        state.step(trace, place, layer)
        tell(state.done)


def _show(view: FeedForwardView, trace: Trace, place: int) -> None:
    found, best = _tried(trace, place, view.layer.index), best_word(trace, place)
    if found is None:
        return
    word = quoted(word_of(trace.model.tokenizer, best))
    say(
        f"The model says {word} ({meanings.probability(found[0].before)}). Which neuron does the model need "
        "for this answer?"
    )
    if not predict(LESSON, blank_checks.how_many_turn(found, best, word)):
        return
    # A neuron whose sum is below 0 says little about the tokens that it responds to.
    active = (each for each in found if each.activation > 0)
    neuron = view.neuron if NEURON.chosen() else next(active, found[0]).neuron
    shown = (trace, place, view.layer.index, neuron)
    draw(partial(blank_figures.changes, *shown), "neurons-off")
    first = "" if NEURON.chosen() else f" Neuron {neuron + 1:,}, in full colour, fires here."
    st.caption(f"Each bar is one neuron that is taken away: its activation is 0 at every token.{first}")
    meaning(meanings.neuron_in_blank(*shown))
    _say_head(view, trace, place)
    NEURON.type_in(f"Neuron, 1 to {view.config.ffn_width:,}", neuron + 1, view.config.ffn_width)
    _offer(found, neuron)
    with st.expander("The words with this neuron and without it", on_change="rerun", key="_words") as words:
        if words.open:
            draw(partial(blank_figures.words, *shown), "words-without")
            st.caption("Strong bars show the model with the neuron; weak bars, “off”, show it without the neuron.")
            say("\n\n".join(meanings.words_aimed_at(*shown, blank_figures.WORDS)))
    with st.expander("What excites these neurons", on_change="rerun", key="_excited") as excited:
        if excited.open:
            _table(view, found, neuron)
    code(ablate_each_neuron)


def _say_head(view: FeedForwardView, trace: Trace, place: int) -> None:
    """Compare the neuron with the head that the course has followed, in the sentence in which lesson 4 took it away."""
    if is_keys(trace):
        head = look_head(view.page.run(trace.model.id, DEFAULT_TEXT, ""))
        st.caption(meanings.beside_the_head(trace, place, head))


def _table(view: FeedForwardView, found: Sequence[NeuronOff], neuron: int) -> None:
    """List the neurons that change the word most, and the chosen neuron, with the tokens that excite them."""
    shown = list(found[:_ROWS])
    shown += [each for each in found[_ROWS:] if each.neuron == neuron]
    survey = survey_of(view)
    tokens = ["" if survey is None else " · ".join(strongest_tokens(view, survey, each.neuron)) for each in shown]
    rows = [(each.neuron + 1, told, each.activation, each.change) for each, told in zip(shown, tokens, strict=True)]
    say(
        "These tokens from the short texts of the previous step excite the neurons most. Do not look for a pattern in "
        f"every row: not every neuron has a name.{_BELOW * any(each.activation < 0 for each in shown)}"
    )
    numbers = dict.fromkeys(_COLUMNS[2:], "%.3f")
    table = pd.DataFrame(rows, columns=_COLUMNS)
    show_table(table, formats=numbers)


def _offer(found: Sequence[NeuronOff], neuron: int) -> None:
    """Offer the neuron that changes the word most; from there, the neuron that changes it most the other way."""
    against = next((each for each in found if each.change * found[0].change < 0), None)
    if found[0].neuron != neuron:
        other, why = found[0], "the neuron that changes this probability most. What excites it?"
    elif against is not None:
        other, why = against, "the neuron that changes it most the other way. What excites it?"
    else:
        return
    try_this(why, f"Take neuron {other.neuron + 1:,}", {NEURON: other.neuron + 1})
