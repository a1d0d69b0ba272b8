"""Kinds of words: the kind of each token, and whether the head prefers one of the kinds to what chance gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.specialization import (
    CONTENT_WORDS,
    FUNCTION_WORDS,
    PUNCTUATION,
    SPECIALIZATIONS,
    WORD_KINDS,
    specialization,
)
from lab.analysis.heads.values import Values
from lab.charts.base.labels import visible
from lab.charts.tokens.encoding import encoding_chips
from lab.course.words import aside, escaped, head_name, listed
from lab.figures import specialization as figures
from lab.lessons.head_specialization import LESSON
from lab.lessons.head_specialization.view import (
    ABOUT,
    begun,
    choose_part,
    chosen_left_out,
    kept_others,
    look_for_tags,
    measured,
)
from lab.models.interventions import Head
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import ranked
from lab.questions.question import MARGIN, Option, Question, clear_winner, shuffled
from lab.questions.spot import Spot
from lab.text.tags.pipeline import pipeline, spelled_out
from lab.text.tags.tokens import Tags, encoding_tags
from lab.ui.chips import draw_chips
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning
from lab.ui.frame.header import idea
from lab.ui.quiz.predictions import predict
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import show_table
from lab.ui.terms import say

IDEA = """
Does a head prefer a kind of word? A small program, a **tagger**, names the kind of every word. Function words (*the*,
*he*) hold a sentence together; content words (*book*) carry its meaning."""

FUNCTION, CONTENT, MARKS, OTHER, SPECIAL = "Function words", "Content words", "Punctuation", "Other", "Special tokens"
KINDS = (FUNCTION, CONTENT, MARKS, OTHER, SPECIAL)
_HUES = {kind: hue for hue, kind in enumerate(KINDS)}
_CLEAR = 0.1  # a preference that is nearer to 1 than this is next to none
_APART = 0.3  # smallest difference between two ratios that nobody confuses


def kind_of(tag: str | None, special: bool) -> str:
    """The kind of a token by its part of speech."""
    if special:
        return SPECIAL
    for kind, members in ((FUNCTION, FUNCTION_WORDS), (CONTENT, CONTENT_WORDS), (MARKS, PUNCTUATION)):
        if tag in members:
            return kind
    return OTHER


def of_words(shares: Values) -> list[int]:
    """The dimensions (from 0) that are kinds of words and occur in the text. ``shares`` (7,)."""
    return [at for at, each in enumerate(SPECIALIZATIONS) if each.id in WORD_KINDS and np.isfinite(shares[at])]


def shares_given(head: Head, shares: Values, words_only: bool = False) -> str:
    """Say which share a head gives to each kind of word, (7,); ``words_only``: of its attention to words."""
    told = [f"{ABOUT[SPECIALIZATIONS[at].id]} **{shares[at]:.0%}**" for at in of_words(shares)]
    return (
        f"Of its attention to words, {head_name(head)} gives {listed(told)}."
        if told and words_only
        else (f"{begun(head_name(head))} gives {listed(told)} of its attention." if told else "")
    )


def said(head: Head, shares: Values, even: Values) -> str:
    """Say which kind of word a head prefers, and that a large share alone is not a preference. All (7,)."""
    here = of_words(shares)
    if not here:
        return "This text has no words of these kinds."
    times = {at: float(shares[at] / even[at]) for at in here}
    most = max(here, key=times.__getitem__)
    about = ABOUT[SPECIALIZATIONS[most].id]
    if times[most] < 1 + _CLEAR:
        name = begun(head_name(head))
        if times[most] <= 1:
            return f"{name} prefers none of these kinds: it gives no kind more attention than a uniform head does."
        return (
            f"{name} has no clear preference: even {about}, which it prefers most, get only {times[most]:.2f} times "
            "what a uniform head gives them."
        )
    told = (
        f"{begun(head_name(head))} gives {about} {shares[most]:.0%} of its attention. A uniform head would give them "
        f"{even[most]:.0%}, so this is {times[most]:.1f} times as much."
    )
    other = max((at for at in here if at != most), key=lambda at: float(shares[at]), default=most)
    if other == most or times[other] >= 1:
        return told
    return (
        f"{told} {begun(ABOUT[SPECIALIZATIONS[other].id])} get {shares[other]:.0%}, which is less than the "
        f"{even[other]:.0%} that a uniform head would give them."
    )


@asks(
    "layer",
    "head",
    basis=derivable(LESSON, "kinds-of-words", "the coloured tokens and the shares of the head"),
    hint="Divide the share of each kind by the share of the tokens that are of this kind.",
)
def prefers(spot: Spot) -> Question | None:
    """Ask which kind of word the head prefers, compared with a uniform head."""
    found = measured(spot.trace)
    if found is None:
        return None
    return preferred((spot.layer, spot.head), found.raw[spot.layer, spot.head], found.even[spot.layer])


def preferred(head: Head, shares: Values, even: Values) -> Question | None:
    """Ask which kind of word a head prefers, compared with a uniform head. ``shares`` and ``even`` (7,).

    None unless at least two kinds occur and one of them is clearly preferred.
    """
    here = [at for at, each in enumerate(SPECIALIZATIONS) if each.id in WORD_KINDS and np.isfinite(shares[at])]
    times = [float(shares[at] / even[at]) for at in here]
    if len(here) < 2 or max(times) < 1 + _CLEAR or clear_winner(times) is None:
        return None
    largest = max(here, key=lambda at: float(shares[at]))

    def why(place: int, best: int) -> str:
        at = here[place]
        told = (
            f"A uniform head would give them {even[at]:.0%}. This head gives them {shares[at]:.0%}, which is "
            f"{times[place]:.1f} times as much."
        )
        if place == best:
            return told
        if at == largest:
            return f"You took the largest share for a preference. {told}"
        return told

    prompt = (
        "A **uniform head** gives every token the same weight. Compared with such a head, which kind of word does "
        f"{head_name(head)} prefer?"
    )
    return ranked("prefers", prompt, times, lambda place: ABOUT[SPECIALIZATIONS[here[place]].id].capitalize(), why)


@asks(
    "layer",
    basis=derivable(LESSON, "kinds-of-words", "the bars of a head and of a uniform head"),
    hint="Compare each share with the share that a uniform head would give.",
)
def share_or_preference(spot: Spot) -> Question | None:
    """Ask which of two kinds a head of the layer prefers: the kind with more attention, or the kind it looks for."""
    found = measured(spot.trace)
    return None if found is None else larger_share(spot.layer, found.raw[spot.layer], found.even[spot.layer])


def larger_share(layer: int, raw: Values, even: Values) -> Question | None:
    """Ask which of two kinds a head prefers: the kind with the larger share, or the kind with the larger ratio.

    ``raw`` (H, 7), ``even`` (7,). The question is about the layer's first head in which these are different kinds; None
    if there is no such head.
    """
    here = [at for at, each in enumerate(SPECIALIZATIONS) if each.id in WORD_KINDS and np.isfinite(raw[:, at]).all()]
    for head, shares in enumerate(raw):
        times = {at: float(shares[at] / even[at]) for at in here}
        if len(here) < 2:
            return None
        large, preferred = max(here, key=lambda at: float(shares[at])), max(here, key=times.__getitem__)
        clear = shares[large] - shares[preferred] >= MARGIN and times[preferred] - times[large] >= _APART
        if large != preferred and clear and times[preferred] > 1:
            return _two_kinds(layer, head, [(at, float(shares[at]), float(even[at])) for at in (large, preferred)])
    return None


def _two_kinds(layer: int, head: int, kinds: Sequence[tuple[int, float, float]]) -> Question:
    """Ask about two kinds, each a dimension (from 0), its share, and a uniform head's share; the larger share first."""
    (many, large, usual), (few, small, rare) = kinds
    (much, little) = (ABOUT[SPECIALIZATIONS[at].id] for at in (many, few))
    right = f"{small:.0%} is {small / rare:.1f} times {rare:.0%}; {large:.0%} is {large / usual:.1f} times {usual:.0%}."
    options = (
        Option(little.capitalize(), f"Yes: {right}", correct=True),
        Option(much.capitalize(), f"You compared the shares. But this text has more {much}: {right}"),
        Option("Both alike", f"Divide each share by the share that a uniform head would give: {right}"),
    )
    prompt = (
        f"Head {head + 1} of layer {layer + 1} gives {much} {large:.0%} of its attention and {little} {small:.0%}. A "
        f"uniform head would give them {usual:.0%} and {rare:.0%}. Which kind does the head prefer?"
    )
    return shuffled("share-or-preference", prompt, options)


def show(view: OneHead) -> None:
    """Show the kind of every token, and the shares that the head and a uniform head give to each kind."""
    idea(IDEA)
    tags = look_for_tags(view)
    if tags is None:
        return
    choose_part(view)
    left_out = chosen_left_out(view)
    kinds = [kind_of(tag, special) for tag, special in zip(tags[0], view.trace.encoding.special, strict=True)]
    _show_chips(view, tags, kinds)
    say(counted(kinds))
    at, every = (view.layer.index, view.head), specialization(view.trace, only_words=left_out)
    shares, even = every.raw[at], every.even[at[0]]
    say(shares_given(at, shares, left_out))
    if not predict(LESSON, prefers(view.spot) if left_out else None):
        return
    if of_words(shares):
        draw(partial(figures.beside_even, view.trace, *at, left_out), "beside-even")
        st.caption(f"Strong bars show {head_name(at)}. Weak bars show a uniform head.")
    meaning(said(at, shares, even))
    _show_sinks(view)
    with st.expander("Every token", icon=":material/table_rows:", on_change="rerun", key="_tokens") as tokens:
        if tokens.open:
            _show_tokens(view, tags, kinds)
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


def counted(kinds: Sequence[str]) -> str:
    """Count the tokens of each kind."""
    counts = Counter(kinds)
    told = [f"**{kind}**: {counts[kind]}" for kind in KINDS if counts[kind]]
    return " · ".join(told)


def _show_sinks(view: OneHead) -> None:
    """Say how much attention special tokens take, whether they are left out, and that one text was read."""
    others = "" if kept_others(view.trace) is None else taken(view.spot, chosen_left_out(view))
    st.caption(f"{others}This is only one text. Look at many texts before you speak of a preference.")


def taken(spot: Spot, left_out: bool) -> str:
    """Say which share of the head's attention goes to special (or first) tokens."""
    share = float(specialization(spot.trace, only_words=True).removed[spot.layer, spot.head])
    tokens = escaped(aside(spot.trace))
    if left_out:
        return f"{share:.0%} of this head’s attention goes to {tokens} and is left out here. "
    return f"{share:.0%} of this head’s attention goes to {tokens}, so less is left for the words. "


def _show_tokens(view: OneHead, tags: Tags, kinds: Sequence[str]) -> None:
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
        f"{pipeline().description} The tagger reads characters, and the model reads tokens. So a token gets the tag "
        "of the word with which it shares most characters. The model never sees a tag."
    )
