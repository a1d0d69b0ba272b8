"""The screens of the inter-sentence lesson about an even spread: by hand, and what leaving tokens out does to it."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.sentences.attention import MASS, RELATIVE
from lab.course.pages import step_name
from lab.figures import sentences
from lab.lessons.inter_sentence_attention import LESSON, checks, meanings
from lab.lessons.inter_sentence_attention.view import SentencesView, choose_measure
from lab.ui.drawing import draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameters import FROM_SENTENCE, KEPT, LEFT_OUT, SINKS, STEP
from lab.ui.quiz.predictions import predict


def show_specials(view: SentencesView) -> None:
    """What special tokens, or the first token, take, and the matrix without them."""
    if not view.can_leave_out:
        st.info(f"Sentence 1 would have no token without {view.outside}. Write a longer one.", icon=":material/edit:")
        return
    question = checks.where_it_goes(view.apart, view.a, view.outside)
    if not predict(LESSON, question):
        return
    draw(partial(sentences.everywhere, view.trace, view.a), "with-specials")
    above = " Cells above the diagonal are 0: the model cannot look there." if view.causal else ""
    st.markdown(f"Each row adds up to 1. The last column is what goes to {view.outside}.{above}")
    meaning(meanings.taken(view.trace, view.a, view.outside))
    _say_why(view)
    st.markdown(f"Now leave {view.outside} out, and divide what is left of each token’s row by its sum:")
    measure = choose_measure(view)
    before, after = _draw_both(view, measure)
    st.markdown(
        f"From sentence {view.a + 1} to sentence {view.b + 1}: {before:.3f} with all tokens, **{after:.3f}** with "
        f"{view.outside} left out."
    )
    if measure == RELATIVE:
        st.markdown(
            f"On the left, 1 is an even spread over all {len(view.trace)} tokens; on the right, over the "
            f"{sum(len(own) for own in view.without.members)} that stay."
        )
    most = int(view.apart.removed.argmax())
    if most != view.a:
        why = f"Sentence {most + 1} sends most there. See how much."
        try_this(why, f"From sentence {most + 1}", {FROM_SENTENCE: most + 1})
    else:
        counted = {SINKS: LEFT_OUT if SINKS.chosen() == KEPT else KEPT, STEP: step_name(LESSON, "matrix")}
        label = "Left out" if SINKS.chosen() == KEPT else "Counted"
        try_this(f"Back to the matrix, with what goes to {view.outside} {label.lower()}.", label, counted)


def _say_why(view: SentencesView) -> None:
    """What the papers say about attention to such tokens, where it is much."""
    share, even = meanings.taken_and_even(view.trace, view.a)
    if share < meanings.MUCH * even:
        return
    if any(view.trace.encoding.special):
        st.markdown(
            "In BERT base, more than half of the attention in layers 6 to 10 goes to [SEP] (Clark et al. 2019, §3.2). "
            "The authors conjecture that this is a **no-op**, an operation that does next to nothing: a head looks "
            "there when what it looks for is not in the text."
        )
    elif view.causal:
        st.markdown(
            "Xiao et al. 2024 (§3.1) call such a token an **attention sink**: softmax makes each query spend 1 in all, "
            "and every query can see the first token."
        )


def _draw_both(view: SentencesView, measure: str) -> tuple[float, float]:
    """The matrix as it is and with those tokens left out, on one scale; the chosen cell of both."""
    both, cell = [view.values(measure, left_out) for left_out in (False, True)], (view.a, view.b)
    # Shares of attention have the colours that they have in the figure above.
    top = 1.0 if measure == MASS else float(np.nanmax(both))
    for column, left_out, name in zip(st.columns(2), (False, True), ("all tokens", "left out"), strict=True):
        with column:
            title = f"{measure}, {name}"
            draw(partial(sentences.matrix, view.trace, measure, cell, title, top, left_out), f"matrix-{name[:3]}")
    before, after = (float(values[cell]) for values in both)
    return before, after
