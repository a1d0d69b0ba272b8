"""The screen about heads that have a name."""

from __future__ import annotations

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
    name_scores,
    scores_of,
    trace_chance,
)
from lab.analysis.heads.parked import parked_share
from lab.analysis.heads.patterns import PATTERNS, trace_patterns
from lab.analysis.heads.values import Values
from lab.course.words import aside, beside, escaped, head_name
from lab.figures import specialization
from lab.lessons.head_specialization import checks, meanings
from lab.lessons.head_specialization.view import choose_part, left_out
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import HEAD, LAYER
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import show_table
from lab.ui.terms import say

NAMED = "named-heads"
_RULE = (
    "A head gets a name when its score is **clearly above chance**: at least half of the way from the score of a "
    "**uniform head**, which gives every token it may see the same weight, to 1. It must also be above the best "
    "**untrained head**: the same architecture with random weights. This threshold of one half is the lab’s choice, "
    "not a published one. A head without a name is **mixed**."
)
_SCORE = "%.3f"


def show_patterns(view: OneHead) -> None:
    """Show the names that heads get on this text, counting words only; behind clicks, the scores and their formulas."""
    at, only_words = (view.layer.index, view.head), left_out(view)
    scores = scores_of(trace_patterns(view.trace, only_words=only_words))
    chance = trace_chance(view.trace, only_words=only_words)
    names = specialization.names_of(view.trace, only_words)
    say(
        "A head gets a name here if it does one thing clearly more often than a uniform head and than any head with "
        "random numbers. Click a head to choose it, and see its arcs."
    )
    draw(partial(specialization.named_heads, view.trace, *at, only_words), NAMED, clickable=True)
    meaning(meanings.patterns(names, at))
    _say_few(view)
    choose_part(view)
    _try_named(view, names, scores)
    with st.expander("The scores of this head", icon=":material/table:", on_change="rerun", key="_own_scores") as own:
        if own.open:
            _say_head(view, scores[:, at[0], at[1]], chance, str(names[at]))
    with st.expander("The best head of each pattern", on_change="rerun", key="_best_scores") as best:
        if best.open:
            show_best_heads(scores, chance)
    with st.expander("What the scores are", icon=":material/function:", on_change="rerun", key="_scores") as formulas:
        if formulas.open:
            _show_formulas()
    code(patterns.head_patterns, named.clearly_above, named.above_chance)


def _try_named(view: OneHead, names: NDArray[np.str_], scores: Values) -> None:
    """Offer the clearest head that has a name (a head for the token before comes first), whose arcs show the name."""
    for pattern in sorted(PATTERNS, key=lambda each: each.id != "previous_token"):
        places = np.argwhere(names == pattern.id)
        if not len(places):
            continue
        layer, head = max(places.tolist(), key=lambda at: float(scores[PATTERNS.index(pattern), at[0], at[1]]))
        what = meanings.DOES[pattern.id][True]
        name = head_name((layer, head))
        try_this(f"{name} {what}. See its arcs.", f"Open {name}", {LAYER: layer + 1, HEAD: head + 1})
        return


def _show_formulas() -> None:
    """Write the rule for a name, and the formula of each score."""
    say(_RULE)
    for pattern in PATTERNS:
        say(f"**{pattern.name}.** {pattern.reading}")
        st.latex(pattern.formula)
    st.caption(
        r"$\ell_i$ is the number of keys that a query may see, $k_i$ the number of places of a word, $D$ the "
        "delimiters, $s(i)$ the words of the token’s segment. A model that never had a second segment sees one "
        "segment: the whole text. **Broad** has a score, but no head is named after it, because no head can be broader "
        "than a uniform head."
    )


def _say_few(view: OneHead) -> None:
    """Warn that a score for the same word means little if only a token or two have such a word."""
    cases = patterns.same_word_cases(view.trace)
    if 0 < cases < checks.FEW_CASES:
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
        "Above chance: (score − uniform) ÷ (1 − uniform), 0 at chance and 1 for the whole pattern. A head that is "
        "clearly above chance in two patterns is named after the pattern in which it is farther above."
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


def _say_head(view: OneHead, scores: Values, chance: Chance, name: str) -> None:
    """Show the chosen head's name, the reason for it, and all its scores."""
    place = f"{view.place[0].upper()}{view.place[1:]}"
    order = [pattern.id for pattern in PATTERNS]
    if name == MIXED:
        said = "None of its scores is clearly above chance."
    else:
        said = checks.told_score(float(scores[order.index(name)]), chance, order.index(name))
    say(f"{place} is **{checks.pattern_name(name)}**. {said}")
    if name == "delimiter":
        at = order.index(name)
        _say_delimiter(view, float(scores[at]), float(chance.needed[at]))
    numbers = dict.fromkeys(("this head", "uniform head", "best untrained head"), _SCORE)
    show_table(_scores_table(view, scores, chance), formats=numbers)


def _say_delimiter(view: OneHead, mass: float, needed: float) -> None:
    """Say that a head may work for a few words and rest for all others."""
    tokens = escaped(aside(view.trace))
    say(meanings.delimiter(needed, float(parked_share(view.trace)[view.layer.index, view.head])))
    say(
        f"Its words send **{beside(mass, 1.0)}** of their attention to {tokens}. This tells where most attention goes, "
        "not that the head does nothing else: it may work for a few words and rest there for the others."
    )


def _scores_table(view: OneHead, scores: Values, chance: Chance) -> pd.DataFrame:
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
