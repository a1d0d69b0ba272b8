"""The screens of the inter-sentence lesson, one function a step."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.values import Values
from lab.analysis.sentences import attention
from lab.analysis.sentences.attention import MAXIMUM
from lab.analysis.sentences.split import MOST, expected
from lab.course.words import quoted
from lab.figures import sentences as figures
from lab.lessons.inter_sentence_attention import LESSON, checks, meanings, what_if
from lab.lessons.inter_sentence_attention.behind import show_tokens
from lab.lessons.inter_sentence_attention.view import (
    MATRIX,
    SentencesView,
    choose_measure,
    choose_part,
    counted,
    say_sinks,
)
from lab.questions.toys import pair_checks
from lab.toy.pairs import PAIRED
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import FROM_SENTENCE, MEASURE, PAIR, TEXT, TO_SENTENCE
from lab.ui.quiz.asking import draw_checks
from lab.ui.quiz.predictions import predict
from lab.ui.tables import show_table

# A sentence to add, and the length of a text, in characters, to which it is.
_LONG, _ROOM = "The children, who had looked for it in every street of the town, were very glad.", 600


def show_sentences(view: SentencesView) -> None:
    """Which sentences there are, and that nothing was encoded anew for them."""
    config, sentences = view.trace.model.config, view.sentences
    places = [sentences.places(number) for number in range(len(sentences))]
    st.markdown(
        "The model does not read sentence by sentence. It reads one row of tokens, so attention can cross from a "
        f"sentence to another. A program called Punkt (Kiss & Strunk 2006) finds **{len(sentences)} sentences** here. "
        "It knows that a common abbreviation like “Dr.” ends none."
    )
    table = pd.DataFrame(
        {
            "sentence": [" ".join(text.split()) for text in sentences.texts],
            **({"text": ["B" if second else "A" for second in sentences.in_pair]} if any(sentences.in_pair) else {}),
            "tokens": [len(own) for own in places],
            "from token": [own[0] + 1 for own in places],
            "to token": [own[-1] + 1 for own in places],
        },
        index=range(1, len(sentences) + 1),
    )
    show_table(table, numbered=True)
    pair = view.trace.pair is not None
    st.markdown(
        f"The model read {len(view.trace)} tokens at once, "
        + ("as two texts, a pair." if pair else "as one text. No extra input tells it where a sentence ends.")
        + _in_no_sentence(view)
    )
    meaning(meanings.lengths(view.trace))
    _try_longer(view)
    maps = config.layers * config.heads
    st.markdown(
        f":material/arrow_downward: **On the way.** {maps} maps of {len(view.trace)} × {len(view.trace)} weights "
        f"become one matrix of {len(sentences)} × {len(sentences)}."
    )


def _try_longer(view: SentencesView) -> None:
    """Another sentence after the last one."""
    text, pair = view.trace.text, view.trace.pair
    if view.is_toy or (pair or text).endswith(_LONG) or len(text) > _ROOM or len(view.sentences) == MOST:
        return
    changes: dict[Parameter[Any], Any] = {TEXT: f"{text} {_LONG}"} if pair is None else {PAIR: f"{pair} {_LONG}"}
    try_this("Add a longer sentence. What does an even spread give to each one then?", "Add a sentence", changes)


def _in_no_sentence(view: SentencesView) -> str:
    """The tokens that no sentence has, as a sentence; empty if there are none."""
    encoding = view.trace.encoding
    tokens = dict.fromkeys(token for token, special in zip(encoding.tokens, encoding.special, strict=True) if special)
    parts = [quoted(token) for token in tokens]
    if view.sentences.blanks:
        parts.append("white space between sentences")
    if view.sentences.left_out:
        parts.append("the sentences left out")
    return f" These tokens are in no sentence: {', '.join(parts)}." if parts else ""


def show_matrix(view: SentencesView) -> None:
    """Sentence by sentence; a click shows the tokens behind a number."""
    seen_before = checks.BOTH_HEADS if view.trace.model.id == PAIRED else checks.NEARBY
    question = counted(view, checks.keeps_or_sends(view.found, view.a, seen_before))
    if not predict(LESSON, question):
        return
    choose_part(view)
    measure = choose_measure(view)
    values, cell = view.values(measure, view.left_out), (view.a, view.b)
    call = partial(figures.matrix, view.trace, measure, cell, left_out=view.left_out)
    draw(call, MATRIX, clickable=True)
    st.markdown(
        f"From sentence {view.a + 1} to sentence {view.b + 1}: **{values[view.a, view.b]:.3f}**."
        f"{_way_back(view, values)} Rows are the sentences that attend (queries), columns those attended to (keys). "
        "Click a cell to choose another pair."
    )
    say_sinks(view, measure)
    meaning(meanings.sent(view.trace, view.a, view.b, view.left_out))
    _try_strongest(view, measure)
    st.markdown("**How to read the matrix**")
    st.markdown("\n".join(f"- {each}" for each in meanings.reading(view.trace, view.left_out)))
    show_tokens(view, measure)
    code(attention.between_sentences)


def _way_back(view: SentencesView, values: Values) -> str:
    """The cell of the other direction, where there is one."""
    if view.a == view.b or view.causal:
        return ""
    return f" The other way, from {view.b + 1} to {view.a + 1}: {values[view.b, view.a]:.3f}."


def _try_strongest(view: SentencesView, measure: str) -> None:
    """The pair of sentences between which most crosses for their length; on it, the largest weight of any head."""
    relative = np.where(np.isfinite(view.found.relative), view.found.relative, -1.0)
    np.fill_diagonal(relative, -1.0)
    a, b = (int(place) for place in np.unravel_index(int(relative.argmax()), relative.shape))
    if (a, b) != (view.a, view.b):
        why = f"For its length, most crosses from sentence {a + 1} to sentence {b + 1}. Which tokens carry it?"
        try_this(why, f"{a + 1} to {b + 1}", {FROM_SENTENCE: a + 1, TO_SENTENCE: b + 1})
    elif measure != MAXIMUM:
        why = "the largest weight of any head. Do the two tokens behind it belong together?"
        try_this(why, MAXIMUM, {MEASURE: MAXIMUM})


def show_checks(view: SentencesView) -> None:
    """Questions on these sentences."""
    if view.trace.model.id == PAIRED:
        draw_checks(LESSON, pair_checks(*(text.split() for text in view.sentences.texts)), most=4)
        return
    found, a, b = view.found, view.a, view.b
    if a == b:
        a, b = len(view.sentences) - 1, 0
    even = expected(found, len(view.trace), view.causal, a, b)
    # Within a sentence, as the even share from one to the other is asked for beside it.
    within = expected(found, len(view.trace), view.causal, a, a)
    trace, out, counting = view.trace, view.left_out, partial(counted, view)
    turned = checks.other_order(found, what_if.exchanged(trace, out), view.sentences.texts)
    draw_checks(
        LESSON,
        (
            counting(checks.why_less(found)),
            turned if view.causal else counting(turned),
            counting(checks.one_weight(found)),
            checks.into_the_future(found, view.causal),
            checks.left_out(view.kept, view.without, a, view.outside),
            counting(checks.without_positions(found, what_if.unplaced(trace, out))),
            counting(checks.even_share(found, view.counted, even, a, b)),
            counting(checks.corrected(found, within, a, a)),
            checks.to_specials(view.apart, a, view.outside),
        ),
        most=4,
        text="" if trace.text == view.page.selection[TEXT] else trace.text,
    )
