"""The screen of BERT's other training task: does the second text follow the first?"""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.words.next_sentence import NextSentence, next_sentence
from lab.analysis.words.predictions import follows
from lab.course.words import in_tex, quoted, share, signed
from lab.lessons.masked_language_model import likelihood_checks as ask
from lab.lessons.masked_language_model.view import LESSON, numbers_table
from lab.models import forward
from lab.models.catalogue import twin_of
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.drawing import code
from lab.ui.quiz.predictions import predict
from lab.ui.sidebar import use_texts

FOLLOWING = ("The children went to the park.", "They played there until it was dark.")
UNRELATED = ("The children went to the park.", "The bank raised its interest rates again.")
_LETTERS = 60  # of a text that is named in a sentence


def show_next_sentence(trace: Trace) -> Trace:
    """P(B follows A) from [CLS], both orders, and the softmax written out; returns the run that was asked.

    Without a pair of the learner's it is an example's, and says so.
    """
    st.markdown(
        "BERT was trained on pairs, too: half of the time B was the text that followed A in its source, otherwise a "
        "random one. A head of its own reads [CLS] and gives two logits (Devlin et al. 2019, §3.1, task 2)."
    )
    if trace.model.weights.pair_head is None:
        st.info(
            f"{quoted(trace.model.id)} has no next-sentence head: GPT-2, DistilBERT and RoBERTa were trained without "
            "this task. Choose lab-bert in the sidebar to see it.",
            icon=":material/info:",
        )
        return trace
    _offer(trace)
    if trace.pair is None:
        st.info(
            "**An example pair**, because your text has no second sentence. Type one in the sidebar to ask about your "
            "own.",
            icon=":material/lightbulb:",
        )
        trace = runs.run(trace.model.id, *FOLLOWING, Interventions())
    found = next_sentence(trace)
    if found is None:
        return trace
    st.markdown(f"A: {_told(trace.text)}  \nB: {_told(trace.pair or '')}")
    question = ask.follows_band(found.follows)
    if question is None or predict(LESSON, question):
        _show(trace, found)
    return trace


def _told(text: str) -> str:
    return quoted(text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…")


def _offer(trace: Trace) -> None:
    """Two pairs to begin with, and the learner's own the other way round."""
    with st.container(horizontal=True):
        st.button(
            "A pair that follows", icon=":material/link:", on_click=use_texts, args=FOLLOWING, key="_pair.following"
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
    st.latex(_written_out(found))
    table = pd.DataFrame(
        {
            "order": ["A, then B", "B, then A"],
            "logit: follows": [found.logits[0], found.swapped_logits[0]],
            "logit: does not": [found.logits[1], found.swapped_logits[1]],
            "P(follows)": [found.follows, found.swapped],
        }
    )
    numbers_table(table)
    change = signed(found.swapped - found.follows, 4, plus=True)
    st.markdown(f"Swapping the two texts changes the probability by **{change}**.")
    code(forward.pair_logits, follows)


def _written_out(found: NextSentence) -> str:
    """The softmax over two logits with this pair's numbers, in LaTeX."""
    yes, no = found.logits
    return (
        r"\begin{aligned} P(\text{B follows A}) &= \frac{e^{z_1}}{e^{z_1} + e^{z_2}} = \frac{1}{1 + e^{z_2 - z_1}} \\"
        rf"&= \frac{{1}}{{1 + e^{{{no:.3f} - ({yes:.3f})}}}} = {in_tex(found.follows, 4)} \end{{aligned}}"
    )
