"""The screen about kinds of words: the kind of each token, and whether the head prefers one of the kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.heads.specialization import specialization
from lab.charts.base.labels import visible
from lab.charts.tokens.encoding import encoding_chips
from lab.course.words import aside, escaped, head_name
from lab.figures import specialization as figures
from lab.lessons.head_specialization import LESSON, checks, meanings
from lab.lessons.head_specialization.view import choose_part, kept_others, left_out, tags_of
from lab.text.tags.pipeline import pipeline, spelled_out
from lab.text.tags.tokens import Tags, encoding_tags
from lab.ui.chips import draw_chips
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning
from lab.ui.quiz.predictions import predict
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import show_table
from lab.ui.terms import say

_HUES = {checks.FUNCTION: 0, checks.CONTENT: 1, checks.MARKS: 2, checks.OTHER: 3, checks.SPECIAL: 4}


def show_kinds(view: OneHead) -> None:
    """Show the kind of every token, and the shares that the head and a uniform head give to each kind."""
    tags = tags_of(view)
    if tags is None:
        return
    kinds = [checks.kind_of(tag, special) for tag, special in zip(tags[0], view.trace.encoding.special, strict=True)]
    _show_chips(view, tags, kinds)
    say(_counted(kinds))
    at, every = (view.layer.index, view.head), specialization(view.trace, only_words=left_out(view))
    shares, even = every.raw[at], every.even[at[0]]
    say(meanings.shares_given(at, shares, left_out(view)))
    if not predict(LESSON, checks.prefers(at, shares, even)):
        return
    if meanings.of_words(shares):
        draw(partial(figures.beside_even, view.trace, *at, left_out(view)), "beside-even")
        st.caption(f"Strong bars: {head_name(at)}. Weak bars: a uniform head.")
    meaning(meanings.kinds(at, shares, even))
    choose_part(view)
    _say_sinks(view)
    with st.expander("Every token", icon=":material/table_rows:", on_change="rerun", key="_tokens") as tokens:
        if tokens.open:
            _token_table(view, tags, kinds)
    code(encoding_tags)


def _show_chips(view: OneHead, tags: Tags, kinds: Sequence[str]) -> None:
    """Draw the tokens in the colours of their kinds, with the part of speech below each token."""
    labels = [_label(tags, i) for i in range(len(view.trace))]
    chips = [
        (run, at, labels[at[0]] if at and run else label) for run, at, label in encoding_chips(view.trace.encoding)
    ]
    draw_chips(chips, groups=[_HUES[kind] for kind in kinds])


def _label(tags: Tags, place: int) -> str:
    """The part of speech in words, and the label of an entity."""
    speech, entity = tags[0][place], tags[1][place]
    return " · ".join(filter(None, (speech and spelled_out(speech), entity))) or "–"


def _counted(kinds: Sequence[str]) -> str:
    """Count the tokens of each kind."""
    counts = Counter(kinds)
    told = [f"**{kind}**: {counts[kind]}" for kind in checks.KINDS if counts[kind]]
    return (
        f"{' · '.join(told)}. Function words (*the*, *he*) hold a sentence together; content words (*book*) carry its "
        "meaning."
    )


def _say_sinks(view: OneHead) -> None:
    """Say how much attention special tokens take, whether they are left out, and that one text was read."""
    others = "" if kept_others(view) is None else _taken(view)
    st.caption(f"{others}This is one text; look at many texts before you call it a preference.")


def _taken(view: OneHead) -> str:
    share = float(specialization(view.trace, only_words=True).removed[view.layer.index, view.head])
    tokens = escaped(aside(view.trace))
    if left_out(view):
        return f"{share:.0%} of this head’s attention goes to {tokens} and is left out here. "
    return f"{share:.0%} of this head’s attention goes to {tokens}, so less is left for the words. "


def _token_table(view: OneHead, tags: Tags, kinds: Sequence[str]) -> None:
    tokens = [visible(token) for token in view.trace.labels]
    table = pd.DataFrame(
        {
            "token": tokens,
            "part of speech": [tag or "" for tag in tags[0]],
            "kind": kinds,
            "entity": [label or "" for label in tags[1]],
        },
        index=range(1, len(tokens) + 1),
    )
    show_table(table, numbered=True)
    st.caption(
        f"{pipeline().description} The tagger reads characters, and the model reads tokens: a token gets the tag of "
        "the word with which it shares most characters. The model never sees a tag."
    )
