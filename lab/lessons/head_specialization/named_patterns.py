"""Named patterns: heads that do one simple thing on this text, and whether place or segment is the cause."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.heads import named, patterns
from lab.analysis.heads.named import (
    CLEARLY,
    MIXED,
    Chance,
    above_chance,
    clearly_above,
    name_heads,
    name_scores,
    scores_of,
    trace_chance,
)
from lab.analysis.heads.neurons import DECIDED
from lab.analysis.heads.patterns import PATTERNS, Pattern, same_word_cases, trace_patterns
from lab.analysis.heads.values import Values
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import aside, beside, escaped, head_name, listed, number_of
from lab.figures import specialization
from lab.lessons.head_specialization import LESSON, NAMED
from lab.lessons.head_specialization.view import begun, choose_part, chosen_left_out, kept_others
from lab.models.interventions import Head, Interventions
from lab.models.memo import once
from lab.models.trace import Trace, changed
from lab.questions.asking import asks
from lab.questions.basis import bet, derivable
from lab.questions.kinds import ranked, which_holds
from lab.questions.question import Question
from lab.questions.spot import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import HEAD, LAYER
from lab.ui.quiz.predictions import ask_beside
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.tables import show_table
from lab.ui.terms import say

IDEA = """
Some heads do one simple thing that has a name: for example, they look at the token before. Which heads do this? Is the
head that you follow one of them, and why do they look there?"""

FEW_CASES = 3  # tokens; with fewer tokens, a score for the same word means nothing
_NEIGHBOURS = ("previous_token", "next_token")
# The verb phrase of each pattern, after “4 heads …” and after “1 head …”.
DOES = {
    "next_token": ("look at the next token", "looks at the next token"),
    "previous_token": ("look at the token before", "looks at the token before"),
    "same_word": ("look at the same word elsewhere", "looks at the same word elsewhere"),
    "delimiter": ("rest on tokens that are not words", "rests on tokens that are not words"),
    "bag_of_words": ("look at all words alike", "looks at all words alike"),
}
_RULE = (
    "A head gets a name when its score is **clearly above chance**. A **uniform head** gives every token that it may "
    "see the same weight; the score must be at least halfway from the score of a uniform head to 1. It must also be "
    "above the score of the best **untrained head**, from the same architecture with random weights. The lab chose "
    "this threshold of one half; it is not a published one. A head without a name is **mixed**."
)
_SCORE = "%.3f"


@once
def names_without(trace: Trace, only_words: bool, *, places: bool) -> NDArray[np.str_]:
    """Name the heads of a run without position vectors (or, if ``places`` is false, without segment vectors), (L, H).

    Chance is the chance of the run as it is.
    """
    off = Interventions(no_positions=places, no_segments=not places)
    found = trace_patterns(changed(trace, off), only_words=only_words)
    return name_heads(found, trace_chance(trace, only_words=only_words))


def has_segments(trace: Trace) -> bool:
    """Return whether the model adds a vector for the segment."""
    return trace.model.weights.embeddings.segment is not None


def causes(traced: Trace, only_words: bool = False) -> Figure:
    """Draw the number of heads of each name, and in weak colours the number without places and without segments."""
    runs = {"": specialization.names_of(traced, only_words)}
    runs["without places"] = names_without(traced, only_words, places=True)
    if has_segments(traced):
        runs["without segments"] = names_without(traced, only_words, places=False)
    ids = [each.id for each in PATTERNS if any((names == each.id).any() for names in runs.values())] or ["delimiter"]
    labels = [way or pattern_name(id) for id in ids for way in runs]
    values = [float((names == id).sum()) for id in ids for names in runs.values()]
    scale = Scale("Heads", (0.0, max(1.0, *values)), ".0f")
    return bars(labels, values, scale, title="Heads that keep their name", highlight=range(0, len(labels), len(runs)))


def pattern_name(id: str) -> str:
    """The name of the pattern with this id; "Mixed" for a head without a named pattern."""
    return next((pattern.name for pattern in PATTERNS if pattern.id == id), MIXED.capitalize())


def told_score(score: float, chance: Chance, place: int) -> str:
    """Write a sentence with a score of ``PATTERNS[place]`` and the score of chance."""
    if math.isnan(score):
        return "It has no score here."
    needed, untrained = float(chance.needed[place]), float(chance.untrained[place])
    return (
        f"Its score is {beside(score, needed)}. A uniform head scores {chance.uniform[place]:.2f}, so a head needs "
        f"{beside(needed, score)} to get the name. The best untrained head scores {beside(untrained, score)}."
    )


def said(names: NDArray[np.str_], head: Head) -> str:
    """Say how many heads get each name on this text, and which name the chosen head gets, if any. ``names`` (L, H)."""
    counts = Counter(str(name) for name in names.ravel())
    counts.pop(MIXED, None)
    own = str(names[head])
    if not counts:
        return f"In this text, none of the {names.size} heads does any of these things clearly more often than chance."
    told = [f"{count} {DOES[name][count == 1]}" for name, count in counts.most_common()]
    verb = "has a name" if (total := sum(counts.values())) == 1 else "have a name"
    here = (
        f"{begun(head_name(head))} is one of them: {pattern_name(own)}."
        if own != MIXED
        else f"{begun(head_name(head))} does none of these things, but it may have a job that has no name here."
    )
    return f"{begun(number_of(total, 'head'))} of {names.size} {verb} in this text: {listed(told)}. {here}"


@asks(
    basis=bet(
        "A head finds its neighbour by what the words are, so it also finds it without positions.",
        "A head finds its neighbour by its place, so without positions it finds nothing.",
    ),
    hint="In what do the vectors of two equal words differ?",
)
def by_place(spot: Spot) -> Question | None:
    """Ask what heads for a neighbour do if no token has a place; None if there are few or the answer is not clear."""
    only_words = kept_others(spot.trace) is not None
    before, after = (
        int(np.isin(names, _NEIGHBOURS).sum())
        for names in (
            specialization.names_of(spot.trace, only_words),
            names_without(spot.trace, only_words, places=True),
        )
    )
    if not before or before / 4 < after < before * 3 / 4:
        return None
    why = (
        f"With positions, {before} heads look at the token before or after; without positions, {after or 'none'} do. "
        "If heads found a neighbour by its word, their number would stay the same. If they found it by its place, "
        "none would be left."
    )
    outcomes = {
        "They still do: they know the words": after >= before * 3 / 4,
        "They no longer do: they find a neighbour by its place": after <= before / 4,
    }
    prompt = (
        "Set the position vectors of all tokens to 0, as in lesson 2. Some heads look at the token before or after. "
        "What do these heads do now?"
    )
    return which_holds("by-place", prompt, why, outcomes)


@asks(basis=derivable(LESSON, "named-patterns", "the map of names"), for_a_class=True)
def best_head(spot: Spot) -> Question | None:
    """Ask which head of the model fits the first pattern with a clear winner best."""
    scores, few = scores_of(trace_patterns(spot.trace)), same_word_cases(spot.trace) < FEW_CASES
    asked = (
        fits_best(pattern, scores[PATTERNS.index(pattern)])
        for pattern in DECIDED
        if not (few and pattern.id == "same_word")
    )
    return next((question for question in asked if question is not None), None)


def fits_best(pattern: Pattern, scores: Values) -> Question | None:
    """Ask which head of the model fits a pattern best. ``scores`` (L, H)."""
    if not np.isfinite(scores).all():
        return None
    heads, values = scores.shape[1], scores.ravel().tolist()

    def name(place: int) -> str:
        return f"Layer {place // heads + 1}, head {place % heads + 1}"

    def why(place: int, best: int) -> str:
        tail = "the highest." if place == best else f"{name(best)} has {values[best]:.3f}."
        return f"Its score is {values[place]:.3f}, {tail}"

    prompt = f"Which head fits the pattern “{pattern.name}” best?"
    return ranked(f"best-head-{pattern.id}", prompt, values, name, why, of=heads)


def show(view: OneHead) -> None:
    """Show the names that heads get on this text; ask for the cause; behind clicks, causes, scores and formulas."""
    show_sentence(view)
    idea(IDEA)
    choose_part(view)
    at, only_words = (view.layer.index, view.head), chosen_left_out(view)
    scores = scores_of(trace_patterns(view.trace, only_words=only_words))
    chance = trace_chance(view.trace, only_words=only_words)
    names = specialization.names_of(view.trace, only_words)
    say(
        "A head gets a name here if it does one thing clearly more often than a uniform head does, and more often "
        "than any head with random numbers. Click a head to choose it and to see its arcs."
    )
    draw(partial(specialization.named_heads, view.trace, *at, only_words), NAMED, clickable=True)
    meaning(said(names, at))
    ask_beside(LESSON, by_place(view.spot))
    _show_few(view)
    _show_a_named(view, names, scores)
    with st.expander("Without places, without segments", on_change="rerun", key="_causes") as causes:
        if causes.open:
            _show_causes(view, only_words)
    with st.expander("The scores of this head", icon=":material/table:", on_change="rerun", key="_own_scores") as own:
        if own.open:
            _show_own(view, scores[:, at[0], at[1]], chance, str(names[at]))
    with st.expander("The best head of each pattern", on_change="rerun", key="_best_scores") as best:
        if best.open:
            show_best_heads(scores, chance)
    with st.expander("What the scores are", icon=":material/function:", on_change="rerun", key="_scores") as formulas:
        if formulas.open:
            _show_formulas()
    code(patterns.head_patterns, named.clearly_above, named.above_chance)


def _show_a_named(view: OneHead, names: NDArray[np.str_], scores: Values) -> None:
    """Offer the clearest head that has a name (a head for the token before comes first), whose arcs show the name."""
    for pattern in sorted(PATTERNS, key=lambda each: each.id != "previous_token"):
        places = np.argwhere(names == pattern.id)
        if not len(places):
            continue
        layer, head = max(places.tolist(), key=lambda at: float(scores[PATTERNS.index(pattern), at[0], at[1]]))
        what = DOES[pattern.id][True]
        name = head_name((layer, head))
        try_this(f"{name} {what}. Look at its arcs.", f"Open {name}", {LAYER: layer + 1, HEAD: head + 1})
        return


def _show_formulas() -> None:
    """Write the rule for a name, and the formula of each score."""
    say(_RULE)
    for pattern in PATTERNS:
        say(f"**{pattern.name}.** {pattern.reading}")
        st.latex(pattern.formula)
    st.caption(
        r"$\ell_i$ is the number of keys that a query may see, $k_i$ the number of places of a word, $D$ the "
        "delimiters, $s(i)$ the words of the token’s segment. A model that was never trained with a second segment "
        "sees one segment: the whole text. **Broad** has a score, but no head is named after it, because no head can "
        "be broader than a uniform head."
    )


def _show_few(view: OneHead) -> None:
    """Warn that a score for the same word means little if only a token or two have such a word."""
    cases = patterns.same_word_cases(view.trace)
    if 0 < cases < FEW_CASES:
        st.caption(
            f"Only {cases} token{'s have' if cases > 1 else ' has'} another place or piece of the same word to look "
            "at, so the pattern “Same or related word” says little here. Try a text that repeats words."
        )


def show_best_heads(scores: Values, chance: Chance) -> None:
    """Show, for each pattern, the head that shows it best, beside chance. ``scores`` (P, L, H)."""
    numbers = dict.fromkeys(("its score", "uniform head", "best untrained head"), _SCORE)
    show_table(_best_heads(scores, chance), formats=numbers)
    st.caption(_notes(scores, chance))


def _best_heads(scores: Values, chance: Chance) -> pd.DataFrame:
    """Draw one row per pattern; patterns with named heads come first. ``scores`` (P, L, H)."""
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
    """Write how far a score is above chance; rounding never moves the number to or across the limit of a name."""
    if np.isnan(value):
        return ""
    if np.isinf(value):
        return "no room"
    return "below chance" if value < 0 else beside(value, CLEARLY)


def _notes(scores: Values, chance: Chance) -> str:
    """Explain the columns and the missing rows of the table."""
    notes = [
        "“Above chance” is (score − uniform) ÷ (1 − uniform). It is 0 at chance and 1 for the whole pattern. A head "
        "that is clearly above chance in two patterns is named after the pattern with the higher value."
    ]
    full = [
        pattern.name.lower()
        for pattern, value, own in zip(PATTERNS, above_chance(scores, chance.uniform), scores, strict=True)
        if np.isneginf(value).any() and not np.isnan(own).all()
    ]
    if full:
        notes.append(f"A uniform head already scores 1 in {' and '.join(full)}, so no head can be above it.")
    if np.isnan(scores).any():
        notes.append("A pattern is missing if the text has no case of it, or if a causal model cannot show it.")
    return " ".join(notes)


def _show_own(view: OneHead, scores: Values, chance: Chance, name: str) -> None:
    """Show the chosen head's name, the reason for it, and all its scores."""
    place = f"{view.place[0].upper()}{view.place[1:]}"
    order = [pattern.id for pattern in PATTERNS]
    if name == MIXED:
        said = "None of its scores is clearly above chance."
    else:
        said = told_score(float(scores[order.index(name)]), chance, order.index(name))
    say(f"{place} is **{pattern_name(name)}**. {said}")
    if name == "delimiter":
        _show_delimiter(view, float(scores[order.index(name)]))
    numbers = dict.fromkeys(("this head", "uniform head", "best untrained head"), _SCORE)
    show_table(scores_table(scores, chance), formats=numbers)


def _show_delimiter(view: OneHead, mass: float) -> None:
    """Say that a head may work for a few words and rest for all others."""
    tokens = escaped(aside(view.trace))
    say(
        f"Its words send **{beside(mass, 1.0)}** of their attention to {tokens}. This shows where most of the "
        "attention goes. It does not show that the head does nothing else: it may work for a few words and rest for "
        "the others."
    )


def scores_table(scores: Values, chance: Chance) -> pd.DataFrame:
    """Draw one row per pattern: the chosen head's score beside chance. ``scores`` (P,)."""
    table = pd.DataFrame(
        {
            "pattern": [pattern.name for pattern in PATTERNS],
            "this head": scores,
            "uniform head": chance.uniform,
            "best untrained head": chance.untrained,
            "above chance": [_above(float(value)) for value in above_chance(scores, chance.uniform)],
        }
    )
    return table[~np.isnan(scores)]


def _show_causes(view: OneHead, only_words: bool) -> None:
    """Show how many heads keep each name without position vectors, and without segment vectors."""
    draw(partial(causes, view.trace, only_words), "causes")
    segments = "; and the segment vectors" if has_segments(view.trace) else ""
    st.caption(
        f"Strong bars show the model as it is. For weak bars, the position vectors are set to 0{segments}. The lab "
        "compares both runs with the same chance. The model never saw such vectors in training, so other things may "
        "change, too."
    )
