"""Pair or not: two texts, read as a pair and as one text."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from lab.analysis.heads.values import Values
from lab.analysis.sentences.split import Sentences, as_one, crossing, joined, split
from lab.course.sentences.examples import example_named
from lab.course.words import VISIBLE
from lab.figures import sentences as figures
from lab.lessons.inter_sentence_attention.row import show_tokens
from lab.lessons.inter_sentence_attention.shares import NOTABLE, percents
from lab.lessons.inter_sentence_attention.view import SentencesView
from lab.models.encoding import Encoding
from lab.models.memo import once
from lab.models.trace import Trace
from lab.models.trace import trace as run
from lab.ui.drawing import draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import PAIR
from lab.ui.terms import say
from lab.ui.texts import use_texts

_UNRELATED = example_named("A pair that does not follow")
_FOLLOWS = example_named("A pair that follows")
_NO_BORDER = (
    "This model puts no border between two texts, so no change here is the effect of a border. Only the space "
    "between the texts is gone"
)


@once
def first_and_rest(trace: Trace) -> Trace | None:
    """A pair made from one text: the first sentence is the first text, and the other sentences are the second.

    None if the pair would be split into other sentences.
    """
    sentences = split(trace)
    if sentences.left_out or sentences.cut or len(sentences) < 2:
        return None
    pair = run(trace.model, sentences.texts[0], " ".join(sentences.texts[1:]))
    return None if pair.encoding.cut or split(pair).texts != sentences.texts else pair


def said(joined: Values, pair: Values, causal: bool, border: bool) -> str:
    """Say how the shares change when two texts are read as a pair. Both arrays are (2, 2), from text to text.

    ``border`` says whether the model puts a token between the texts of a pair, or another vector on the second text.
    """
    ways = [(1, 0)] if causal else [(0, 1), (1, 0)]
    changes = [float(pair[way] - joined[way]) for way in ways]
    told = "; ".join(
        f"text {'AB'[a]} gives text {'AB'[b]} {percents(float(pair[a, b]))} of its attention in a pair, and "
        f"{percents(float(joined[a, b]))} in one text"
        for a, b in ways
    )
    return f"{_crossing(changes) if border else _NO_BORDER}: {told}."


def _crossing(changes: list[float]) -> str:
    """Say whether less attention crosses the border, from its change in each direction."""
    if all(abs(change) < VISIBLE for change in changes):
        return "The border hardly changes how much attention crosses from text to text"
    if all(abs(change) < NOTABLE for change in changes):
        return "These shares change by only a few hundredths, which is too little to show an effect of the border"
    if all(change < VISIBLE for change in changes):
        return "With a border, less attention crosses"
    if all(change > -VISIBLE for change in changes):
        return "With a border, more attention crosses, not less"
    return "The border changes the two directions in opposite ways"


def show(view: SentencesView) -> Trace | None:
    """Compare two texts, read as a pair and as one text; a single text is divided after its first sentence.

    Returns the run of the pair, or None if there is no pair to compare.
    """
    show_tokens(view)
    say("The model can read two texts as one text, or as a pair with a border. Does less attention cross the border?")
    if view.trace.pair is None:
        made = first_and_rest(view.trace)
        if made is None:
            st.info(
                "As a pair, this text is divided into different sentences. Shorten the text.", icon=":material/edit:"
            )
            return None
        _show_offer(view)
        view = replace(view, trace=made, sentences=split(made))
    one, sentences = as_one(view.trace)
    first = [span for span in joined(view.trace.encoding)[1] if span[1] <= len(view.trace.encoding.text)]
    if len(sentences) != len(view.sentences):
        told = "The model cannot read the whole text, and its two runs read different sentences. Shorten the texts."
        st.info(told, icon=":material/edit:")
        return None
    beside = [place >= len(first) for place in range(len(sentences))]
    if beside != list(view.sentences.in_pair) or len(set(beside)) < 2:
        told = "Only sentences of the first text are on screen. Shorten the first text."
        st.info(told, icon=":material/edit:")
        return None
    _show_compared(view, one, sentences)
    return view.trace


def _show_offer(view: SentencesView) -> None:
    """Say what a pair is and what the lab compares, and offer to make a pair of the learner's text."""
    say(
        "In a **pair**, BERT puts [SEP] between the two texts, and adds a different **segment vector** to the second "
        "text (lesson 2). Here, sentence 1 is text A, and the rest is text B."
    )
    texts = view.sentences.texts
    label, split_it = "Make your text a pair", (texts[0], " ".join(texts[1:]))
    st.button(label, icon=":material/call_split:", on_click=use_texts, args=split_it)


def _show_compared(view: SentencesView, one: Trace, sentences: Sentences) -> None:
    in_pair = view.sentences.in_pair
    apart = crossing(view.found, in_pair)
    together = crossing(figures.read(one, sentences, view.left_out), in_pair)
    top = float(max(apart.max(), together.max()))
    for column, in_one, name in zip(st.columns(2), (True, False), ("one segment", "a pair"), strict=True):
        with column:
            draw(partial(figures.between_texts, view.trace, in_one, top, view.left_out), f"mass-{name[-4:]}")
    count = f" {view.outside} are {'left out' if view.left_out else 'counted'}." if view.can_leave_out else ""
    st.caption(f"The model read the same words twice. {_what_differs(view.trace, one.encoding)}{count}")
    meaning(said(together, apart, view.causal, border=bool(_border(view.trace, one.encoding))))
    _show_another(view)


def _show_another(view: SentencesView) -> None:
    """Offer a second text that has nothing to do with the first; from there, the text that really follows."""
    if view.toy:
        return
    if view.trace.pair == _UNRELATED.pair:
        why = "choose a second text that continues the first. Does more attention cross?"
        try_this(why, "Text that follows", {PAIR: _FOLLOWS.pair})
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
        parts.append("a different segment vector on the second text")
    return parts


def _what_differs(trace: Trace, one: Encoding) -> str:
    """Say which countable things differ between the two runs."""
    pair, parts = trace.encoding, _border(trace, one)
    extra = sum(pair.special) - sum(one.special)
    told = f"In the pair, there {'are' if extra > 1 else 'is'} {', and '.join(parts)}."
    if not parts:
        told = (
            "This model has no segments and puts nothing between two texts. A pair is only one text after the other, "
        )
        told += "without the space between them."
    return f"{told} There are {len(one)} tokens in one segment, and {len(pair)} as a pair."
