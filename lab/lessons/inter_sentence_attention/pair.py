"""Two texts as a pair and as one: a screen of the inter-sentence lesson that runs the model twice."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.sentences.split import Sentences, as_one, crossing, joined
from lab.figures import sentences as figures
from lab.lessons.inter_sentence_attention import checks as ask
from lab.lessons.inter_sentence_attention.view import LESSON, SentencesView, choose_part
from lab.models.encoding import Encoding
from lab.models.trace import Trace
from lab.ui.drawing import draw
from lab.ui.quiz import predict
from lab.ui.sidebar import use_texts


def show_pair(view: SentencesView) -> None:
    """The same sentences in two segments and in one."""
    if view.trace.pair is None:
        _offer(view)
        return
    one, sentences = as_one(view.trace)
    first = [span for span in joined(view.trace.encoding)[1] if span[1] <= len(view.trace.encoding.text)]
    if len(sentences) != len(view.sentences):
        st.info(
            "At the model’s limit the two runs keep different sentences. Shorten the texts.", icon=":material/edit:"
        )
        return
    beside = [place >= len(first) for place in range(len(sentences))]
    if beside != list(view.sentences.in_pair) or len(set(beside)) < 2:
        st.info("Only sentences of one text are on screen. Shorten the first text.", icon=":material/edit:")
        return
    _compare(view, one, sentences)


def _offer(view: SentencesView) -> None:
    """No pair yet: what one is, and a button that makes one."""
    st.markdown(
        "These sentences stand in one text. A **pair** is two texts, entered as two: BERT puts [SEP] between them and "
        "adds one segment vector to the first and another to the second. The lab never makes a pair by itself."
    )
    texts = view.sentences.texts
    st.button(
        "Make sentence 1 the first text and the rest the second", icon=":material/call_split:", on_click=use_texts,
        args=(texts[0], " ".join(texts[1:])),
    )  # fmt: skip


def _compare(view: SentencesView, one: Trace, sentences: Sentences) -> None:
    in_pair = view.sentences.in_pair
    apart = crossing(view.found, in_pair)
    together = crossing(figures.read(one, sentences, view.left_out), in_pair)
    question = ask.pair_effect(together[0, 1], apart[0, 1], figures.TEXTS) if not view.causal else None
    choose_part(view)
    if question is not None and not predict(LESSON, question):
        return
    st.markdown(f"The model ran twice on the same words. {_border(view.trace.encoding, one.encoding, view.trace)}")
    top = float(max(apart.max(), together.max()))
    for column, in_one, name in zip(st.columns(2), (True, False), ("one segment", "a pair"), strict=True):
        with column:
            draw(partial(figures.between_texts, view.trace, in_one, top, view.left_out), f"mass-{name[-4:]}")
    there = f"A to B: {together[0, 1]:.3f} in one segment, **{apart[0, 1]:.3f}** as a pair. " if not view.causal else ""
    st.markdown(f"{there}B to A: {together[1, 0]:.3f} in one segment, **{apart[1, 0]:.3f}** as a pair.")
    if view.can_leave_out:
        st.markdown(
            f"Without {view.outside}: rows sum to 1 over the other tokens."
            if view.left_out
            else f"All tokens are counted, {view.outside} included."
        )


def _border(pair: Encoding, one: Encoding, trace: Trace) -> str:
    """What differs between the two runs, as far as it can be counted."""
    extra = sum(pair.special) - sum(one.special)
    segments = trace.model.weights.embeddings.segment is not None and len(set(pair.segment_ids)) > 1
    parts = []
    if extra > 0:
        parts.append(f"{extra} special token{'s' if extra > 1 else ''} more between the texts")
    if segments:
        parts.append("another segment vector on the second")
    told = f"As a pair there {'are' if extra > 1 else 'is'} {', and '.join(parts)}." if parts else (
        "This model has no segments and puts nothing between two texts: a pair is only one text after the other, "
        "without the space between them."
    )  # fmt: skip
    return f"{told} {len(one)} tokens in one segment, {len(pair)} as a pair."
