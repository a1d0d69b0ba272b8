"""When France decides: the model goes on with one vector from the sentence about Russia."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.layers.exchanged import (
    NotExchangeable,
    best,
    exchange,
    exchanged,
    exchanged_after,
    multiplications,
    other_run,
)
from lab.analysis.words.predictions import word_of
from lab.course.pages import experiment_of
from lab.course.words import escaped, quoted, spoken
from lab.evidence import story
from lab.evidence.story import CourseStory
from lab.lessons.masked_language_model import LESSON, word_figures
from lab.lessons.masked_language_model.view import tells_story
from lab.models.encoding import TextError
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet
from lab.ui.drawing import code, draw
from lab.ui.long_work import serial_of, unasked
from lab.ui.parameters import SECOND_TEXT, TEXT
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say, show_table, try_this, way_to
from lab.ui.shared.prediction import PredictionView

RIVAL = "The capital of Russia is _."
_QUICK = 6e9  # multiplications that a page does while it is drawn: a short sentence in a small model
_TASK = (
    "In *The capital of Russia is ▢.*, the model says *moscow*. Take **one vector** from this run, put it into the run "
    "about France in place of the token’s own, and let the model go on from there."
)
_OWN_TASK = (
    "Take **one vector** from the run of a second sentence, put it into the run of the first in place of the token’s "
    "own, and let the model go on from there."
)
_ASK = (
    "Type a second sentence that differs from the first in a word and has as many tokens. Write _ for the blank. For "
    "example, *The boys ▢ playing.* and *The boy ▢ playing.*"
)
READING = (
    "{word} gets most, **{p:.2f}**, if the vector of {token} is exchanged {after}. In the second sentence itself, it "
    "has {whole:.2f}."
)
WRITTEN = (
    "Before layer 6, the vector of *France* decides, and the blank’s own vector does not bring *moscow*. In layer 6, "
    "what the vector of *France* says is **brought** to the blank."
)
BUILT = (
    "Both ends are so by construction: before layer 1, the two runs differ at *France* only, and after layer 6, only "
    "the blank is read. The finding is between: 0.00 in the column of the blank before layer 6."
)
LISTED = (
    "**For other countries, too?** The lab drew {pairs} pairs of the {countries} countries whose capital the model "
    "names. The table counts the pairs in which the other country’s capital came first:"
)
CITED = (
    "Meng et al. (2022) found the like for facts in GPT models: early, the vectors of the subject decide, and late, "
    "those of the last token."
)
KEYS = ("The keys to the cabinet [MASK] on the table.", "The key to the cabinet _ on the table.")
WHOSE = {"country": "the country", "blank": "the blank", "other tokens": "all other tokens at once"}


def show(view: PredictionView) -> Trace:
    """Show what the model says if one vector comes from another sentence, and the same over the list of countries."""
    ours = tells_story(view)
    say(_TASK if ours else _OWN_TASK)
    if not predict(LESSON, when_it_learns()):
        return view.trace
    typed = SECOND_TEXT.line("The second sentence, with _ for the blank", placeholder=RIVAL if ours else "").strip()
    if not typed and not ours:
        st.info(_ASK, icon=":material/edit:")
        return view.trace
    if _show_map(view, typed or RIVAL) and ours and not typed:
        _show_list(story.known(view.model))
        try_this(
            "exchange *keys* and *key*. In which row does the column of the blank begin?",
            "The keys … ▢ on the table",
            dict(zip((TEXT, SECOND_TEXT), KEYS, strict=True)),
        )
    way_to("The experiment", experiment_of("patching"))
    code(exchanged_after)
    return view.trace


def _show_map(view: PredictionView, text: str) -> bool:
    """Draw the map of two sentences, or say why there is none; return whether it is drawn."""
    try:
        other = other_run(view.trace, view.place, text)
    except (NotExchangeable, TextError) as reason:
        st.info(escaped(str(reason)), icon=":material/edit:")
        return False
    found = exchange(view.trace, view.place, other)
    if not found.finished and multiplications(view.model.config, len(view.trace)) > _QUICK:
        unasked(
            ("exchange", serial_of(found)), "Exchange the vectors", partial(exchanged, view.trace, view.place, other)
        )
        return False
    draw(partial(word_figures.one_vector, view.trace, view.place, text), "exchanged")
    is_told = tells_story(view) and text == RIVAL
    meaning(most(view.trace, view.place, other) + (f" {WRITTEN}" if is_told else ""))
    if is_told:
        caption(BUILT)
    return True


def _show_list(told: CourseStory | None) -> None:
    """Show in how many pairs of countries the other capital wins, by the vector that is exchanged."""
    if told is None:
        return
    say(LISTED.format(countries=len(told.named), pairs=told.change("blank", 0).pairs))
    show_table(counted(told))
    say(CITED)


@asks(
    basis=bet(
        "Attention spreads the country over all tokens at once.",
        "The blank collects a little of the country in every layer.",
        "The country stays in its own vector until a late layer brings it.",
    ),
    hint="In which layer did heads look from the blank at *France* (lesson 4)?",
)
def when_it_learns() -> Question | None:
    """Ask how long the country's own vector decides."""
    return Question(
        "when-it-learns",
        "Put the vector of *Russia* from *The capital of Russia is ▢.* in the place of *France*’s in *The capital of "
        "France is ▢.* You can do this before layer 1, or after any layer. When does the model answer *moscow* then?",
        (
            Option(
                "Only at first: attention spreads the country at once",
                "Every layer lets all tokens look at *France*, so this may seem likely. But what they take from it "
                "early does not decide the answer.",
            ),
            Option(
                "Less and less with each layer, as the blank collects",
                "A sum that grows layer by layer could work so. But before layer 6, the blank’s own vector never "
                "brings *moscow*, and changes *paris* little.",
            ),
            Option(
                "Until layer 6, which brings it to the blank",
                "Before layer 6, the answer becomes *moscow*. Heads of layer 6 bring it from this vector to the blank.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def most(trace: Trace, place: int, other: Trace) -> str:
    """Say which vector, before the last layer's end, makes the other sentence's word most probable."""
    shares = exchanged(trace, place, other)
    layer, token = (int(at) for at in np.unravel_index(int(shares[:-1].argmax()), shares[:-1].shape))
    return READING.format(
        word=quoted(word_of(trace.model.tokenizer, best(other, place))),
        p=float(shares[layer, token]),
        token=spoken(trace, token),
        after=f"after layer {layer}" if layer else "at first",
        whole=float(shares[-1, place]),
    )


def counted(told: CourseStory) -> pd.DataFrame:
    """Count, for each exchanged vector and layer, the pairs in which the other country's capital wins."""
    layers = 1 + max(row.after for row in told.exchanged)
    names = ["at first", *(f"after {layer}" for layer in range(1, layers))]
    rows = [[told.change(which, layer).other for layer in range(layers)] for which in WHOSE]
    frame = pd.DataFrame(rows, columns=names)
    frame.insert(0, "vector of", list(WHOSE.values()))
    return frame
