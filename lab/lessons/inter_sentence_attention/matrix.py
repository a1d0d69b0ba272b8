"""Matrix: how much each sentence looks at each other, what length alone would give, and the tokens behind a cell."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.heads.values import is_causal
from lab.analysis.sentences.between_sentences import AVERAGE, MASS, MAXIMUM, RELATIVE, between_sentences
from lab.analysis.sentences.token_sentences import expected, split
from lab.course.sentences.looks import is_story
from lab.course.words import capital, spoken
from lab.figures.sentences import block, read, sentence_map
from lab.lessons.inter_sentence_attention import LESSON, MATRIX
from lab.lessons.inter_sentence_attention.behind_a_cell import name
from lab.lessons.inter_sentence_attention.view import LONGER, SentencesView, show_tokens
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.parameters import MEASURE
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import caption, meaning, say, say_more, try_this
from lab.ui.shared.metric_choice import choose_sinks, sinks_left_out

IDEA = """
A weight goes from token to token. Take the mean map of all heads, add up the weights from a token to all tokens of a
sentence, and take the mean over the tokens of the sentence that looks: this is one cell of the map."""
STORY_IDEA = " Here, a longer sentence follows the two."
READINGS = {
    MASS: "Each row shows to which sentences a sentence gives its attention.",
    RELATIVE: "Each cell is a share, divided by the share that a uniform head would give: 1 is what length explains.",
    MAXIMUM: "Each cell is the largest weight that any head gives from a token of one sentence to one of the other.",
}
WITHOUT = """ Without {outside}: each row is divided by what is left ({removed:.0%} of the attention of sentence {a}
goes there)."""
ALONE = "A sentence of one token would then have no token left, so no token is left out."
CLICK = """
 Click a cell to choose it. (A program called Punkt, Kiss & Strunk 2006, finds the sentences. The model is not told
where one ends.)"""
READING = """
Of {what}, sentence {a} gives **{share:.0%}** to sentence {b}. A uniform head would give it {even:.0%}, so this is
{times:.2f} times as much. The largest single weight is in head {head}, from {query} to {key}: {most:.2f}."""
STORY = """
From the sentence of the blank, the long sentence gets {long:.0%} and the first one {first:.0%}. But the long one has
{tokens} tokens, and the first one {few}. **Length-corrected**, the order turns: the first sentence gets {more:.2f}
times the share from a uniform head, and the long one {less:.2f} times."""
MEAN_MAP = "Ā is the mean map of all heads{left}."
LEFT = ", each row divided by what is left"
BEHIND = "Behind this cell: the weights from the tokens of sentence {a} to those of sentence {b}, {heads}{left}."


def show(view: SentencesView) -> None:
    """Draw the map in the chosen measure, and the tokens behind the chosen cell; ask what length does."""
    trace, a, b = view.trace, view.a, view.b
    with sidebar.controls():
        choose_sinks(None if view.can_leave_out else ALONE)
    left_out = view.can_leave_out and sinks_left_out()
    story_text = is_story(trace, LONGER)
    say(IDEA + STORY_IDEA * story_text)
    show_tokens(view)
    measure = MEASURE.choose("Measure")
    draw(partial(sentence_map, trace, measure, (a, b), left_out), MATRIX, clickable=True)
    removed = float(read(trace, view.sentences, left_out).removed[a])
    st.caption(READINGS[measure] + WITHOUT.format(outside=view.outside, removed=removed, a=a + 1) * left_out + CLICK)
    meaning(reading(trace, a, b, left_out))
    _show_behind(view, measure, left_out)
    if ask_beside(LESSON, longer_gets_more()):
        if story_text and left_out:
            say_more(story(trace))
        st.latex(formula(trace, a, b, left_out))
        st.caption(MEAN_MAP.format(left=LEFT * left_out))
        try_this("which is the largest single weight behind a cell?", "Maximum", {MEASURE: MAXIMUM})
    code(between_sentences)


def _show_behind(view: SentencesView, measure: str, left_out: bool) -> None:
    """Draw the tokens behind the chosen cell: the mean over all heads, or the head with the largest weight."""
    head = strongest_at(view.trace, view.a, view.b, left_out)[0]
    heads, told = (head, f"in head {name(head)}") if measure == MAXIMUM else (AVERAGE, "as a mean over all heads")
    draw(partial(block, view.trace, view.a, view.b, heads, left_out), "behind-cell")
    left = f"; without {view.outside}, each row is divided by what is left" * left_out
    caption(BEHIND.format(a=view.a + 1, b=view.b + 1, heads=told, left=left))


def strongest_at(trace: Trace, a: int, b: int, left_out: bool) -> tuple[Head, int, int]:
    """Return the head, the query and the key (from 0) of the largest weight between two sentences."""
    layer, head, query, key = (int(each) for each in read(trace, split(trace), left_out).where[a, b])
    return (layer, head), query, key


def reading(trace: Trace, a: int, b: int, left_out: bool) -> str:
    """State the share of a cell, the share from a uniform head, and the largest weight."""
    found = read(trace, split(trace), left_out)
    share, even = float(found.mass[a, b]), expected(found, len(trace), is_causal(trace), a, b)
    head, query, key = strongest_at(trace, a, b, left_out)
    numbers = {"share": share, "even": even, "times": share / even, "most": float(found.maximum[a, b])}
    words = {"head": name(head), "query": spoken(trace, query), "key": spoken(trace, key)}
    what = "what it gives to sentences" if left_out else "its attention"
    return capital(READING.format(a=a + 1, b=b + 1, what=what, **numbers, **words).strip())


def story(trace: Trace) -> str:
    """Compare what the second sentence gives to the first and to the long third one."""
    found = read(trace, split(trace), left_out=True)
    (first, _, long), (more, _, less) = found.mass[1].tolist(), found.relative[1].tolist()
    few, _, tokens = map(len, found.members)
    return STORY.format(long=long, first=first, tokens=tokens, few=few, more=more, less=less)


def formula(trace: Trace, a: int, b: int, left_out: bool) -> str:
    """The formula of a cell as LaTeX, filled in with its numbers; Ā is the mean map of all heads."""
    found = read(trace, split(trace), left_out)
    mean = rf"\frac{{1}}{{{len(found.members[a])}}}"
    sums = rf"\sum_{{i \in \text{{sentence }} {a + 1}}} \sum_{{j \in \text{{sentence }} {b + 1}}} \bar A_{{ij}}"
    total = f"= {float(found.mass[a, b]):.3f}"
    lines = r" \\ & ".join((rf"\text{{share}}({a + 1} \to {b + 1})", f"= {mean} {sums}", total))  # fits a phone
    return rf"\begin{{aligned}} & {lines} \end{{aligned}}"


@asks(
    basis=derivable(LESSON, "matrix", "the map of shares"),
    hint="Add up the weights that this head gives to all tokens of each sentence.",
)
def longer_gets_more() -> Question:
    """Ask to which of two sentences a uniform head gives more: to the longer one."""
    return Question(
        "longer-gets-more",
        "A head gives every token the same weight: it prefers nothing. One sentence has 5 tokens, another 16. Which "
        "one gets more from this head?",
        (
            Option(
                "The longer one",
                "It has 16 of these equal weights, and the other has 5: so it gets 3.2 times as much. Compare a share "
                "with the share from such a head.",
                correct=True,
            ),
            Option(
                "Neither, because all weights are the same",
                "The weights of tokens are the same. But a sentence gets a sum of them, one for each of its tokens.",
            ),
            Option(
                "The shorter one, because its words stand out",
                "With few words, each could count for more. But this head gives no word more than another.",
            ),
        ),
        mixed=True,
    )
