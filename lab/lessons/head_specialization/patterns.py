"""The screen about heads that have a name, and the checks of the lesson."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import named, patterns
from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.named import (
    CLEARLY,
    MIXED,
    Chance,
    above_chance,
    clearly_above,
    name_scores,
    scores_of,
    trace_chance,
    trace_names,
)
from lab.analysis.heads.parked import parked_share
from lab.analysis.heads.patterns import PATTERNS, trace_patterns
from lab.analysis.heads.specialization import SPECIALIZATIONS, specialization
from lab.analysis.heads.specialization_parts import specialization_parts
from lab.analysis.heads.values import Values, is_causal, places_left_out
from lab.course.heads import aside
from lab.course.words import beside, escaped
from lab.figures import specialization as figures
from lab.figures.attention import attention_map as map_of
from lab.lessons.head_specialization import LESSON, checks, meanings
from lab.lessons.head_specialization.view import (
    dimension,
    kept_others,
    kept_tokens,
    left_out,
    tags_of,
)
from lab.questions.question import Question
from lab.text.tags.tokens import Tags
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import show_table

NAMED = "named-heads"
RULE = (
    "A head gets a name when its score is **clearly above chance**: at least half of the way from the score of a "
    "**uniform head**, which gives every token it may see the same weight, to 1. It must be above the best **untrained "
    "head**, too, from the same architecture with random weights. The half is this lab’s choice, no published "
    "threshold. A head without a name is **mixed**."
)
_SCORE = "%.3f"


def show_patterns(view: OneHead) -> None:
    """Which heads do something that has a name, on this text."""
    scores, chance = scores_of(trace_patterns(view.trace)), trace_chance(view.trace)
    names = trace_names(view.trace)
    st.markdown(
        "Some heads do one thing that has a name: they look at the token before, or at the delimiters. A **score** "
        "from 0 to 1 says how much of it a head does:"
    )
    st.markdown("\n".join(f"- **{pattern.name}.** {pattern.reading}" for pattern in PATTERNS))
    layer, head = view.layer.index, view.head
    st.markdown(f"{meanings.worked(scores, chance, (layer, head))} {RULE}")
    show_best_heads(scores, chance)
    _say_few(view)
    draw(partial(figures.named_heads, view.trace, layer, head), NAMED, clickable=True)
    _say_head(view, scores[:, layer, head], chance, str(names[layer, head]))
    meaning(meanings.patterns(names))
    with st.expander("What the scores are", icon=":material/function:"):
        st.markdown(
            "**Broad** has a score, but names no head: the uniform head is the broadest there can be, so no head can "
            "be above it. Half of the way from chance, a score is nearer to the whole pattern than to chance."
        )
        for pattern in PATTERNS:
            st.markdown(f"**{pattern.name}**")
            st.latex(pattern.formula)
        st.caption(
            r"$\ell_i$ keys a query may see, $k_i$ places of a word, $D$ the delimiters, $s(i)$ the words of the "
            "token’s segment. A model that never had a second segment sees one segment: the whole text."
        )
    code(patterns.head_patterns, named.clearly_above, named.above_chance)


def _say_few(view: OneHead) -> None:
    """A score for the same word that rests on a token or two is no finding."""
    cases = patterns.same_word_cases(view.trace)
    if 0 < cases < checks.FEW_CASES:
        st.caption(
            f"In this text only {cases} token{'s have' if cases > 1 else ' has'} another place or piece of the same "
            "word to look at. So the scores for “Same or related word” say little here: try a text that repeats words."
        )


def show_best_heads(scores: Values, chance: Chance) -> None:
    """For each pattern the head that shows it best, beside chance. ``scores`` (P, L, H)."""
    st.markdown("**The best head of each pattern**")
    numbers = dict.fromkeys(("its score", "uniform head", "best untrained head"), _SCORE)
    show_table(_best_heads(scores, chance), formats=numbers)
    st.caption(_notes(scores, chance))


def _best_heads(scores: Values, chance: Chance) -> pd.DataFrame:
    """A row a pattern, those with named heads first. ``scores`` (P, L, H)."""
    above, passing = above_chance(scores, chance.uniform), clearly_above(scores, chance)
    names = name_scores(scores, chance)
    best = [None if np.isnan(each).all() else int(np.nanargmax(each)) for each in scores]
    rows = [
        {
            "pattern": pattern.name,
            "best head": "layer {}, head {}".format(*(i + 1 for i in np.unravel_index(at, names.shape))),
            "its score": float(scores[place].flat[at]),
            "uniform head": float(chance.uniform[place]),
            "best untrained head": float(chance.untrained[place]),
            "above chance": _above(float(above[place].flat[at])),
            "clearly": "yes" if passing[place].flat[at] else "no",
            "named heads": int(np.count_nonzero(names == pattern.id)),
        }
        for place, (pattern, at) in enumerate(zip(PATTERNS, best, strict=True))
        if at is not None
    ]
    return pd.DataFrame(rows).sort_values(["clearly", "its score"], ascending=False) if rows else pd.DataFrame()


def _above(value: float) -> str:
    """How far a score is above chance, never rounded to or across what a name needs."""
    if np.isnan(value):
        return ""
    if np.isinf(value):
        return "no room"
    return "below chance" if value < 0 else beside(value, CLEARLY)


def _notes(scores: Values, chance: Chance) -> str:
    """What has to be known to read the table."""
    notes = [
        "Above chance: (score − uniform) ÷ (1 − uniform), 0 at chance and 1 for the whole pattern. A head that is "
        "clearly above chance in two patterns is named after the one that it is farther above."
    ]
    full = [
        pattern.name.lower()
        for pattern, value, own in zip(PATTERNS, above_chance(scores, chance.uniform), scores, strict=True)
        if np.isneginf(value).any() and not np.isnan(own).all()
    ]
    if full:
        notes.append(f"No room: a uniform head scores 1 in {' and '.join(full)}, so no head can be above it.")
    if np.isnan(scores).any():
        notes.append("A pattern is missing where the text has no case of it, or where a causal model cannot show it.")
    return " ".join(notes)


def _say_head(view: OneHead, scores: Values, chance: Chance, name: str) -> None:
    """The chosen head: its name, why, its scores, and what it does with the rest of its attention."""
    place = f"{view.place[0].upper()}{view.place[1:]}"
    order = [pattern.id for pattern in PATTERNS]
    if name == MIXED:
        said = "No score of it is clearly above chance."
    else:
        said = checks.told_score(float(scores[order.index(name)]), chance, order.index(name))
    st.markdown(f"{place} is **{checks.pattern_name(name)}**. {said} Click a head to choose it.")
    if name == "delimiter":
        at = order.index(name)
        _say_delimiter(view, float(scores[at]), float(chance.needed[at]))
    numbers = dict.fromkeys(("this head", "uniform head", "best untrained head"), _SCORE)
    show_table(_scores_table(view, scores, chance), formats=numbers)


def _say_delimiter(view: OneHead, mass: float, needed: float) -> None:
    """Where most of the attention goes is not all that a head does."""
    tokens = escaped(aside(view.trace))
    text = (
        f"Its words send **{beside(mass, 1.0)}** of their attention to {tokens}. That says where most of it goes. It "
        "does not say that the head does nothing else: it may work for a few words and rest there for the others. "
    )
    if is_causal(view.trace):
        text += "A first token that takes attention whatever it says is an **attention sink** (Xiao et al. 2024). "
    else:
        text += (
            "Of BERT’s attention to [SEP], Clark et al. 2019 (§3.2) conjecture that it is a no-op: the head has "
            "nothing to do for this word. "
        )
    st.markdown(meanings.delimiter(needed, float(parked_share(view.trace)[view.layer.index, view.head])))
    st.markdown(f"{text}The last columns show what it does with the rest.")


def _scores_table(view: OneHead, scores: Values, chance: Chance) -> pd.DataFrame:
    """A row a pattern: the chosen head's score, beside chance, and the same without the places that are left out."""
    table = pd.DataFrame(
        {
            "pattern": [pattern.name for pattern in PATTERNS],
            "this head": scores,
            "uniform head": chance.uniform,
            "best untrained head": chance.untrained,
            "above chance": [_above(float(value)) for value in above_chance(scores, chance.uniform)],
        }
    )
    if kept_others(view) is not None and places_left_out(view.trace)[0].any():
        rest = scores_of(trace_patterns(view.trace, only_words=True))[:, view.layer.index, view.head]
        above = above_chance(rest, trace_chance(view.trace, only_words=True).uniform)
        what = aside(view.trace)
        table[f"without {what}"] = ["" if np.isnan(value) else f"{value:.3f}" for value in rest]
        table["above chance there"] = [_above(float(value)) for value in above]
    return table[~np.isnan(scores)]


def show_checks(view: OneHead) -> None:
    """Questions on this text and this head."""
    scores, chance = scores_of(trace_patterns(view.trace)), trace_chance(view.trace)
    name = checks.name_of(view.place, scores[:, view.layer.index, view.head], chance)
    passing = clearly_above(scores, chance)
    order = sorted(range(1, len(PATTERNS)), key=lambda place: not passing[place].any())  # none is named broad
    few = patterns.same_word_cases(view.trace) < checks.FEW_CASES
    asked = (place for place in order if not (few and PATTERNS[place].id == "same_word"))
    best = [checks.best_head(PATTERNS[place], scores[place]) for place in asked]
    tags = tags_of(view)
    tagged: list[Question | None] = [] if tags is None else _about_tags(view, tags)
    most = checks.most_common_name([str(each) for each in trace_names(view.trace).ravel()])
    questions = (*tagged, name, *(question for question in best if question is not None), most)
    own = partial(map_of, view.trace, view.layer.index, view.head)
    draw_checks(LESSON, questions, most=5 if tagged else 4, of=view.place, figures={"name-of": own})


def _about_tags(view: OneHead, tags: Tags) -> list[Question | None]:
    every, layer = specialization(view.trace, only_words=left_out(view)), view.layer.index
    keep, causal = kept_tokens(view), is_causal(view.trace)
    n = len(view.trace) if keep is None else int(keep.sum())
    parts = specialization_parts(attention_map(view.layer, view.head), *tags, causal=causal, keep=keep)
    by_id = {part.id: part for part in parts}
    without = aside(view.trace) if keep is not None else None
    rim = (
        checks.rim_of_radar(layer, dimension(id), (every.values(id, False)[layer], every.values(id, True)[layer]))
        for id in ("self", "punctuation", "cls")
    )
    return [
        checks.base_rate(by_id["content_words"], n, causal, without),
        checks.corrected_value(view.place, by_id["function_words"], without),
        next((question for question in rim if question is not None), None),
        _looks_most(view, every.raw[layer]),
    ]


def _looks_most(view: OneHead, raw: Values) -> Question | None:
    """Which head of the layer looks most at the first kind that has a clear answer? ``raw`` (H, 7).

    Not asked of a kind that another question names the largest head of.
    """
    order = [known.id for known in SPECIALIZATIONS]
    without = aside(view.trace) if left_out(view) else None
    asked = (
        checks.looks_most(view.layer.index, dimension(id), raw[:, order.index(id)], without)
        for id in ("content_words", "function_words", "entities")
    )
    return next((question for question in asked if question is not None), None)
