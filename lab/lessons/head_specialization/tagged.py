"""The screen with the tagged sentence: what each token is, and how many there are of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from lab.analysis.heads.values import is_causal
from lab.charts.base.labels import visible
from lab.charts.tokens.chips import token_chips
from lab.charts.tokens.encoding import encoding_chips
from lab.course.words import quoted
from lab.lessons.head_specialization import LESSON, checks, meanings
from lab.lessons.head_specialization.view import tags_of
from lab.text.tags.pipeline import pipeline, spelled_out
from lab.text.tags.tokens import Tags, encoding_tags
from lab.ui.drawing import code
from lab.ui.frame.script import meaning
from lab.ui.quiz.predictions import predict
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import SHARE, show_table

_MANY = 120  # chips, before they scroll in a box
_BOX = 420  # pixels
_EXAMPLES = 4
_HUES = {checks.FUNCTION: 0, checks.CONTENT: 1, checks.MARKS: 2, checks.OTHER: 3, checks.SPECIAL: 4}


def show_tags(view: OneHead) -> None:
    """What each token is, and how often each kind occurs."""
    tags = tags_of(view)
    if tags is None:
        return
    encoding = view.trace.encoding
    kinds = [checks.kind_of(tag, special) for tag, special in zip(tags[0], encoding.special, strict=True)]
    question = checks.most_common_kind(kinds)
    if not predict(LESSON, question):
        return
    st.markdown(
        "The part of speech of each token is below it. If the token belongs to an **entity**, that is below, too: the "
        "name of a person, a place or a firm, a date and the like. Each kind of token has its own colour."
    )
    labels = [_label(tags, i) for i in range(len(encoding))]
    chips = [(run, at, labels[at[0]] if at and run else label) for run, at, label in encoding_chips(encoding)]
    with st.container(height=_BOX if len(chips) > _MANY else "content"):
        st.html(token_chips(chips, groups=[_HUES[kind] for kind in kinds]))
    st.caption(_in_words(view.trace.labels, tags[0]))
    _show_kinds(view, kinds)
    _token_table(view, tags, kinds)
    st.caption(pipeline().description)
    meaning(meanings.kinds(kinds))
    layers, heads, n = view.trace.model.config.layers, view.trace.model.config.heads, len(encoding)
    st.markdown(
        f":material/arrow_downward: **On the way.** The tagger reads characters, the model reads tokens. A token gets "
        "the tag of the word with which it shares most characters. The model never sees a tag. Tags only sort the "
        f"columns of its {layers * heads} maps of {n} × {n} weights, and the next step adds those columns up."
    )
    code(encoding_tags)


def _label(tags: Tags, place: int) -> str:
    return " · ".join(tag for tag in (tags[0][place], tags[1][place]) if tag) or "–"


def _in_words(tokens: Sequence[str], tags: Sequence[str | None]) -> str:
    """Every part of speech of the text spelled out, with its first token."""
    first = {tag: token for token, tag in reversed([*zip(tokens, tags, strict=True)]) if tag}
    named = (f"{tag} {spelled_out(tag)} ({quoted(first[tag])})" for tag in dict.fromkeys(tags) if tag)
    return " · ".join(named)


def _show_kinds(view: OneHead, kinds: list[str]) -> None:
    """How many tokens of each kind, and what a head without preference gives them."""
    counts, n = Counter(kinds), len(kinds)
    exact = not is_causal(view.trace)
    here = [kind for kind in checks.KINDS if counts[kind]]
    tokens = {kind: [t for t, own in zip(view.trace.labels, kinds, strict=True) if own == kind] for kind in here}
    table = pd.DataFrame(
        {
            "kind": here,
            "tokens": [counts[kind] for kind in here],
            "share of all tokens": [counts[kind] / n for kind in here],
            "for example": [", ".join(map(visible, dict.fromkeys(tokens[kind][:_EXAMPLES]))) for kind in here],
        }
    )
    show_table(table, formats={"share of all tokens": SHARE})
    st.caption(
        "The share is also the base rate: what a head without preference gives to a kind."
        if exact
        else "A head without preference gives a kind about this share. An earlier token gets more, because more "
        "queries see it. The next step uses the exact number."
    )


def _token_table(view: OneHead, tags: Tags, kinds: list[str]) -> None:
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
    with st.expander("Token by token", icon=":material/table_rows:"):
        show_table(table, numbered=True)
