"""Pair or not: the same sentences, read as one text and as a pair of texts."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.sentences.between_sentences import MASS
from lab.analysis.sentences.token_sentences import split
from lab.figures.sentences import matrix, read
from lab.lessons.inter_sentence_attention.view import SentencesView, show_tokens
from lab.models.memo import once
from lab.models.trace import Trace
from lab.models.trace import trace as run
from lab.ui.drawing import draw
from lab.ui.screen import caption, meaning, say

IDEA = """
The model can read two texts as one text, or as a **pair**: BERT then puts [SEP] between them, and adds another
**segment vector** to the second text (lesson 2). How much do the sentences look at each other then?"""
SIZES = "The model reads {one} tokens as one text, and {two} as a pair. Special tokens are left out where possible."
READING = """
Of what sentence {a} gives to sentences, sentence {b} gets **{one:.0%}** in one text, and **{two:.0%}** as a pair."""
OTHERWISE = "The lab cannot compare the two: it would divide them into other sentences, or they are too long."


def show(view: SentencesView) -> Trace | None:
    """Draw the map of sentences in both runs; return the run of the pair."""
    say(IDEA)
    show_tokens(view)
    found = both(view.trace)
    if found is None:
        st.info(OTHERWISE, icon=":material/edit:")
        return None
    for column, each, name in zip(st.columns(2), found, ("one text", "a pair"), strict=True):
        with column:
            call = partial(matrix, each, MASS, (view.a, view.b), f"Read as {name}", 1.0, True)
            draw(call, f"read-as-{name[-4:]}")
    meaning(reading(*found, view.a, view.b))
    caption(SIZES.format(one=len(found[0]), two=len(found[1])))
    return found[1]


def both(trace: Trace) -> tuple[Trace, Trace] | None:
    """Run a text as one text and as a pair, whose first text is the first sentence; None if the sentences differ."""
    one, two = (trace, _other(trace)) if trace.pair is None else (_other(trace), trace)
    whole = not (one.encoding.cut or two.encoding.cut) and split(one).texts == split(two).texts
    return (one, two) if whole else None


@once
def _other(trace: Trace) -> Trace:
    """Run one text as a pair, or a pair as one text."""
    if trace.pair is not None:
        return run(trace.model, f"{trace.text} {trace.pair}")
    first, *rest = split(trace).texts
    return run(trace.model, first, " ".join(rest))


def reading(one: Trace, two: Trace, a: int, b: int) -> str:
    """State the share from sentence ``a`` to sentence ``b`` in both runs."""
    shares = [float(read(each, split(each), left_out=True).mass[a, b]) for each in (one, two)]
    return READING.format(a=a + 1, b=b + 1, one=shares[0], two=shares[1]).strip()
