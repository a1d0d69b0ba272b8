"""Radar: the numbers that describe a head, each compared with the other heads of its layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads.one_row import attention_map
from lab.analysis.heads.specialization import (
    SPECIALIZATIONS,
    UNTAGGED,
    Dimension,
    Total,
    relative_to_layer,
    specialization,
    totals_of,
    trace_specialization,
)
from lab.analysis.heads.values import Values, is_causal
from lab.course.words import aside, capital, escaped, head_name
from lab.figures import specialization_figures
from lab.lessons.head_specialization import LESSON
from lab.lessons.head_specialization.view import (
    choose_part,
    chosen_kept,
    chosen_left_out,
    kept_others,
    look_for_tags,
    name_of,
    show_kinds,
)
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.asking import Spot, asks
from lab.questions.question import Option, Question, derivable
from lab.text.tags.token_tags import Tags
from lab.toy.models import is_toy
from lab.ui import sidebar
from lab.ui.drawing import code, draw_plotly
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import caption, meaning, say
from lab.ui.shared.metric_choice import choose_version
from lab.ui.shared.one_head import OneHead

IDEA = """
Does a head have a job? Numbers for what it prefers make a profile: **function words** (*the*, *of*), **content words**
(*capital*), punctuation, names (**entities**), the word itself, words five or more places away, the next word and the
word before. On each axis, the center is the smallest number of this layer, and the rim is the largest."""
READING = """
{head} comes nearest to the rim on the axis **{axis}**, with {times:.1f} times what a uniform head gives."""
STORY = """
This text has one name, *France*, so this axis is about one word. The look of lesson 3 is one of seven rows; the other
six rest, and of the little that they leave for words, *France* gets about half. So a radar of one text shows how the
numbers are made. **Over many texts?** In the {count} of the lab’s short texts that have a name, 6-4 gives names
**{names:.1f}** times what a uniform head gives, and in all {texts} texts function words {function:.1f} times. That is
a preference, and a weaker one than this text shows; {first} gives names {most:.1f} times."""
# The means of :mod:`lab.lessons.head_specialization.many_sentences` over the sentences that come with the lab.
SURVEYED = {"texts": 200, "count": 83, "names": 1.88, "function": 0.42, "first": "5-5", "most": 2.91}
CAVEAT = (
    "A uniform head gives every token the same weight. In “Numbers and files”, each number is a multiple "
    "of the uniform head’s."
)
TOY = "Letters have no parts of speech. Some of these numbers do not need them: they depend only on places."
_ONE, _ALL = "This head", "All heads of the layer"


def show(view: OneHead) -> None:
    """Show the kind of each token and the radar of the head, ask what its rim means, and draw, folded, the formulas."""
    say(IDEA)
    tags = look_for_tags(view)
    if tags is None:
        return
    choose_part(view)
    left_out, head = chosen_left_out(view), (view.layer.index, view.head)
    if is_toy(view.trace.model):
        say(TOY)
    else:
        show_kinds(view, tags)
    found = specialization_figures.profile(view.trace, view.layer.index, left_out)
    if len(found.raw) < 2 or len(found.there) < 3:
        longer = "Choose a longer sentence in the sidebar" if is_toy(view.trace.model) else "Write a longer text"
        st.info(f"A radar needs two heads to compare, and three values for each. {longer}.", icon=":material/edit:")
        return
    whose = st.segmented_control("Show", [_ONE, _ALL], default=_ONE, required=True, key="_radar")
    draw_plotly(partial(specialization_figures.radar, view.trace, *head, whose == _ALL, left_out), "radar")
    caption(CAVEAT)
    if not ask_beside(LESSON, rim()):
        return
    own = [values[view.head, found.there].tolist() for values in (found.relative, found.raw, found.corrected)]
    told = reading(head, own, [escaped(found.axes[at]) for at in found.there])
    if told:
        meaning(f"{told} {STORY.format(**SURVEYED)}" if view.spot.in_story_head and left_out else told)
    label = "The formulas, with this head’s numbers"
    with st.expander(label, on_change="rerun", key="_formulas") as formulas:
        if formulas.open:
            _show_cards(view, tags)
    code(relative_to_layer, trace_specialization, totals_of)


def _show_cards(view: OneHead, tags: Tags) -> None:
    """Draw a card for each metric, with this head's numbers in its formula."""
    keep = chosen_kept(view)
    every = specialization(view.trace, only_words=chosen_left_out(view))
    with sidebar.folded():
        corrected = choose_version()
    n, causal = len(view.trace) if keep is None else int(keep.sum()), is_causal(view.trace)
    say(
        f"{view.place[0].upper()}{view.place[1:]}, {n} tokens: $A$ is its map, $i$ a query, $j$ a key, $S$ the tokens "
        f"of a kind. {_which(view.trace, corrected, chosen_left_out(view))}"
    )
    parts = totals_of(attention_map(view.layer, view.head)[None], *tags, causal=causal, keep=keep).of(0)
    shown = [place for place, part in enumerate(parts) if part.id != "cls" or keep is None or keep[0]]
    missing = [SPECIALIZATIONS[place] for place in range(len(parts)) if place not in shown]
    if is_toy(view.trace.model):
        shown = [place for place in shown if parts[place].id in UNTAGGED]
    for start in range(0, len(shown), 2):
        for column, place in zip(st.columns(2), shown[start : start + 2], strict=False):
            dimension = SPECIALIZATIONS[place]
            with column, st.container(border=True, height="stretch"):
                _show_card(view, dimension, parts[place], every.values(dimension.id, corrected), corrected)
    if missing:
        names = ", ".join(name_of(each, view.trace) for each in missing)
        st.caption(f"There is no card for {names}, because this value is left out.")


def _show_card(view: OneHead, shown: Dimension, part: Total, values: Values, corrected: bool) -> None:
    """Write the formula with this head's numbers, and the head's rank among all heads. ``values`` (L, H)."""
    say(f"**{name_of(shown, view.trace)}**")
    st.latex(_corrected_formula(shown.id) if corrected else shown.formula)
    if not part.members:
        say("This text has no such tokens, so there is no value.")
        return
    st.latex(rf"\small {part.fill(corrected)}")
    own = float(values[view.layer.index, view.head])
    above, even = int(np.count_nonzero(values > own)), part.uniform / part.divisor
    told = f"**{own:.3f}** × a uniform head" if corrected else f"**{own:.3f}** · uniform head {even:.3f}"
    other = _otherwise(view.spot, shown, corrected, chosen_left_out(view))
    say(f"{told} · {above} of {values.size - 1} other heads are higher{other}")
    reading = f" {shown.reading}" * (shown.id != "cls")
    st.caption(f"{_what(part)}{reading} Also called “{shown.also}”.")


def reading(head: Head, own: Sequence[Sequence[float]], axes: Sequence[str]) -> str:
    """Say on which axis the head is nearest to the rim; ``own`` has its values on ``axes``: relative, raw, corrected.

    "" if no axis tells the heads of the layer apart.
    """
    relative, _, corrected = own
    if len(set(relative)) == 1 < len(relative):
        return ""
    top = max(range(len(axes)), key=relative.__getitem__)
    return capital(READING.format(axis=axes[top], head=head_name(head), times=corrected[top]).strip())


@asks(
    basis=derivable(LESSON, "radar", "what the rim of an axis is"),
    hint="Each axis runs from the smallest to the largest value of this layer.",
)
def rim() -> Question:
    """Ask what it means that a head reaches the rim."""
    return Question(
        "rim",
        "Without [CLS] and [SEP], head 6-6 of lab-minilm is at the rim of the axis *Entities*, which is about names, "
        "in the radar of layer 6. What does this alone tell you?",
        (
            Option(
                "It gives names more than a uniform head does",
                "It does, but the rim does not tell. In another layer, the head at the rim may give them less.",
            ),
            Option(
                "Of what its rows give to words, no other head of the layer gives names a larger share",
                "The largest value of the layer is drawn at the rim. Here, it is a share of 0.63, as a mean over the "
                "rows of words.",
                correct=True,
            ),
            Option(
                "All its attention goes to names",
                "Of what its rows give to words, names get 0.63 on average. The largest value of a layer is at the "
                "rim, even if it is small.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "radar", "the values of a head and of a uniform head"),
    hint="Compare each share with the share that a uniform head would give.",
)
def share_or_preference() -> Question:
    """Ask which of two kinds a head prefers: the one with more attention, or the one with the larger ratio."""
    return Question(
        "share-or-preference",
        "Of a text’s tokens, 50 in 100 are function words and 5 in 100 are names. A head gives function words 0.40 of "
        "its attention, and names 0.20. Which of the two does it prefer?",
        (
            Option("Function words", "A uniform head would give them 0.50, so this head gives them less than that."),
            Option(
                "Neither", "Divide each share by the share of the tokens: 0.40 ÷ 0.50 is 0.8, and 0.20 ÷ 0.05 is 4."
            ),
            Option(
                "Names", "A uniform head would give them 0.05. This head gives them four times as much.", correct=True
            ),
        ),
        mixed=True,
    )


def _which(trace: Trace, corrected: bool, left_out: bool) -> str:
    """Explain raw or corrected values."""
    if not corrected:
        return "**Raw** values are the values of this head as they are."
    told = "**Corrected** values are divided by the value of $U$, the map of a uniform head, so 1 means no preference"
    if left_out:
        return f"{told} among the tokens that are left (all but {escaped(aside(trace))})."
    return f"{told} among all tokens, {escaped(aside(trace))} included."


def _otherwise(spot: Spot, shown: Dimension, corrected: bool, left_out: bool) -> str:
    """Return the value under the other setting of the switch: with special tokens, or without them."""
    if kept_others(spot.trace) is None:
        return ""
    other = specialization(spot.trace, only_words=not left_out)
    value = float(other.values(shown.id, corrected)[spot.layer, spot.head])
    if np.isnan(value):
        return ""
    return f"  \n{'With' if left_out else 'Without'} {escaped(aside(spot.trace))}: {value:.3f}"


def _corrected_formula(id: str) -> str:
    """The formula of a corrected value: the head's sum over the uniform head's sum, on the same cells."""
    cells = {"cls": (r"\sum_i", "i,1"), "long_range": (r"\sum_{|i-j|\ge 5}", "ij"), "self": (r"\sum_i", "ii")}
    total, index = cells.get(id, (r"\sum_i \sum_{j\in S}", "ij"))
    return rf"\frac{{{total} A_{{{index}}}}}{{{total} U_{{{index}}}}}"


def _what(part: Total) -> str:
    """Name the cells of the map that are added up."""
    if part.id == "long_range":
        return f"{part.members:,} cells are that far apart."
    if part.id == "self":
        return f"These are the {part.members} cells of the diagonal."
    if part.id == "cls":
        return "This is the first column of the map."
    return f"S: {part.members} of {part.divisor} tokens."
