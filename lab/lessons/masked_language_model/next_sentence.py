"""Next sentence: BERT's other training task. Does the second text follow the first?"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.words.next_sentence import NextSentence, PairsTried, next_sentence, try_pairs
from lab.analysis.words.predictions import follows
from lab.course.sentences.examples import FOLLOWING
from lab.course.words import in_tex, quoted, share
from lab.lessons.masked_language_model import LESSON
from lab.lessons.masked_language_model.view import show_numbers
from lab.models import forward
from lab.models.catalogue import DEFAULT_MODEL, twin_of
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.kinds import rises_or_falls, which_holds
from lab.questions.question import MARGIN, Question
from lab.questions.returning import Spot
from lab.ui import runs
from lab.ui.drawing import code
from lab.ui.frame.closing import meaning
from lab.ui.quiz.predictions import predict
from lab.ui.terms import say
from lab.ui.texts import use_texts

UNRELATED = (FOLLOWING[0][0], "The bank raised its interest rates again.")
_MANY = "_pairs_of"  # session key for the id of the model that has read many pairs
_LETTERS = 60  # characters of a text that a sentence names


# Two answers about a pair of texts are nearly the same if they differ by less than this.
APART = 0.1
_BLUR = 0.01  # a change nearer to the margin than this is on neither side visibly


@asks(
    basis=bet("The head knows which text comes first.", "The head only checks whether both texts have the same topic."),
    hint="In training, a text that did not follow came from somewhere else. How can you recognize such a text?",
)
def other_order(spot: Spot) -> Question | None:
    """Ask what happens to the probability if the two texts are swapped."""
    found = next_sentence(spot.trace) if spot.trace.pair and spot.trace.model.pairs else None
    return None if found is None else swapped(found)


def swapped(found: NextSentence) -> Question | None:
    """Ask as :func:`other_order` does; None if the change is near the margin."""
    change = found.swapped - found.follows
    if abs(abs(change) - MARGIN) < _BLUR:
        return None
    prompt = (
        f"In this order, the head says “follows” with the probability {share(found.follows)}. Now A and B change "
        "places. What happens to this probability?"
    )
    why = f"It goes from {share(found.follows)} to {share(found.swapped)}."
    return which_holds("other-order", prompt, why, rises_or_falls(change))


def both_orders(found: NextSentence) -> str:
    """Say how the model's answer changes when two texts are swapped."""
    told = f"**{found.follows:.2f}** in this order, **{found.swapped:.2f}** swapped"
    if abs(found.follows - found.swapped) >= APART:
        return f"The order matters for this pair: {told}."
    return (
        f"The order hardly matters for this pair: {told}. So this answer does not show which text comes first. The "
        "model may decide by the topic. To test this, press **A random pair**."
    )


def topic_or_order(tried: PairsTried) -> str:
    """Say whether a model's answers to many pairs show which texts belong together, and in which order."""
    count, right = len(tried.follows), np.array(tried.follows)
    ordered, together = (int((right > np.array(other)).sum()) for other in (tried.swapped, tried.mixed))
    means = (f"{np.mean(each):.2f}" for each in (tried.follows, tried.swapped, tried.mixed))
    told = (
        "On average, the probability is {} in order, {} swapped, and {} with a second text from another pair. ".format(
            *means
        )
        + f"The right order wins in **{ordered}** of {count} pairs, the right second text in **{together}**. "
    )
    # The smallest number of right pairs that guessing reaches in fewer than 1 of 20 tries.
    least = next(
        k for k in range(count + 1) if sum(math.comb(count, each) for each in range(k, count + 1)) < 2**count / 20
    )
    if together >= least and ordered >= least:
        return f"{told}So this model tells which texts belong together, and in which order."
    if together >= least:
        return (
            f"{told}So this model tells which texts belong together, but not clearly in which order. Lan et al. 2020 "
            "(§3.1) suppose the same about this task, because a topic is easier to learn than an order."
        )
    if ordered >= least:
        return f"{told}So this model tells the order of two texts, but not clearly which texts belong together."
    return f"{told}Pure guessing would rarely get {least} of {count} pairs right. So these pairs show neither."


def show(trace: Trace) -> Trace:
    """Show P(B follows A), read from [CLS], in both orders; return the run that the first comes from.

    If the learner has no pair, the run is about an example, and the page says so.
    """
    say(
        "BERT was trained on pairs of texts, too. In half of the pairs, text B followed text A in its source. In the "
        "other half, B was a random text. A separate head, the **next-sentence head**, reads the vector of [CLS] and "
        "says which of the two cases it is."
    )
    if not trace.model.pairs:
        st.info(
            f"{quoted(trace.model.id)} has no next-sentence head. GPT-2, DistilBERT and RoBERTa were trained without "
            f"this task. Choose {DEFAULT_MODEL} in the sidebar to see it.",
            icon=":material/info:",
        )
        return trace
    _show_pairs(trace)
    if trace.pair is None:
        st.info(
            "This is **an example pair**, because your text has no second sentence. Type a second sentence in the "
            "sidebar to ask about your own pair.",
            icon=":material/lightbulb:",
        )
        trace = runs.run(trace.model.id, *FOLLOWING[0], Interventions())
    found = next_sentence(trace)
    if found is None:
        return trace
    say(f"A: {_told(trace.text)}  \nB: {_told(trace.pair or '')}")
    if predict(LESSON, other_order(Spot(trace, 0, 0, 0, 0))):
        _show(trace, found)
    return trace


def _told(text: str) -> str:
    return quoted(text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…")


def _show_pairs(trace: Trace) -> None:
    """Offer two pairs to begin with, and the learner's own pair in the other order."""
    with st.container(horizontal=True):
        st.button(
            "A pair that follows", icon=":material/link:", on_click=use_texts, args=FOLLOWING[0], key="_pair.following"
        )
        st.button("A random pair", icon=":material/link_off:", on_click=use_texts, args=UNRELATED, key="_pair.random")
        if trace.pair:
            swap = partial(use_texts, trace.pair, trace.text)
            st.button("Swap A and B", icon=":material/swap_vert:", on_click=swap, key="_pair.swap")


def _show(trace: Trace, found: NextSentence) -> None:
    if twin_of(trace.model.id):
        st.warning("These weights are random: the numbers below say nothing about the texts.", icon=":material/casino:")
    left, right = st.columns(2)
    left.metric("P(B follows A)", share(found.follows), border=True)
    right.metric("Swapped: P(A follows B)", share(found.swapped), border=True)
    meaning(both_orders(found))
    _show_many(trace)
    with st.expander("The two logits", icon=":material/function:", on_change="rerun", key="_pair_logits") as logits:
        if logits.open:
            _show_logits(found)
    code(forward.pair_logits, follows)


def _show_logits(found: NextSentence) -> None:
    """Write out the softmax over two logits, and list the logits of both orders."""
    st.latex(_written_out(found))
    table = pd.DataFrame(
        {
            "order": ["A, then B", "B, then A"],
            "logit: follows": [found.logits[0], found.swapped_logits[0]],
            "logit: does not": [found.logits[1], found.swapped_logits[1]],
            "P(follows)": [found.follows, found.swapped],
        }
    )
    show_numbers(table)


def _show_many(trace: Trace) -> None:
    """Ask the model about other pairs, at a click because each pair takes three runs."""
    say(
        f"Is the answer the same for other pairs? The lab has {len(FOLLOWING)} pairs in which the second text follows "
        "the first. Ask the model about each pair in this order, in the opposite order, and with the second text of "
        "another pair."
    )
    if st.button(f"Ask about {len(FOLLOWING)} pairs", icon=":material/play_arrow:", key="_many_pairs"):
        st.session_state[_MANY] = trace.model.id
    if st.session_state.get(_MANY) == trace.model.id:
        with st.spinner(f"Asking about {len(FOLLOWING)} pairs …"):
            tried = try_pairs(trace.model, FOLLOWING)
        columns = ("in order", "swapped", "with another second text")
        values = dict(zip(columns, (tried.follows, tried.swapped, tried.mixed), strict=True))
        texts = {"A": [first for first, _ in FOLLOWING], "B": [second for _, second in FOLLOWING]}
        show_numbers(pd.DataFrame(texts | values))
        say(topic_or_order(tried))


def _written_out(found: NextSentence) -> str:
    """The softmax over two logits with this pair's numbers, in LaTeX."""
    yes, no = found.logits
    return (
        r"\begin{aligned} P(\text{B follows A}) &= \frac{e^{z_1}}{e^{z_1} + e^{z_2}} = \frac{1}{1 + e^{z_2 - z_1}} \\"
        rf"&= \frac{{1}}{{1 + e^{{{no:.3f} - ({yes:.3f})}}}} = {in_tex(found.follows, 4)} \end{{aligned}}"
    )
