"""The screens of the inter-sentence lesson about an even spread: by hand, and what leaving tokens out does to it."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.values import Values
from lab.analysis.sentences.attention import MASS, RELATIVE, mean_cells
from lab.analysis.sentences.split import expected
from lab.charts.base.labels import visible
from lab.course.metric_cards import tex
from lab.course.pages import step_name
from lab.figures import sentences as figures
from lab.lessons.inter_sentence_attention import LESSON
from lab.lessons.inter_sentence_attention import checks as ask
from lab.lessons.inter_sentence_attention import meanings as means
from lab.lessons.inter_sentence_attention.view import SentencesView, choose_measure, choose_part
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameters import FROM_SENTENCE, KEPT, LEFT_OUT, SINKS, STEP
from lab.ui.quiz.blanks import blanks
from lab.ui.quiz.predictions import predict


def show_by_hand(view: SentencesView) -> None:
    """Mean mass and its correction for length, for one pair of sentences."""
    choose_part(view)
    a, b, found = view.a, view.b, view.found
    sent = view.cells(a, b).weights.sum(axis=1, dtype=np.float64)
    config = view.trace.model.config
    st.markdown(
        f"The table says what each token of sentence {a + 1} sends to sentence {b + 1}: its weights on those "
        f"{len(found.members[b])} tokens added up, then the mean over all {config.layers * config.heads} heads."
        + (f" {_out(view)} and what is left of each token’s row is divided by its sum." if view.left_out else "")
    )
    tokens = [visible(view.trace.labels[i], None) for i in found.members[a]]
    table = {"number": found.members[a] + 1, "token": tokens, "sends": sent}
    numbers = {"sends": st.column_config.NumberColumn(f"sends to sentence {b + 1}", format="%.4f")}
    st.dataframe(table, column_config=numbers, height="content", hide_index=True)
    _written_out(view, sent)
    meaning(means.per_length(view.trace, a, b, view.left_out))
    _own_turn(view)
    code(expected, mean_cells)


def _out(view: SentencesView) -> str:
    many = any(view.trace.encoding.special)
    return f"Here {view.outside} {'are' if many else 'is'} left out,"


def _written_out(view: SentencesView, sent: Values) -> None:
    """The mean of ``sent`` and its correction for length, in numbers."""
    a, b, found = view.a, view.b, view.found
    even = expected(found, len(view.trace), view.causal, a, b)
    terms = " + ".join(tex(float(value)) for value in sent[:3]) + (r" + \dots" if len(sent) > 3 else "")
    even_tex = tex(even) if view.causal else rf"\tfrac{{{len(found.members[b])}}}{{{view.counted}}}"
    mass, relative = (tex(float(values[a, b])) for values in (found.mass, found.relative))
    st.latex(
        rf"\begin{{aligned}} \text{{mass}} &= \tfrac{{1}}{{{len(sent)}}} ({terms}) \\ &= {mass} \\"
        rf"\text{{corrected}} &= {mass} \,/\, {even_tex} = {relative}"
        r"\end{aligned}"
    )
    st.markdown(
        f"Sentence {b + 1} has {len(found.members[b])} of the {view.counted} tokens that are counted. A token of "
        f"sentence {a + 1} that spreads its attention evenly over {view.spread} sends {even:.3f} there"
        + (", on average over the queries. " if view.causal else ". ")
        + "If it sends just that much, the corrected value is **1**."
    )


def _own_turn(view: SentencesView) -> None:
    """The learner's own turn with another pair: the way back, or where there is none what stays in the sentence."""
    found = view.found
    others = ((view.b, view.a), (view.a, view.a), (len(view.sentences) - 1, 0))
    a, b = next(pair for pair in others if pair != (view.a, view.b) and found.where[pair][0] >= 0)
    even = expected(found, len(view.trace), view.causal, a, b)
    st.markdown(
        f"Now you: a token of sentence {a + 1} sends {found.mass[a, b]:.3f} to sentence {b + 1}; spread evenly it "
        f"would send {even:.3f}. What is the length-corrected value?"
    )
    right = blanks(
        {"Length-corrected": float(f"{found.mass[a, b]:.3f}") / float(f"{even:.3f}")},
        f"Divide {found.mass[a, b]:.3f} by {even:.3f}.",
        f"_sentences.{hash(view.trace.token_ids)}.{a}.{b}.{view.left_out}",
    )
    if right:
        st.success(ask.above_or_below(found, a, b, view.spread), icon=":material/check:")
        _say_all_below(view)


def _say_all_below(view: SentencesView) -> None:
    """Why a whole matrix can lie below 1, if it does."""
    values = view.found.relative[np.isfinite(view.found.relative)]
    if view.left_out or not view.can_leave_out or (values >= 1).any():
        return
    st.markdown(
        f"All {values.size} values of this matrix are below 1: {view.outside} took "
        f"{view.apart.removed.mean():.1%} of the attention, so every sentence gets less than an even spread over all "
        "tokens. To compare sentences with each other, leave these tokens out."
    )


def show_specials(view: SentencesView) -> None:
    """What special tokens, or the first token, take, and the matrix without them."""
    if not view.can_leave_out:
        st.info(f"Sentence 1 would have no token without {view.outside}. Write a longer one.", icon=":material/edit:")
        return
    question = ask.where_it_goes(view.apart, view.a, view.outside)
    if not predict(LESSON, question):
        return
    draw(partial(figures.everywhere, view.trace, view.a), "with-specials")
    above = " Cells above the diagonal are 0: the model cannot look there." if view.causal else ""
    st.markdown(f"Each row adds up to 1. The last column is what goes to {view.outside}.{above}")
    meaning(means.taken(view.trace, view.a, view.outside))
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
    share, even = means.taken_and_even(view.trace, view.a)
    if share < means.MUCH * even:
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
            draw(partial(figures.matrix, view.trace, measure, cell, title, top, left_out), f"matrix-{name[:3]}")
    before, after = (float(values[cell]) for values in both)
    return before, after
