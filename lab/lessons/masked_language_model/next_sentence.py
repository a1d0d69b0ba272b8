"""Next sentence: BERT's other training task, for which it reads [CLS]. Does the second text follow the first?"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.words.predictions import PairsTried, follows, next_sentence, try_pairs
from lab.course.sentences.examples import FOLLOWING
from lab.course.words import quoted, share
from lab.lessons.masked_language_model.view import show_numbers
from lab.models import forward
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.drawing import code
from lab.ui.screen import caption, meaning, say
from lab.ui.texts import use_texts

UNRELATED = (FOLLOWING[0][0], "The bank raised its interest rates again.")
_LETTERS = 60  # characters of a text that a sentence names
_TASK = (
    "BERT was trained on pairs of texts, too. In half of them, text B followed text A; in the other half, B was any "
    "text. The **next-sentence head** reads only the vector of [CLS] and says which of the two it is: so this token, "
    "which is not a word, had a task of its own."
)
_NONE = (
    "{model} has no next-sentence head. GPT-2, DistilBERT and RoBERTa were trained without this task. Choose "
    f"{DEFAULT_MODEL} in the sidebar to see it."
)
_EXAMPLE = "This is an example pair. Type a second sentence in the sidebar to ask about a pair of yours."
READING = "“B follows A” has the probability **{follows}**. If A and B change places, it is {swapped}."
MANY = (
    "Over {count} pairs, the mean probability is {a:.2f} in order, {b:.2f} swapped, and {c:.2f} with the second text "
    "of another pair. The right second text wins in {together} of {count} pairs, the right order in {ordered}."
)
WRITTEN = (
    "So, in these pairs, lab-minilm tells which text belongs to the first, but not in which order. Lan et al. 2020 "
    "(§3.1) suppose the same of BERT: a topic is easier to learn."
)


def show(trace: Trace) -> Trace:
    """Show P(B follows A), read from [CLS], in both orders; return the run that the first comes from.

    If the learner has no pair, the run is about an example, and the page says so.
    """
    say(_TASK)
    if not trace.model.pairs:
        st.info(_NONE.format(model=quoted(trace.model.id)), icon=":material/info:")
        return trace
    _show_pairs(trace)
    if trace.pair is None:
        st.caption(_EXAMPLE)
        trace = runs.run(trace.model.id, *FOLLOWING[0], Interventions())
    found = next_sentence(trace)
    if found is None:
        return trace
    say(f"A: {_told(trace.text)}  \nB: {_told(trace.pair or '')}")
    meaning(READING.format(follows=share(found.follows), swapped=share(found.swapped)))
    with st.expander(f"The same for {len(FOLLOWING)} pairs", on_change="rerun", key="_many_pairs") as many:
        if many.open:
            _show_many(trace)
    code(forward.pair_logits, follows)
    return trace


def _show_pairs(trace: Trace) -> None:
    """Offer two pairs to begin with, and the learner's own pair in the other order."""
    offers = {"A pair that follows": FOLLOWING[0], "A random pair": UNRELATED}
    if trace.pair:
        offers["Swap A and B"] = (trace.pair, trace.text)
    with st.container(horizontal=True):
        for label, texts in offers.items():
            st.button(label, on_click=partial(use_texts, *texts), key=f"_pair.{label}")


def _show_many(trace: Trace) -> None:
    """Ask the model about the lab's pairs, each in three runs."""
    tried = try_pairs(trace.model, FOLLOWING)
    values = {"in order": tried.follows, "swapped": tried.swapped, "another second text": tried.mixed}
    texts = {"A": [first for first, _ in FOLLOWING], "B": [second for _, second in FOLLOWING]}
    show_numbers(pd.DataFrame({**texts, **values}))
    caption(counted(tried) + (f" {WRITTEN}" if trace.model.id == DEFAULT_MODEL else ""))


def _told(text: str) -> str:
    return quoted(text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…")


def counted(tried: PairsTried) -> str:
    """Say the means over the pairs, and in how many the right text and the right order win."""
    right, swapped, mixed = (np.array(each) for each in (tried.follows, tried.swapped, tried.mixed))
    wins = {"together": int((right > mixed).sum()), "ordered": int((right > swapped).sum())}
    return MANY.format(count=len(right), a=right.mean(), b=swapped.mean(), c=mixed.mean(), **wins)
