"""Through the layers: one token's states as strips, how far layers turn them, and the words that they are like."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.layers.states import States, states
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.strips import strips
from lab.course.pages import lesson_of, number, page_path
from lab.course.words import quoted, signed, told_apart
from lab.figures.choices import PLAIN
from lab.lessons.feed_forward.view import FeedForwardView, show_sentence
from lab.models.encoding import word_of
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning
from lab.ui.frame.header import idea
from lab.ui.parameters import READ_WITH, STEP
from lab.ui.tables import show_table
from lab.ui.terms import say

IDEA = """
One token is one vector, and each layer changes it. Follow it from the input to the last layer. How far does each
layer turn it? In the end, is it still like its own word?"""
_DRAWN = 64


def show(view: FeedForwardView) -> None:
    """Draw a strip for each state of the chosen token, and a table of the words that the states are like."""
    idea(IDEA)
    show_sentence(view)
    draw(partial(strips_of_states, view.trace, view.token), "states")
    drawn = min(_DRAWN, view.config.width)
    st.caption(
        f"Each row is a vector after a whole layer, LayerNorm included. You see the first {drawn} of "
        f"{view.config.width} dimensions, and each vector is divided by its length."
    )
    found = states(view.trace, view.token)
    table = words_and_turns(view.trace, found)
    show_table(table, formats=dict.fromkeys(table.select_dtypes("number").columns, "%.2f"))
    meaning(said(view.trace, view.token))
    say(
        "A word begins as a row of the token table, but it need not end near any row. The **logit lens** asks another "
        "question: which word would the model’s own **vocabulary head** read here?"
    )
    lens = lesson_of("masked-language-model")
    name = lens.step("logit-lens").name
    label, step = f"{name}, lesson {number(lens)}", {STEP.name: name, READ_WITH.name: PLAIN}
    st.page_link(page_path(lens.page), label=label, icon=lens.icon, query_params=step)
    code(states)


def strips_of_states(traced: Trace, token: int) -> Heatmap:
    """Draw the states of ``token`` as rows of length 1; of a wide model, only the first 64 dimensions."""
    vectors = states(traced, token).vectors
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, sizes, out=np.zeros_like(vectors), where=sizes > 0)
    return strips(unit[:, :_DRAWN], _names(len(unit)), title=f"{traced.labels[token]} ({token + 1}), layer by layer")


def _names(count: int) -> list[str]:
    return ["input", *(f"after layer {layer}" for layer in range(1, count))]


def words_and_turns(trace: Trace, found: States) -> pd.DataFrame:
    """List for each state how far it is turned from the state above, and the word whose row it is most like."""
    return pd.DataFrame(
        {
            "state": _names(len(found.vectors)),
            "cosine with the row above": [np.nan, *found.turned],
            "most like": [word_of(trace.model.tokenizer, each) for each in found.nearest],
            "its cosine": found.cosine,
            "mean of all words": found.mean,
        }
    )


def said(trace: Trace, token: int) -> str:
    """Say which layer turns the token most, and whether the last state is still most like the token's own word."""
    found, word = states(trace, token), told_apart(trace, token)
    most = int(found.turned.argmin())
    last, own = len(found.vectors) - 1, trace.token_ids[token]
    turned = (
        f"Layer {most + 1} turns {word} most: the cosine of the vectors before and after this layer is "
        f"{signed(found.turned[most])}."
        if len(found.turned) > 1
        else f"The cosine of {word} before and after the layer is {signed(found.turned[0])}."
    )
    left = next((at for at, each in enumerate(found.nearest) if each != own), None)
    if left is None:
        kept = "After each layer, the vector is still most similar to its own row."
    else:
        name = quoted(word_of(trace.model.tokenizer, found.nearest[last]))
        kept = (
            f"After the last layer, the vector is most similar to the row of {name}: the cosine is "
            f"{signed(found.cosine[last])}, and the mean over all words is {signed(found.mean[last])}. Its cosine "
            f"with its own row is {signed(found.own[last])}."
        )
    return f"{turned} {kept}"
