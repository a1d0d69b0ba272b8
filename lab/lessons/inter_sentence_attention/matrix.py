"""Matrix: how much each sentence looks at each other, the formula of a cell, and what length alone would give."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.values import is_causal
from lab.analysis.sentences.attention import MASS, MAXIMUM, RELATIVE, InterSentence, between_sentences
from lab.analysis.sentences.split import expected, split
from lab.course.pages import lesson_of
from lab.course.words import VISIBLE, capital
from lab.figures import sentences as figures
from lab.figures.sentences import read
from lab.lessons.inter_sentence_attention import LESSON, MATRIX
from lab.lessons.inter_sentence_attention.behind_a_cell import show_every_maximum
from lab.lessons.inter_sentence_attention.row import show_tokens
from lab.lessons.inter_sentence_attention.shares import (
    counted,
    percents,
    read_for_question,
    sentence_name,
    sentences_of,
)
from lab.lessons.inter_sentence_attention.view import SentencesView, choose_part, readings
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet, derivable
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.spot import Spot
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import FROM_SENTENCE, KEPT, MEASURE, SINKS, TO_SENTENCE
from lab.ui.quiz.predictions import ask_beside
from lab.ui.tables import show_table
from lab.ui.terms import say

_LISTED = 4  # if a text has more sentences, they are counted, not listed


def said(trace: Trace, a: int, b: int, left_out: bool) -> str:
    """Say whether sentences look mostly at themselves, and compare a share of ``a`` with a uniform head's."""
    found = read(trace, split(trace), left_out)
    mass, even = float(found.mass[a, b]), expected(found, len(trace), is_causal(trace), a, b)
    whom = "itself" if a == b else f"sentence {b + 1}"
    gives = f"Sentence {a + 1} gives {percents(mass)} to {whom}"
    than = "about the same" if abs(mass - even) < VISIBLE else percents(even)
    return f"{_own(found, is_causal(trace))} {gives}. A uniform head would give {than}."


def _own(found: InterSentence, causal: bool) -> str:
    """Say how many sentences look more at themselves than at any other; if there are few sentences, name the shares."""
    rows = range(1 if causal else 0, len(found.members))
    own = [a for a in rows if _leads(found, a)]
    which = "later sentence" if causal else "sentence"
    if not own:
        return f"No {which} looks more at itself than at any other sentence."
    shares = f": {_all([percents(float(found.mass[a, a])) for a in own])}" if len(own) <= _LISTED else ""
    if len(own) == len(rows):
        return (
            f"Sentence {own[0] + 1} looks more at itself than at any other sentence{shares}."
            if len(own) == 1
            else f"Each {which} looks more at itself than at any other{shares}."
        )
    return f"{len(own)} of {len(rows)} {which}s {_looks(len(own))} than at any other{shares}."


def _looks(count: int) -> str:
    return "looks more at itself" if count == 1 else "look more at themselves"


def _leads(found: InterSentence, a: int) -> bool:
    """Return whether sentence ``a`` clearly gives more to itself than to any other sentence."""
    others = [float(found.mass[a, b]) for b in range(len(found.members)) if b != a and found.where[a, b, 0] >= 0]
    return bool(found.mass[a, a] - max(others) >= VISIBLE)


def _all(names: list[str]) -> str:
    """Join names to “a, b and c”; repeated names are kept."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def other_way(trace: Trace, a: int, b: int, left_out: bool) -> str:
    """Say how much sentence ``b`` gives to ``a``, or that ``b`` cannot see ``a``."""
    if is_causal(trace):
        return (
            f"In the other direction, there is no attention, because sentence {b + 1} cannot see what comes after it."
        )
    back = float(read(trace, split(trace), left_out).mass[b, a])
    return f"Attention has a direction: sentence {b + 1} gives {percents(back)} of its attention to sentence {a + 1}."


def lengths(trace: Trace, left_out: bool) -> str:
    """Say how much attention a sentence gets from a uniform head, which is due to its length alone.

    If special tokens are ``left_out``, as in the map, the shares are shares of the attention to sentences.
    """
    sizes = [len(split(trace).places(number)) for number in range(len(split(trace)))]
    n = sum(sizes) if left_out and not is_causal(trace) else len(trace)
    who = "From the last token, a uniform head" if is_causal(trace) else "A uniform head"
    if len(set(sizes)) == 1:
        return (
            f"{who} would give each sentence {percents(sizes[0] / n)}, because all sentences are equally long "
            f"({_tokens(sizes[0])})."
        )
    most, least = (int(place) for place in (np.argmax(sizes), np.argmin(sizes)))
    return (
        f"{who} would give {percents(sizes[most] / n)} to sentence {most + 1} but only {percents(sizes[least] / n)} "
        f"to sentence {least + 1}, because sentence {most + 1} is longer. So compare each share with the share that a "
        "uniform head would give."
    )


def _tokens(count: int) -> str:
    return f"{count} token{'s' if count != 1 else ''}"


def formula(view: SentencesView) -> str:
    """The formula of a cell as LaTeX, filled in with the numbers of the chosen one."""
    config, a, b = view.trace.model.config, view.a + 1, view.b + 1
    count = len(view.found.members[view.a])
    mass = float(view.found.mass[view.a, view.b])
    heads = config.layers * config.heads
    mean = rf"\frac{{1}}{{{heads} \cdot {count}}} \sum_{{\text{{{heads} heads}}}} \;"
    rows = rf"{mean} \sum_{{i \in \text{{sentence }} {a}}} \;"
    return rf"\text{{share}}({a} \to {b}) = {rows} \sum_{{j \in \text{{sentence }} {b}}} A_{{ij}} = {mass:.3f}"


@asks(
    "token",
    "key_token",
    basis=derivable(LESSON, "matrix", "the numbers of tokens below the map"),
    hint="A uniform head gives each token the same weight. What then decides how much a sentence gets?",
)
def longer_gets_more(spot: Spot) -> Question | None:
    """Ask to which of two other sentences a uniform head would give more: to the longer one."""
    sentences = sentences_of(spot)
    if sentences is None or is_causal(spot.trace):
        return None
    sizes = [len(sentences.places(number)) for number in range(len(sentences))]
    most, least = (int(place) for place in (np.argmax(sizes), np.argmin(sizes)))
    if sizes[most] < 1.3 * sizes[least]:
        return None
    why = (
        f"{capital(sentence_name(most))} has {sizes[most]} tokens, and {sentence_name(least)} has {sizes[least]}. A "
        "uniform head gives each token the same weight, so the longer sentence gets more, whatever it says."
    )
    return shuffled(
        "longer-gets-more",
        "A head that gives every token the same weight has learned nothing. To which sentence does such a head give "
        "more?",
        [
            Option(capital(sentence_name(most)), why, correct=True),
            Option(capital(sentence_name(least)), why),
            Option("Both get the same share", why),
        ],
    )


@asks(
    basis=derivable(LESSON, "matrix", "the map, and the shares of a uniform head"),
    hint="How much would a uniform head give to each of the two sentences?",
)
def why_less(spot: Spot) -> Question | None:
    """Ask why a sentence can get more attention than another, and yet less relative to its length."""
    sentences = sentences_of(spot)
    if sentences is None:
        return None
    found = read_for_question(spot.trace, sentences)
    return counted(spot.trace, sentences, _why_less(found))


def _why_less(found: InterSentence) -> Question | None:
    """Ask why a sentence can get more attention than another, and yet less relative to its length."""
    count, relative = len(found.members), found.relative
    for a, b, c in np.ndindex(count, count, count):
        if a in (b, c) or not math.isfinite(relative[a, b] + relative[a, c]):
            continue
        if found.mass[a, b] - found.mass[a, c] < MARGIN or relative[a, c] - relative[a, b] < 2 * MARGIN:
            continue
        sizes = [len(found.members[sentence]) for sentence in (b, c)]
        longer, other = sentence_name(b), sentence_name(c)
        return shuffled(
            "why-less",
            f"{capital(sentence_name(a))} gives {percents(float(found.mass[a, b]))} to {longer} and only "
            f"{percents(float(found.mass[a, c]))} to {other}. Compared with a uniform head, the order is reversed: "
            f"these shares are {relative[a, b]:.2f} times and {relative[a, c]:.2f} times as large. Why?",
            [
                Option(
                    f"{capital(longer)} is longer",
                    f"It has {sizes[0]} tokens, and {other} has {sizes[1]}. A uniform head gives more to a longer "
                    "sentence. So a head prefers a longer sentence only if it gives even more.",
                    correct=True,
                ),
                Option(
                    f"{capital(other)} is about the same thing",
                    "You took a number for meaning. Meaning may attract attention, but the order changed only when "
                    "the lab took the length into account.",
                ),
                Option(
                    "Softmax makes small weights larger",
                    "Both numbers come from the same weights, after softmax. Only the comparison differs.",
                ),
            ],
        )
    return None


@asks(
    basis=bet(
        "A number in the map is true for every head and every word.", "A mean hides what single heads and words do."
    ),
    hint="How many weights are behind each of these two numbers?",
)
def one_weight(spot: Spot) -> Question | None:
    """Ask why a weight can be large and the share of its sentence small."""
    sentences = sentences_of(spot)
    if sentences is None:
        return None
    return counted(spot.trace, sentences, _one_weight(read_for_question(spot.trace, sentences)))


def _one_weight(found: InterSentence) -> Question | None:
    """Ask why a weight can be large and the share of its sentence small, for the sentence in which both differ most."""
    gaps = np.where(np.isfinite(found.maximum), found.maximum - found.mass, -1.0)
    np.fill_diagonal(gaps, -1.0)
    a, b = (int(place) for place in np.unravel_index(int(gaps.argmax()), gaps.shape))
    largest, mass = float(found.maximum[a, b]), float(found.mass[a, b])
    if gaps[a, b] < 0.2:
        return None
    return shuffled(
        "one-weight",
        f"In one head, a token of {sentence_name(a)} gives {percents(largest)} of its attention to one token of "
        f"{sentence_name(b)}. But the map says that {sentence_name(a)} gives only {percents(mass)} to "
        f"{sentence_name(b)}. How can both be true?",
        [
            Option(
                "The map is a mean over all heads and tokens, and a single weight can be far above the mean",
                "A single head or word can look at another sentence while the others stay in their own. A mean hides "
                "this.",
                correct=True,
            ),
            Option(
                "Softmax has made the weights of the other heads smaller",
                "Softmax does not connect the heads. It works within one row of one head, and every head has its own "
                "rows.",
            ),
            Option(
                f"Only one token of {sentence_name(a)} can see {sentence_name(b)}",
                "A small share says how much attention the tokens give on average. It does not say what they can see.",
            ),
        ],
    )


@asks(
    basis=derivable(LESSON, "matrix", "the empty half of the map"),
    hint="In which order does this model read? Which tokens may a token see?",
)
def into_the_future(spot: Spot) -> Question | None:
    """Ask why half of a causal model's map is empty."""
    sentences = sentences_of(spot)
    if sentences is None or not is_causal(spot.trace):
        return None
    return shuffled(
        "into-the-future",
        "Why has the row of sentence 1 no number in the column of sentence 2?",
        [
            Option(
                "Its tokens cannot see the tokens after them",
                "The model is causal: the scores of later tokens are −∞, so there is no weight to show, not even 0.",
                correct=True,
            ),
            Option(
                "They could look at sentence 2, but they gave it no attention",
                "A weight of 0 would be shown as 0. The mask removes these cells before the softmax.",
            ),
            Option(
                "The two sentences are unrelated",
                "The cell would be empty for any two sentences, because it depends only on their order.",
            ),
        ],
    )


def show(view: SentencesView) -> None:
    """Draw the map, its formula, and what a uniform head would give."""
    show_tokens(view)
    say(
        f"The model does not read sentence by sentence. It reads one row of {len(view.trace)} tokens, and a word can "
        f"look {'back ' * view.causal}into another sentence. If you add up the **attention weights** from the tokens "
        "of one sentence to the tokens of another, you get one number for this pair of sentences."
    )
    cell = (view.a, view.b)
    draw(partial(figures.sentence_map, view.trace, cell, view.left_out), MATRIX, clickable=True)
    st.caption(f"{readings(view)[MASS]} Click a cell to choose it.")
    meaning(said(view.trace, view.a, view.b, view.left_out))
    if view.a != view.b:
        say(other_way(view.trace, view.a, view.b, view.left_out))
    st.latex(formula(view))
    if ask_beside(LESSON, longer_gets_more(view.spot)):
        say(lengths(view.trace, view.left_out))
    _show_another(view)
    with st.expander("The sentences, as the lab divides the text", on_change="rerun", key="_sentences") as listed:
        if listed.open:
            _show_sentences(view)
    otherwise = MEASURE.chosen() != MASS or SINKS.chosen() == KEPT
    with st.expander("Count otherwise", expanded=otherwise, on_change="rerun", key="_otherwise") as counting:
        if counting.open:
            _show_otherwise(view)
    code(between_sentences)


def _show_sentences(view: SentencesView) -> None:
    """List the sentences with their numbers of tokens."""
    sentences = view.sentences
    table = pd.DataFrame(
        {
            "sentence": [" ".join(text.split()) for text in sentences.texts],
            **({"text": ["B" if second else "A" for second in sentences.in_pair]} if any(sentences.in_pair) else {}),
            "tokens": [len(sentences.places(number)) for number in range(len(sentences))],
            "first token": [sentences.places(number)[0] + 1 for number in range(len(sentences))],
        },
        index=range(1, len(sentences) + 1),
    )
    show_table(table, numbered=True)
    own = " This lesson has its own text, but you can type your text in the sidebar."
    st.caption(
        f"A program called Punkt (Kiss & Strunk 2006) finds **{len(sentences)} sentences** here. The model itself is "
        f"not told where a sentence ends.{own * (view.trace.text == lesson_of(LESSON).text)}"
    )


def _show_another(view: SentencesView) -> None:
    """Offer the two sentences between which most attention crosses, relative to length; from there, the way back."""
    relative = np.where(np.isfinite(view.found.relative), view.found.relative, -1.0)
    np.fill_diagonal(relative, -1.0)
    a, b = (int(place) for place in np.unravel_index(int(relative.argmax()), relative.shape))
    if (a, b) != (view.a, view.b):
        why = (
            f"relative to length, most attention crosses from sentence {a + 1} to sentence {b + 1}. Look at that cell."
        )
        try_this(why, f"{a + 1} to {b + 1}", {FROM_SENTENCE: a + 1, TO_SENTENCE: b + 1})
    elif not view.causal:
        why = f"look in the other direction, from sentence {b + 1} to sentence {a + 1}."
        try_this(why, f"{b + 1} to {a + 1}", {FROM_SENTENCE: b + 1, TO_SENTENCE: a + 1})


def _show_otherwise(view: SentencesView) -> None:
    """Draw the switch for special tokens, and other measures of the same attention."""
    choose_part(view)
    with sidebar.controls():
        measure = MEASURE.choose("Measure", (RELATIVE, MAXIMUM))
    say(readings(view)[measure])
    draw(partial(figures.matrix, view.trace, measure, (view.a, view.b), "", None, view.left_out), "sentences-otherwise")
    say(
        f"From sentence {view.a + 1} to sentence {view.b + 1}: "
        f"**{view.values(measure, view.left_out)[view.a, view.b]:.3f}**."
    )
    if measure == MAXIMUM:
        show_every_maximum(view)
