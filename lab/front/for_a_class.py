"""Questions about the first page's picture and machine, for the class of a room."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.flow.cuts import Cuts, Way, cut_run
from lab.analysis.flow.ways_in import effect
from lab.analysis.words.predictions import candidates, prediction_at
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.components.word_forms_picture import LEADS
from lab.charts.marks.bars import bars
from lab.course.words import named, percent, quoted
from lab.models.trace import Trace
from lab.questions.question import MARGIN, Option, Question, which_holds
from lab.ui.parameters import BLANK_TEXT
from lab.ui.room.ask_class import offer

_WORDS = 5
# The parts of the machine, and what is true of one part alone: the same in every layer of every model.
_PARTS = {
    "part-between": ("Which part of a layer brings something from the other tokens?", "Attention"),
    "part-alone": ("Which part of a layer looks at one token alone, and has learned matrices?", "Feed-forward"),
    "part-scale": ("Which part brings the numbers of a vector to one scale?", "LayerNorm"),
}
_WHY = {
    "Attention": "In attention, a token adds up values of other tokens. Nothing else in the machine mixes tokens.",
    "Feed-forward": "The feed-forward network multiplies the vector of one token by matrices, and adds the result.",
    "LayerNorm": "LayerNorm takes away the mean of a vector’s numbers, and divides by their standard deviation. It has "
    "learned weights for each number, but no matrix.",
}


def words_now(trace: Trace, place: int) -> Figure:
    """Draw the likeliest words of the blank, before anything is cut."""
    best = candidates(prediction_at(trace, place, None), _WORDS, trace.model.tokenizer)
    labels, values = [each.word for each in best], [each.probability for each in best]
    return bars(labels, values, Scale("Probability", format=".2f"), title="The blank, with the whole sentence")


def without(trace: Trace, place: int, token: int) -> Question | None:
    """Ask what the best word of the blank becomes if a token is cut off; None if two answers are nearly right."""
    found = effect(trace, place, Cuts().cut(token, Way.BOTH))
    after = prediction_at(cut_run(trace, place, Cuts().cut(token, Way.BOTH)), place, None)
    first, second = np.sort(after.probabilities)[::-1][:2]
    if abs(found.leads - LEADS) < MARGIN / 2 or (first >= LEADS and first - second < MARGIN):
        return None
    word = quoted(str(trace.model.tokenizer.id_to_token(found.word)))
    best = quoted(str(trace.model.tokenizer.id_to_token(found.best)))
    why = (
        f"Without {named(trace, token)}, {word} goes from {percent(found.was)} to {percent(found.kept)}, and the best "
        f"word is {best} with {percent(found.leads)}."
    )
    outcomes = {
        f"{word} stays the best word": not found.changed and found.leads >= LEADS,
        "Another word takes its place": found.changed and found.leads >= LEADS,
        f"No word has {percent(LEADS)} any more": found.leads < LEADS,
    }
    prompt = f"What becomes of {word} in the blank if {named(trace, token)} is cut off?"
    return which_holds(f"without-{token}", prompt, why, outcomes)


def about_parts() -> list[Question]:
    """Ask which part of the machine does what."""
    asked = []
    for id, (prompt, right) in _PARTS.items():
        options = [Option(part, _WHY[right] if part == right else _WHY[part], correct=part == right) for part in _WHY]
        asked.append(Question(id, prompt, tuple(options)))
    return asked


def show(trace: Trace, place: int, sentence: str) -> None:
    """Let the teacher of a room choose a question about the picture or the machine, and ask the class."""
    words = [
        token
        for token, special in enumerate(trace.encoding.special)
        if not special and token != place and trace.labels[token].isalpha()
    ]
    found = [(without(trace, place, token), partial(words_now, trace, place)) for token in words]
    every = [(each, figure) for each, figure in found if each is not None]
    choices: dict[str, tuple[Question, partial[Figure] | None]] = {
        each.prompt: (each, figure) for each, figure in every
    }
    choices |= {each.prompt: (each, None) for each in about_parts()}
    with st.container(border=True):
        chosen = st.selectbox("A question for the class", list(choices), key="_first_class")
        asked, figure = choices[chosen]
        with st.container(horizontal=True):
            about = "Asked about the machine" if figure is None else f"Asked about {quoted(sentence)}"
            here = {BLANK_TEXT.name: sentence}
            drawn = None if figure is None else figure()
            offer("course", replace(asked, about=about), "_first_class", drawn, link=here)
