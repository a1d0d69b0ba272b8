"""Toy mode on screen: synthetic sentences, their validation and summary, and the one to look at."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from lab.models.trace import Trace
from lab.toy.data import ToyData, as_text, summarise, validate
from lab.ui import cached
from lab.ui.lesson import LessonPage
from lab.ui.selection import RANDOM, Selection


def _data(chosen: Selection) -> ToyData:
    return cached.toy_data(chosen.toy_vocabulary, chosen.toy_length, chosen.toy_count, chosen.toy_seed)


def toy_trace(page: LessonPage) -> Trace:
    """The chosen number sentence through the chosen toy; says which toy it is."""
    chosen = page.selection
    data = _data(chosen)
    number = min(chosen.toy_sentence, len(data.sentences))
    if chosen.toy_weights == RANDOM:
        st.info("Random weights: nothing is learned here. Compare with a trained model.", icon=":material/casino:")
    else:
        st.info(
            "Weights written by hand: head 1 looks at the previous token, head 2 at equal tokens, head 3 at all alike.",
            icon=":material/construction:",
        )
    return cached.toy_run(
        chosen.toy_weights, chosen.toy_vocabulary, chosen.toy_length, chosen.toy_seed,
        as_text(data.sentences[number - 1]),
    )  # fmt: skip


def show_toy_data(page: LessonPage) -> None:
    """The synthetic data, checked and summed up."""
    data = _data(page.selection)
    st.markdown("Sentences of made-up words: each number is a word, drawn at random with the seed in the sidebar.")
    st.dataframe(
        pd.DataFrame({"sentence": [as_text(s) for s in data.sentences], "length": [len(s) for s in data.sentences]},
                     index=range(1, len(data.sentences) + 1)),
        height=240,
    )  # fmt: skip
    st.markdown("**Data validation**")
    st.dataframe(validate(data), hide_index=True)
    st.markdown("**Summary**")
    st.dataframe(summarise(data), hide_index=True)
