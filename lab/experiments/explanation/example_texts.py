"""The texts behind the means: some in which attention and leave-one-out agree, and some in which they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from lab.course.words import escaped, quoted, signed
from lab.experiments.explanation.learners_order import NOT_PLAIN
from lab.experiments.explanation.measure import ExplanationTest, asked_texts
from lab.experiments.explanation.methods import ATTENTION, AskedWord, Importance
from lab.models.encoding import word_of
from lab.models.loading import LoadedModel
from lab.ui.experiments.claim_table import two_kinds
from lab.ui.experiments.page import asking_step, look_there
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import FLOW_LAYER, TOKEN


def show_texts(model: LoadedModel, found: ExplanationTest) -> None:
    """Draw the texts in which attention and leave-one-out agree most, and others in which they agree least."""
    st.markdown(
        "The token that matters most by leave-one-out is green; the token with the largest weight in the last layer is "
        "orange. A token that is both is green."
    )
    rho = found.own.rho[ATTENTION][:, -1]
    asked = [each for _, _, each in asked_texts(model)]
    order = [at for at in np.argsort(-rho).tolist() if not NOT_PLAIN.search(asked[at].text)]
    half = len(order) // 2
    kinds = {"They agree": order[:half], "They do not": order[half:][::-1]}

    def draw(at: int, key: str) -> None:
        _show_case(model, asked[at], found.texts[at].importance, float(rho[at]), key)

    two_kinds(kinds, draw, "Other texts")


def _show_case(model: LoadedModel, asked: AskedWord, one: Importance, rho: float, key: str) -> None:
    with st.container(border=True):
        st.markdown(marked(model, asked, one))
        expected = word_of(model.tokenizer, one.predicted).strip("␣")
        st.caption(
            f"The model expects {quoted(expected)}, with the probability {np.exp(one.log_p):.2f}. The ρ of the two "
            f"orders is {signed(rho)}."
        )
        with st.container(horizontal=True):
            flow: dict[Parameter[Any], Any] = {TOKEN: asked.place + 1, FLOW_LAYER: 0}
            look_there("flow", asked.text, flow, f"_experiment.flow.{key}", "rollout")
            look_there("masked-language-model", asked.text, {}, f"_experiment.lesson.{key}", asking_step(model))


def marked(model: LoadedModel, asked: AskedWord, one: Importance) -> str:
    """The text as Markdown: blue is the asked place, orange the token with most attention, green the one that matters.

    Words are spelled as in the text: a token that is a part of a word is coloured inside the word.
    """
    heaviest, most = one.scores[ATTENTION][-1].argmax(), np.abs(one.left_out).argmax()
    colours = {asked.context[int(heaviest)]: "orange", asked.context[int(most)]: "green"}
    if not asked.next:
        colours[asked.place] = "blue"
    text, read, marked = asked.encoding.text, 0, ""
    for at, (start, end) in enumerate(asked.encoding.offsets):
        piece = text[max(start, read) : end].strip()
        if asked.encoding.special[at] or not piece:
            continue
        begins = text.index(piece, read)
        between, read = text[read:begins], begins + len(piece)
        marked += " " if between.isspace() else escaped(between)
        marked += f":{colours[at]}-background[{escaped(piece)}]" if at in colours else escaped(piece)
    return marked
