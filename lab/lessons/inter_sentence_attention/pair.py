"""Two texts as a pair and as one: a screen of the inter-sentence lesson that runs the model twice."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from lab.analysis.sentences.split import Sentences, as_one, crossing, joined, split
from lab.course.sentences.examples import example_named
from lab.figures import sentences as figures
from lab.lessons.inter_sentence_attention import LESSON, checks, meanings, what_if
from lab.lessons.inter_sentence_attention.view import SentencesView, counted
from lab.models.encoding import Encoding
from lab.models.trace import Trace
from lab.ui.drawing import draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import PAIR
from lab.ui.quiz.predictions import predict
from lab.ui.sidebar import use_texts
from lab.ui.terms import say

_UNRELATED = example_named("A pair that does not follow")
_FOLLOWS = example_named("A pair that follows")


def show_pair(view: SentencesView) -> Trace | None:
    """Compare two texts, read as a pair and as one text; a single text is divided after its first sentence.

    Returns the run of the pair, or None if there is no pair to compare.
    """
    if view.trace.pair is None:
        made = what_if.first_and_rest(view.trace)
        if made is None:
            st.info("As a pair, this text is split into other sentences. Shorten it.", icon=":material/edit:")
            return None
        _offer(view)
        view = replace(view, trace=made, sentences=split(made))
    one, sentences = as_one(view.trace)
    first = [span for span in joined(view.trace.encoding)[1] if span[1] <= len(view.trace.encoding.text)]
    if len(sentences) != len(view.sentences):
        told = "The model cannot read the whole text, and the two runs keep different sentences. Shorten the texts."
        st.info(told, icon=":material/edit:")
        return None
    beside = [place >= len(first) for place in range(len(sentences))]
    if beside != list(view.sentences.in_pair) or len(set(beside)) < 2:
        told = "Only sentences of the first text are on screen. Shorten the first text."
        st.info(told, icon=":material/edit:")
        return None
    _compare(view, one, sentences)
    return view.trace


def _offer(view: SentencesView) -> None:
    """Say what a pair is and what the lab compares, and offer to make a pair of the learner's text."""
    say(
        "In a **pair**, BERT puts [SEP] between the two texts, and adds another **segment vector** to the second one "
        "(lesson 2). Here the lab reads sentence 1 as text A and the rest as text B."
    )
    texts = view.sentences.texts
    label, split_it = "Make a pair of your text", (texts[0], " ".join(texts[1:]))
    st.button(label, icon=":material/call_split:", on_click=use_texts, args=split_it)


def _compare(view: SentencesView, one: Trace, sentences: Sentences) -> None:
    in_pair = view.sentences.in_pair
    apart = crossing(view.found, in_pair)
    together = crossing(figures.read(one, sentences, view.left_out), in_pair)
    question = None if view.causal else checks.pair_effect(together[0, 1], apart[0, 1], figures.TEXTS)
    if not predict(LESSON, counted(view, question) or question):
        return
    top = float(max(apart.max(), together.max()))
    for column, in_one, name in zip(st.columns(2), (True, False), ("one segment", "a pair"), strict=True):
        with column:
            draw(partial(figures.between_texts, view.trace, in_one, top, view.left_out), f"mass-{name[-4:]}")
    count = f" {view.outside} are {'left out' if view.left_out else 'counted'}." if view.can_leave_out else ""
    st.caption(f"The model read the same words twice. {_what_differs(view.trace, one.encoding)}{count}")
    meaning(meanings.paired(together, apart, view.causal, border=bool(_border(view.trace, one.encoding))))
    _try_another(view)


def _try_another(view: SentencesView) -> None:
    """Offer a second text that has nothing to do with the first; from there, the text that really follows."""
    if view.is_toy:
        return
    if view.trace.pair == _UNRELATED.pair:
        why = "choose a second text that continues the first. Does more attention cross?"
        try_this(why, "The text that follows", {PAIR: _FOLLOWS.pair})
    else:
        why = "choose a second text that has nothing to do with the first. Does less attention cross?"
        try_this(why, "Another second text", {PAIR: _UNRELATED.pair})


def _border(trace: Trace, one: Encoding) -> list[str]:
    """Name the tokens that the model puts between the texts of a pair, and the vector that it adds to the second text.

    ``trace`` is the run of the pair; ``one`` is the encoding of both texts as one.
    """
    extra = sum(trace.encoding.special) - sum(one.special)
    segments = trace.model.weights.embeddings.segment is not None and len(set(trace.encoding.segment_ids)) > 1
    parts = []
    if extra > 0:
        parts.append(f"{extra} more special token{'s' if extra > 1 else ''} between the texts")
    if segments:
        parts.append("another segment vector on the second text")
    return parts


def _what_differs(trace: Trace, one: Encoding) -> str:
    """Say which countable things differ between the two runs."""
    pair, parts = trace.encoding, _border(trace, one)
    extra = sum(pair.special) - sum(one.special)
    told = f"In the pair, there {'are' if extra > 1 else 'is'} {', and '.join(parts)}."
    if not parts:
        told = (
            "This model has no segments and puts nothing between two texts: a pair is only one text after the other, "
        )
        told += "without the space between them."
    return f"{told} {len(one)} tokens in one segment, {len(pair)} as a pair."
