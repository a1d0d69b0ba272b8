"""The screens of the inter-sentence lesson about all sentences: their list, their map, and the checks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.sentences import attention
from lab.analysis.sentences.attention import MASS, MAXIMUM, RELATIVE
from lab.analysis.sentences.split import MOST
from lab.course.pages import lesson_of
from lab.figures import sentences as figures
from lab.lessons.inter_sentence_attention import LESSON, checks, meanings, what_if
from lab.lessons.inter_sentence_attention.behind import show_every_maximum
from lab.lessons.inter_sentence_attention.view import MATRIX, SentencesView, choose_part, counted, readings
from lab.questions.toys import pair_checks
from lab.toy.pairs import PAIRED
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import FROM_SENTENCE, KEPT, MEASURE, PAIR, SINKS, TEXT, TO_SENTENCE
from lab.ui.quiz.asking import draw_checks
from lab.ui.quiz.predictions import predict
from lab.ui.tables import show_table
from lab.ui.terms import say

# A sentence to add, and the length of a text, in characters, up to which the sentence is offered.
_LONG, _ROOM = "The children, who had looked for it in every street of the town, were very glad.", 600


_OWN = " This lesson has its own text; you can type yours in the sidebar."


def show_sentences(view: SentencesView) -> None:
    """List the sentences, which the model reads as one row of tokens."""
    sentences, n = view.sentences, len(view.trace)
    say(
        f"The model does not read sentence by sentence. It reads one row of {n} tokens"
        f"{' (two texts)' if view.trace.pair is not None else ''}, and "
        + (
            "each token can look at all tokens before it, even in earlier sentences."
            if view.causal
            else "each token can look at all other tokens, even in other sentences."
        )
    )
    table = pd.DataFrame(
        {
            "sentence": [" ".join(text.split()) for text in sentences.texts],
            **({"text": ["B" if second else "A" for second in sentences.in_pair]} if any(sentences.in_pair) else {}),
            "tokens": [len(sentences.places(number)) for number in range(len(sentences))],
            "first token": [sentences.places(number)[0] + 1 for number in range(len(sentences))],
        },
        index=range(1, len(sentences) + 1),
    )
    show_table(table, numbered=True)
    st.caption(
        f"A program called Punkt (Kiss & Strunk 2006) finds **{len(sentences)} sentences** here. The model itself is "
        f"not "
        f"told where a sentence ends.{_OWN * (view.trace.text == lesson_of(LESSON).text)}"
    )
    meaning(meanings.lengths(view.trace, view.left_out))
    _try_longer(view)


def _try_longer(view: SentencesView) -> None:
    """Offer to add a sentence after the last one."""
    text, pair = view.trace.text, view.trace.pair
    if view.is_toy or (pair or text).endswith(_LONG) or len(text) > _ROOM or len(view.sentences) == MOST:
        return
    changes: dict[Parameter[Any], Any] = {TEXT: f"{text} {_LONG}"} if pair is None else {PAIR: f"{pair} {_LONG}"}
    try_this("add a longer sentence. What would a uniform head give to each sentence then?", "Add a sentence", changes)


def show_matrix(view: SentencesView) -> None:
    """Draw the map, which shows how much each sentence looks at each other one."""
    seen_before = checks.BOTH_HEADS if view.trace.model.id == PAIRED else ""
    question = counted(view, checks.keeps_or_sends(view.found, view.a, seen_before))
    if not predict(LESSON, question):
        return
    cell = (view.a, view.b)
    draw(partial(figures.sentence_map, view.trace, cell, view.left_out), MATRIX, clickable=True)
    st.caption(f"{readings(view)[MASS]} Click a cell to choose it.")
    meaning(meanings.sent(view.trace, view.a, view.b, view.left_out))
    if view.a != view.b:
        st.caption(meanings.other_way(view.trace, view.a, view.b, view.left_out))
    _try_another(view)
    with st.expander("How to read the map", on_change="rerun", key="_reading") as reading:
        if reading.open:
            say("\n".join(f"- {each}" for each in meanings.reading(view.trace, view.left_out)))
    otherwise = MEASURE.chosen() != MASS or SINKS.chosen() == KEPT
    with st.expander("Count otherwise", expanded=otherwise, on_change="rerun", key="_otherwise") as counting:
        if counting.open:
            _count_otherwise(view)
    code(attention.between_sentences)


def _try_another(view: SentencesView) -> None:
    """Offer the two sentences between which most attention crosses, relative to length; from there, the way back."""
    relative = np.where(np.isfinite(view.found.relative), view.found.relative, -1.0)
    np.fill_diagonal(relative, -1.0)
    a, b = (int(place) for place in np.unravel_index(int(relative.argmax()), relative.shape))
    if (a, b) != (view.a, view.b):
        why = f"for its length, most attention crosses from sentence {a + 1} to sentence {b + 1}. Look at that cell."
        try_this(why, f"{a + 1} to {b + 1}", {FROM_SENTENCE: a + 1, TO_SENTENCE: b + 1})
    elif not view.causal:
        why = f"look the other way, from sentence {b + 1} to sentence {a + 1}."
        try_this(why, f"{b + 1} to {a + 1}", {FROM_SENTENCE: b + 1, TO_SENTENCE: a + 1})


def _count_otherwise(view: SentencesView) -> None:
    """Draw the switch for special tokens, and other measures of the same attention."""
    choose_part(view)
    measure = MEASURE.choose("Measure", (RELATIVE, MAXIMUM))
    say(readings(view)[measure])
    draw(partial(figures.matrix, view.trace, measure, (view.a, view.b), "", None, view.left_out), "sentences-otherwise")
    say(
        f"From sentence {view.a + 1} to sentence {view.b + 1}: "
        f"**{view.values(measure, view.left_out)[view.a, view.b]:.3f}**."
    )
    if measure == MAXIMUM:
        show_every_maximum(view)


def show_checks(view: SentencesView) -> None:
    """Ask about these sentences."""
    if view.trace.model.id == PAIRED:
        draw_checks(LESSON, pair_checks(*(text.split() for text in view.sentences.texts)))
        return
    found, trace, out = view.found, view.trace, view.left_out
    counting = partial(counted, view)
    turned = checks.other_order(found, what_if.exchanged(trace, out), view.sentences.texts)
    draw_checks(
        LESSON,
        (
            counting(checks.why_less(found)),
            checks.into_the_future(found, view.causal),
            counting(checks.one_weight(found)),
            counting(checks.without_positions(found, what_if.unplaced(trace, out))),
            turned if view.causal else counting(turned),
        ),
        text="" if trace.text == view.page.selection[TEXT] else trace.text,
    )
