"""Why place: the tokens in another order, with and without the vectors of their places."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.layers.embeddings import Array, Order, new_order, permutation_gap
from lab.analysis.layers.embeddings import reordered as in_order
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.strips import strips
from lab.charts.marks.lines import lines, settled
from lab.course.sentences.two_meanings import TwoMeanings
from lab.course.sentences.uses import Use, uses_of
from lab.course.words import quoted
from lab.figures.axes import STATES
from lab.figures.embeddings import dimension_names, stretch
from lab.lessons.embeddings import LESSON
from lab.lessons.embeddings.view import EmbeddingView
from lab.models.encoding import word_of
from lab.models.interventions import Interventions
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Question
from lab.questions.returning import Spot
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import ORDER
from lab.ui.quiz.predictions import predict
from lab.ui.sentence import show_sentence
from lab.ui.terms import say

IDEA = """
What would the model know without the vectors of the places? *The dog bit the man* and *The man bit the dog* have the
same rows of the token table. Then the **layers** follow. In each layer, a token takes something from the vectors of the
other tokens and adds it to its own (lesson 3). Nothing else in a layer looks at two tokens."""
WITHOUT, WITH, NO_MASK = "without places", "with places", "without places, without mask"
_SHORT = {WITHOUT: "without", WITH: "with", NO_MASK: "no mask"}
_SHOWN = 12  # tokens of a text that a sentence may list
_EQUAL = 1e-3
_BITTEN = TwoMeanings("dog", "The dog bit the man.", "The man bit the dog.")


def ways_to_run(traced: Trace) -> dict[str, Interventions]:
    """The changes for runs in each order: without places, with them, and, if a mask hides words, without both."""
    runs = {WITHOUT: Interventions(no_positions=True), WITH: Interventions()}
    config = traced.model.config
    if config.causal or (config.window is not None and config.window < len(traced) - 1):
        runs[NO_MASK] = Interventions(no_positions=True, no_causal_mask=True)
    return runs


@once
def before_and_after(traced: Trace, order: Order, token: int) -> dict[str, tuple[Array, Array]]:
    """The last vector of a token in both orders, (d,) each, for each of the ways to run."""
    places, found = new_order(order, len(traced)), {}
    for name, changes in ways_to_run(traced).items():
        here, there = (
            trace_encoding(traced.model, each, changes).output
            for each in (traced.encoding, in_order(traced.encoding, places))
        )
        found[name] = here[token].numpy(), there[places.index(token)].numpy()
    return found


def last_vectors(traced: Trace, order: Order, token: int = 0) -> Heatmap:
    """Draw the last vector of one token before and after the tokens get another order, without and with places."""
    found = before_and_after(traced, order, token)
    shown = stretch(0, traced.output.shape[1])
    names = [f"{_SHORT[way]}, {when}" for way in found for when in ("before", "after")]
    vectors = [vector[shown] for pair in found.values() for vector in pair]
    title = f"The vector of {traced.labels[token]} after the last layer, without and with places"
    return strips(vectors, names, title=title, dimensions=dimension_names(traced, shown))


def reordering(traced: Trace, order: Order) -> Figure:
    """Draw, for each hidden state, how far the vectors are from vectors that only move along with their tokens."""
    gaps = {name: permutation_gap(traced, order, run) for name, run in ways_to_run(traced).items()}
    places = AxisPlaces(STATES, range(len(gaps[WITHOUT].layers)))
    scale = Scale("Share of the vector’s length", format=".2g")
    moved = {name: gap.moved for name, gap in gaps.items()}
    return settled(lines(moved, places, scale, title="How far vectors differ after each layer, mean over tokens"))


def said(trace: Trace, order: Order) -> str:
    """Say how another order of the tokens changes their last vectors, without places and with them."""
    gaps = {name: permutation_gap(trace, order, way) for name, way in ways_to_run(trace).items()}
    name, without = quoted(trace.model.id), gaps[WITHOUT]
    if not without.follows:
        return (
            f"Even without places, {name} notices the new order: the vectors do not simply move with their tokens. "
            "If the lab also takes its mask away, they do."
        )
    told = (
        "Without places, both vectors are the same: **every token takes its vector along** to its new place, so "
        f"{name} cannot tell this order from the first one."
    )
    if gaps[WITH].follows:
        return f"{told} Here, the vectors move with their tokens even with places."
    told += f" With places, the last vectors differ by {gaps[WITH].moved[-1]:.0%} of their length on average."
    if order == "reversed":
        return told
    reverse = permutation_gap(trace, "reversed", ways_to_run(trace)[WITH]).moved[-1]
    return f"{told} In reversed order, they differ by {reverse:.0%}."


def why(trace: Trace, order: Order) -> str:
    """The reason for the finding of :func:`said`, which it follows."""
    gaps, config = {n: permutation_gap(trace, order, way) for n, way in ways_to_run(trace).items()}, trace.model.config
    if not gaps[WITHOUT].follows:
        if config.causal:
            return (
                "A mask lets each token see only the tokens before it. In a different order, it sees different "
                "tokens, so the mask tells the model about the order (Haviv et al. 2022)."
            )
        return (
            f"In a local layer, a token sees only {config.window} tokens to either side. In a different order, it "
            "sees different tokens, so the mask tells the model which tokens are near."
        )
    local = " (A local layer hides what is far away, but here near tokens stay near.)" if NO_MASK in gaps else ""
    return (
        "**Attention**, the next lesson, adds up vectors of the tokens, and a sum has no order. Every other part of a "
        f"layer looks at one token alone.{local}"
    )


@asks(
    basis=derivable(LESSON, "position-lab", "a layer adds up what a token collects"),
    hint="What could still tell the model which word came first?",
)
def after_reordering(spot: Spot) -> Question | None:
    """Ask what happens to the last vectors without places if the order is reversed; None if it stays the same."""
    trace, order = spot.trace, new_order("reversed", len(spot.trace))
    same = trace.token_ids == tuple(trace.token_ids[place] for place in order)
    if same and trace.segment_ids == tuple(trace.segment_ids[place] for place in order):
        return None
    gap = permutation_gap(trace, "reversed", Interventions(no_positions=True))
    rounding = ", which is rounding" if gap.follows else ""
    reason = (
        "Compare each token’s vector at its old place with its vector at its new place. The largest difference "
        f"between two numbers is {float(gap.layers[-1]):.2g}{rounding}."
    )
    outcomes = {
        "Each token takes its vector along to its new place": gap.follows,
        "Each place keeps its vector, whatever token is there now": False,
        "The vectors become other numbers": not gap.follows,
    }
    prompt = (
        "Take away the vectors of all places, and reverse the order of the tokens. What happens to the tokens’ vectors "
        "after the last layer?"
    )
    return which_holds("after-reordering", prompt, reason, outcomes, mixed=True)


@asks(
    basis=derivable(LESSON, "position-lab", "the vectors without places, before and after"),
    hint="What could still tell the model which word came first?",
    returns=4,
)
def who_bit_whom(spot: Spot) -> Question | None:
    """Ask if a word's last vector is the same in two orders of the same words, without places.

    None for a model that does not know the words, or that does not notice their order even with places.
    """
    model = spot.trace.model
    plain, without = (uses_of(model, _BITTEN, Interventions(no_positions=off)) for off in (False, True))
    known = all(model.unknown not in use.trace.token_ids for use in plain)
    if len(plain) != 2 or not known or moved(plain) < MARGIN:
        return None
    kept = moved(without)
    because = (
        "Nothing else showed the model the order."
        if kept < _EQUAL
        else "In this model, a mask also tells which words come before a word, or near it."
    )
    differ = f"by {kept:.1%} of their length. With places, they differ by {moved(plain):.0%}"
    outcomes = {
        "Yes: the sentences have the same words": kept < _EQUAL,
        "No: the words are in another order": kept >= _EQUAL,
    }
    first, second = (quoted(use.trace.text) for use in plain)
    prompt = (
        f"Take away the vectors of all places. Is the last vector of {plain[0].word} in {first} the same as in "
        f"{second}?"
    )
    return which_holds("who-bit-whom", prompt, f"Without places, the two vectors differ {differ}. {because}", outcomes)


def moved(uses: tuple[Use, ...]) -> float:
    """The distance between the last vectors of two uses, as a share of the first vector's length."""
    first, second = (use.trace.output[use.token].double() for use in uses)
    return float((first - second).norm() / first.norm())


def show(view: EmbeddingView) -> None:
    """Run the learner's tokens in another order, with places and without."""
    trace = view.trace
    idea(IDEA)
    if len(trace) < 2:
        st.info(
            "A single token cannot be put in another order. Write a longer sentence in the sidebar.",
            icon=":material/edit:",
        )
        return
    if trace.model.config.causal:
        say(f"In {view.model}, a token sees only itself and the tokens before it.")
    if not predict(LESSON, after_reordering(view.spot)):
        return
    with sidebar.controls():
        order = ORDER.choose("The tokens are")
    show_sentence(trace, view.token)
    moved_on = in_order(trace.encoding, new_order(order, len(trace)))
    say(f"{order.capitalize()}: {_row(tuple(word_of(trace.model.tokenizer, each) for each in moved_on.token_ids))}")
    if (moved_on.token_ids, moved_on.segment_ids) == (trace.token_ids, trace.segment_ids):
        st.info("In this order, the tokens are the same as before. Choose another order.", icon=":material/edit:")
        return
    draw(partial(last_vectors, trace, order, view.token), "position-lab")
    meaning(said(trace, order))
    say(why(trace, order))
    with st.expander("All tokens, layer by layer", on_change="rerun", key="_all_layers") as every:
        if every.open:
            draw(partial(reordering, trace, order), "position-lab-layers")
    if order == ORDER.default:
        reason = (
            "if every token moves by only one place, most tokens keep their neighbours. Do the vectors change less?"
        )
        try_this(reason, "Move them on by one", {ORDER: "moved on by one"})
    code(permutation_gap)


def _row(tokens: tuple[str, ...]) -> str:
    rest = " …" if len(tokens) > _SHOWN else ""
    return " ".join(quoted(token) for token in tokens[:_SHOWN]) + rest
