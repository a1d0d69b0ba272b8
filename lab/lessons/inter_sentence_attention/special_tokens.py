"""Special tokens: how much attention goes to the tokens that are in no sentence, or to a causal model's first token."""

from __future__ import annotations

import math
from functools import partial

import streamlit as st

from lab.analysis.heads.values import is_causal
from lab.analysis.sentences.attention import MASS, InterSentence
from lab.analysis.sentences.split import aside, expected, split
from lab.course.pages import step_name
from lab.course.words import VISIBLE, capital, escaped
from lab.course.words import aside as set_apart
from lab.figures import sentences as figures
from lab.figures.sentences import apart
from lab.lessons.inter_sentence_attention import LESSON
from lab.lessons.inter_sentence_attention.row import show_tokens
from lab.lessons.inter_sentence_attention.shares import MUCH, percents, sentence_name, sentences_of
from lab.lessons.inter_sentence_attention.view import SentencesView
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.kinds import ranked
from lab.questions.question import Question
from lab.questions.spot import Spot
from lab.ui.drawing import draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import FROM_SENTENCE, KEPT, LEFT_OUT, SINKS, STEP
from lab.ui.quiz.predictions import predict
from lab.ui.terms import say


def said(trace: Trace, a: int, outside: str) -> str:
    """Compare the share of special tokens or the first token, called ``outside``, with a uniform head's."""
    share, even = taken_and_even(trace, a)
    gets, them = ("get", "them") if " and " in outside else ("gets", "it")
    more = "more than any sentence does: " if share > float(apart(trace, split(trace)).mass[a].max()) else ""
    than = "about the same" if abs(share - even) < VISIBLE else percents(even)
    times = f", so this is {share / even:.1f} times as much" if share >= MUCH * even else ""
    return (
        f"From sentence {a + 1}, {outside} {gets} {more}{percents(share)}. A uniform head would give {them} "
        f"{than}{times}."
    )


def taken_and_even(trace: Trace, a: int) -> tuple[float, float]:
    """Return the share of the tokens that are set apart, from sentence ``a`` and from a uniform head."""
    sentences = split(trace)
    kept = apart(trace, sentences)
    even = 1 - sum(expected(kept, len(trace), is_causal(trace), a, b) for b in range(len(sentences)))
    return float(kept.removed[a]), even


@asks(
    "token",
    basis=bet("Most attention goes to words.", "Heads park much of their attention at tokens that say nothing."),
    hint="Where do heads park attention that they cannot use?",
)
def where_it_goes(spot: Spot) -> Question | None:
    """Ask which gets the largest share of a sentence's attention: a sentence, or the tokens that are in no sentence."""
    found = sentences_of(spot)
    if found is None or aside(spot.trace, found) is None:
        return None
    a = found.of_token[spot.query]
    shares = apart(spot.trace, found)
    return _where_it_goes(shares, len(found) - 1 if a is None else a, escaped(set_apart(spot.trace)))


def _where_it_goes(apart: InterSentence, a: int, what: str) -> Question | None:
    """Ask which gets the largest share of a sentence's attention: a sentence, or the tokens that are in no sentence."""
    seen = [b for b in range(len(apart.members)) if not math.isnan(apart.maximum[a, b])]
    values = [*(float(apart.mass[a, b]) for b in seen), float(apart.removed[a])]
    names = [f"{sentence_name(b)}{' itself' if b == a else ''}" for b in seen] + [what]

    def name(place: int) -> str:
        return capital(names[place])

    def why(place: int, best: int) -> str:
        more = "" if place == best else f", and {values[best]:.3f} to {names[best]}"
        return f"{values[place]:.3f} of this attention goes to {names[place]}{more}."

    prompt = f"Consider all attention of {sentence_name(a)}. Which of these gets the largest part?"
    return ranked("where-it-goes", prompt, values, name, why)


def show(view: SentencesView) -> None:
    """Draw the shares of special tokens (or of the first token), and the map with and without these tokens."""
    show_tokens(view)
    if not view.can_leave_out:
        st.info(
            f"Sentence 1 would have no token without {view.outside}. Write a longer sentence.", icon=":material/edit:"
        )
        return
    say("The map counted only the tokens of sentences. Other tokens get attention, too. How much do they get?")
    if not predict(LESSON, where_it_goes(view.spot)):
        return
    draw(partial(figures.everywhere, view.trace, view.a), "with-specials")
    above = " The cells above the diagonal are 0, because the model cannot look there." if view.causal else ""
    st.caption(f"Each row adds up to 100%. The last column shows the share of {view.outside}.{above}")
    meaning(said(view.trace, view.a, view.outside))
    _show_why(view)
    _show_another(view)
    with st.expander(f"The map with {view.outside} and without", on_change="rerun", key="_both_maps") as both:
        if both.open:
            _show_both(view)


def _show_another(view: SentencesView) -> None:
    """Offer the sentence with the largest share for these tokens; from there, the map that counts these tokens."""
    most = int(view.apart.removed.argmax())
    if most != view.a:
        why = f"sentence {most + 1} gives them most. See how much it gives."
        try_this(why, f"From sentence {most + 1}", {FROM_SENTENCE: most + 1})
    else:
        counted = {SINKS: LEFT_OUT if SINKS.chosen() == KEPT else KEPT, STEP: step_name(LESSON, "matrix")}
        label = "left out" if SINKS.chosen() == KEPT else "counted"
        try_this(f"the map of sentences, with {view.outside} {label}.", label.capitalize(), counted)


def _show_why(view: SentencesView) -> None:
    """Say how papers explain that special (or first) tokens get much attention."""
    share, even = taken_and_even(view.trace, view.a)
    if share < MUCH * even:
        return
    say(
        "Lesson 5 gave a reason (**Parked heads**): a head that finds nothing must still give its attention to "
        "something."
    )
    if any(view.trace.encoding.special):
        st.caption(
            "In BERT base, too, more than half of the attention in layers 6 to 10 goes to [SEP] (Clark et al. 2019, "
            "§3.2). The authors call this a **no-op**."
        )
    elif view.causal:
        st.caption(
            "Xiao et al. 2024 (§3.1) call such a token an **attention sink**. The weights of each token must add up "
            "to 1, and every token can see the first token."
        )


def _show_both(view: SentencesView) -> None:
    """Draw the map with and without special (or first) tokens, on one scale; name the chosen cell of both maps."""
    cell = (view.a, view.b)
    for column, left_out, name in zip(st.columns(2), (False, True), ("with", "without"), strict=True):
        with column:
            title = f"{name.capitalize()} these tokens"
            draw(partial(figures.matrix, view.trace, MASS, cell, title, 1.0, left_out), f"matrix-{name}")
    before, after = (float(view.values(MASS, left_out)[cell]) for left_out in (False, True))
    say(
        f"From sentence {view.a + 1} to sentence {view.b + 1}: {before:.3f} with all tokens, and **{after:.3f}** "
        f"without {view.outside}. Each row is divided by its new sum, so that it adds up to 100% again."
    )
