"""The screen of the inter-sentence lesson about the tokens that are in no sentence."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.sentences.attention import MASS
from lab.course.pages import step_name
from lab.figures import sentences
from lab.lessons.inter_sentence_attention import LESSON, checks, meanings
from lab.lessons.inter_sentence_attention.view import SentencesView
from lab.ui.drawing import draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import FROM_SENTENCE, KEPT, LEFT_OUT, SINKS, STEP
from lab.ui.quiz.predictions import predict
from lab.ui.terms import say


def show_specials(view: SentencesView) -> None:
    """Draw the shares of special tokens (or of the first token), and the map with and without these tokens."""
    if not view.can_leave_out:
        st.info(
            f"Sentence 1 would have no token without {view.outside}. Write a longer sentence.", icon=":material/edit:"
        )
        return
    question = checks.where_it_goes(view.apart, view.a, view.outside)
    if not predict(LESSON, question):
        return
    draw(partial(sentences.everywhere, view.trace, view.a), "with-specials")
    above = " The cells above the diagonal are 0, because the model cannot look there." if view.causal else ""
    st.caption(f"Each row adds up to 100%. The last column has the share of {view.outside}.{above}")
    meaning(meanings.taken(view.trace, view.a, view.outside))
    _say_why(view)
    _try_another(view)
    with st.expander(f"The map with {view.outside} and without", on_change="rerun", key="_both_maps") as both:
        if both.open:
            _draw_both(view)


def _try_another(view: SentencesView) -> None:
    """Offer the sentence with the largest share for these tokens; from there, the map that counts these tokens."""
    most = int(view.apart.removed.argmax())
    if most != view.a:
        why = f"sentence {most + 1} gives them most. See how much."
        try_this(why, f"From sentence {most + 1}", {FROM_SENTENCE: most + 1})
    else:
        counted = {SINKS: LEFT_OUT if SINKS.chosen() == KEPT else KEPT, STEP: step_name(LESSON, "matrix")}
        label = "left out" if SINKS.chosen() == KEPT else "counted"
        try_this(f"the map of sentences, with {view.outside} {label}.", label.capitalize(), counted)


def _say_why(view: SentencesView) -> None:
    """Say how papers explain that special (or first) tokens get much attention."""
    share, even = meanings.taken_and_even(view.trace, view.a)
    if share < meanings.MUCH * even:
        return
    if any(view.trace.encoding.special):
        st.caption(
            "In BERT base, too, more than half of the attention in layers 6 to 10 goes to [SEP] (Clark et al. 2019, "
            "§3.2). The authors suppose that a head looks there when it finds nothing to do: a **no-op**."
        )
    elif view.causal:
        st.caption(
            "Xiao et al. 2024 (§3.1) call such a token an **attention sink**: each token must spend a total of 1, and "
            "every token can see the first one."
        )


def _draw_both(view: SentencesView) -> None:
    """Draw the map with and without special (or first) tokens, on one scale; name the chosen cell of both maps."""
    cell = (view.a, view.b)
    for column, left_out, name in zip(st.columns(2), (False, True), ("with", "without"), strict=True):
        with column:
            title = f"{name.capitalize()} these tokens"
            draw(partial(sentences.matrix, view.trace, MASS, cell, title, 1.0, left_out), f"matrix-{name}")
    before, after = (float(view.values(MASS, left_out)[cell]) for left_out in (False, True))
    say(
        f"From sentence {view.a + 1} to sentence {view.b + 1}: {before:.3f} with all tokens, **{after:.3f}** with "
        f"{view.outside} left out. Then each row is divided by its sum, so that it adds up to 100% again."
    )
