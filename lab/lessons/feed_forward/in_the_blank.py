"""In the blank: a neuron is switched off, and the word in the blank may change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.heads.ablation import head_off
from lab.analysis.layers.neurons_off import NeuronOff, best_word, neuron_off, neurons_off, trying
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.sentences.looks import look_head
from lab.course.words import head_name, quoted
from lab.lessons.feed_forward import LESSON, aimed_at
from lab.lessons.feed_forward.aimed_at import MATTERS, probability, words_aimed_at
from lab.lessons.feed_forward.excited_by import look_in_texts, strongest_tokens
from lab.lessons.feed_forward.view import FeedForwardView, choose_neuron
from lab.models.ablation import ablate_each_neuron
from lab.models.batches import ProgressFunction
from lab.models.encoding import word_of
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.long_work import serial_of, unasked
from lab.ui.parameters import DEFAULT_TEXT, NEURON
from lab.ui.quiz.predictions import predict
from lab.ui.shared.keys import is_keys, keys_blank
from lab.ui.shared.prediction import cannot_predict
from lab.ui.shared.prediction import look as look_at_place
from lab.ui.tables import show_table
from lab.ui.terms import say

IDEA = """
You have seen where a neuron fires. Does the model need the neuron? Set its activation to 0 at every token, and see what
the model says then."""
_ROWS = _NEURONS = 10
# The page tries the neurons by itself if tokens times layers are at most this: half a second on one core.
_QUICK = 150
# A smaller change of a probability is not told.
_UNCHANGED = 0.0005
_BELOW = " An activation below 0 is a small number that the function lets through. Setting it to 0 raises it."
_COLUMNS = ["neuron", "excited most by", "activation in the blank", "change without it"]


def neuron_in_blank(trace: Trace, place: int, layer: int, neuron: int) -> str:
    """Say which word the model predicts without a neuron, and how many neurons of its layer change the best word."""
    found, every = neuron_off(trace, place, layer, neuron), neurons_off(trace, place, layer)
    best, tokenizer = best_word(trace, place), trace.model.tokenizer
    word = quoted(word_of(tokenizer, best))
    before, after = probability(found.before), probability(found.after)
    without = f"Without neuron {neuron + 1:,} of layer {layer + 1}, the model"
    if found.then != best:
        told = (
            f"{without} says {quoted(word_of(tokenizer, found.then))}, and the probability of {word} goes from "
            f"{before} to {after}."
        )
    elif abs(found.change) < _UNCHANGED:
        told = f"{without} still says {word}, and its probability stays at {before}."
    else:
        told = f"{without} still says {word}, and its probability {_moves(found)}."
    turned = sum(each.then != best for each in every)
    many = f"{turned or 'none'} {'change' if turned > 1 else 'changes'}"
    return f"{told} Of the {len(every)} neurons that add most here, {many} the best word if taken away alone."


def _moves(found: NeuronOff) -> str:
    digits = 2 if abs(found.change) >= MATTERS else 4
    verb = "falls" if found.change < 0 else "rises"
    return f"{verb} from {found.before:.{digits}f} to {found.after:.{digits}f}"


def beside_the_head(trace: Trace, place: int, head: Head) -> str:
    """Say what the model predicts without one head, as a head can change a word that no single neuron changes."""
    logits = head_off(trace, *head, place).logits
    assert logits is not None
    best, tokenizer = best_word(trace, place), trace.model.tokenizer
    then = int(logits.argmax())
    without = f"Lesson 4 took a head away in this sentence: without {head_name(head)}, the model"
    if then == best:
        return f"{without} still says {quoted(word_of(tokenizer, best))}."
    return f"{without} says {quoted(word_of(tokenizer, then))}."


@asks(
    "layer",
    "token",
    basis=bet(
        "A word can depend on a single neuron, as a word depended on one head in lesson 4.",
        "Many neurons share the work, so no single neuron decides.",
    ),
    hint="How many neurons add something at this place? How many heads did a layer have?",
)
def one_decides(spot: Spot) -> Question | None:
    """Ask whether the best word changes without one single neuron; the spot is the blank, and all neurons are tried.

    None if the next word is nearly as probable, because then anything may turn it.
    """
    trace, place = spot.trace, spot.query
    first, second = trace.logits(place)[0].softmax(-1).topk(2).values.tolist()
    if first - second < MARGIN:
        return None
    found, best = neurons_off(trace, place, spot.layer), best_word(trace, place)
    word = quoted(word_of(trace.model.tokenizer, best))
    turned = any(each.then != best for each in found)
    why = (
        "One of these neurons is enough. If many neurons shared the work, the word would stay, whichever neuron you "
        "took away."
        if turned
        else (
            "None of these neurons is enough. If the word depended on one of them, it would change without that neuron."
        )
    )
    return shuffled(
        "one-decides",
        f"The model says {word}. In layer {spot.layer + 1}, take away each of the {len(found)} neurons that add most "
        "at this place, one at a time. Does the word ever change?",
        [
            Option("Yes: a single neuron can decide the word", why, correct=turned),
            Option("No: each neuron does only a little", why, correct=not turned),
        ],
    )


def changes(traced: Trace, place: int, layer: int, neuron: int) -> Figure:
    """Draw how the best word’s probability changes without each of the neurons that change it most.

    ``neuron`` keeps its full colour; if it is not among these neurons, it comes last.
    """
    found = list(neurons_off(traced, place, layer)[:_NEURONS])
    if neuron not in [each.neuron for each in found]:
        found.append(neuron_off(traced, place, layer, neuron))
    names, values = [f"neuron {each.neuron + 1:,}" for each in found], [each.change for each in found]
    word = word_of(traced.model.tokenizer, best_word(traced, place))
    scale = Scale("Change of the probability", format="+.3f")
    title = f"The probability of {word} without one neuron of layer {layer + 1}"
    return bars(names, values, scale, title=title, highlight=[each.neuron for each in found].index(neuron))


def show(view: FeedForwardView) -> Trace | None:
    """Set one neuron to 0 at every token, and see the words in the blank change."""
    idea(IDEA)
    reason = cannot_predict(view.trace.model)
    if reason:
        st.info(reason, icon=":material/info:")
        return None
    blank = keys_blank(view.page, view.trace.model) or look_at_place(view.page, view.trace)
    if blank is None:
        return None
    _show_neurons(view, blank.trace, blank.place)
    return blank.trace


def _look_tried(trace: Trace, place: int, layer: int) -> tuple[NeuronOff, ...] | None:
    """The neurons switched off one by one; None while a long text is read again and the page shows the progress."""
    state = trying(trace, place, layer)
    if not state.finished and len(trace) * (trace.model.config.layers - layer) > _QUICK:
        label, work = f"Switch off {len(state.neurons)} neurons one by one", partial(_try_all, trace, place, layer)
        unasked(("neurons off", serial_of(state)), label, work)
        return None
    return neurons_off(trace, place, layer)


def _try_all(trace: Trace, place: int, layer: int, tell: ProgressFunction) -> None:
    state = trying(trace, place, layer)
    while not state.finished:
        state.step(trace, place, layer)
        tell(state.done)


def _show_neurons(view: FeedForwardView, trace: Trace, place: int) -> None:
    found = _look_tried(trace, place, view.layer.index)
    if found is None:
        return
    if not predict(LESSON, one_decides(Spot(trace, view.layer.index, 0, place, place))):
        return
    # A neuron whose sum is below 0 says little about the tokens that it responds to.
    active = (each for each in found if each.activation > 0)
    neuron = view.neuron if NEURON.chosen() else next(active, found[0]).neuron
    shown = (trace, place, view.layer.index, neuron)
    draw(partial(changes, *shown), "neurons-off")
    first = "" if NEURON.chosen() else f" Neuron {neuron + 1:,}, in full colour, fires here."
    st.caption(f"Each bar is a run without one neuron, whose activation is 0 at every token.{first}")
    meaning(neuron_in_blank(*shown))
    _show_head(view, trace, place)
    choose_neuron(replace(view, neuron=neuron))
    _show_another(found, neuron)
    with st.expander("The words with and without this neuron", on_change="rerun", key="_words") as words:
        if words.open:
            draw(partial(aimed_at.words, *shown), "words-without")
            st.caption(
                "Strong bars show the model with the neuron. Weak bars (“off”) show the model without the neuron."
            )
            say("\n\n".join(words_aimed_at(*shown, aimed_at.WORDS)))
    with st.expander("What excites these neurons", on_change="rerun", key="_excited") as excited:
        if excited.open:
            _show_table(view, found, neuron)
    code(ablate_each_neuron)


def _show_head(view: FeedForwardView, trace: Trace, place: int) -> None:
    """Compare the neuron with the head that the course has followed, in the sentence in which lesson 4 took it away."""
    if is_keys(trace):
        head = look_head(view.page.run(trace.model.id, DEFAULT_TEXT, ""))
        st.caption(beside_the_head(trace, place, head))


def _show_table(view: FeedForwardView, found: Sequence[NeuronOff], neuron: int) -> None:
    """List the neurons that change the word most, and the chosen neuron, with the tokens that excite them."""
    shown = list(found[:_ROWS])
    shown += [each for each in found[_ROWS:] if each.neuron == neuron]
    survey = look_in_texts(view)
    tokens = ["" if survey is None else " · ".join(strongest_tokens(view, survey, each.neuron)) for each in shown]
    rows = [(each.neuron + 1, told, each.activation, each.change) for each, told in zip(shown, tokens, strict=True)]
    say(
        "These tokens from the short texts of **Excited by** excite the neurons most. Do not expect a pattern in "
        f"every row.{_BELOW * any(each.activation < 0 for each in shown)}"
    )
    numbers = dict.fromkeys(_COLUMNS[2:], "%.3f")
    table = pd.DataFrame(rows, columns=_COLUMNS)
    show_table(table, formats=numbers)


def _show_another(found: Sequence[NeuronOff], neuron: int) -> None:
    """Offer the neuron that changes the word most; from there, the neuron that changes it most the other way."""
    against = next((each for each in found if each.change * found[0].change < 0), None)
    if found[0].neuron != neuron:
        other, why = found[0], "the neuron that changes this probability most. What excites it?"
    elif against is not None:
        other, why = against, "the neuron that changes this probability most in the other direction. What excites it?"
    else:
        return
    try_this(why, f"Take neuron {other.neuron + 1:,}", {NEURON: other.neuron + 1})
