"""Hide words: the model gives every word of its vocabulary a probability for a blank."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.words.in_blank import BLANK, Run, blank_of, in_blank
from lab.course.sentences.blanks import Blank
from lab.course.words import quoted, share, token_in_words
from lab.lessons.masked_language_model.best import show_best
from lab.lessons.masked_language_model.telling import telling
from lab.lessons.masked_language_model.tries import show_one_word_changed
from lab.models.catalogue import twin_of
from lab.models.loading import LoadedModel
from lab.models.trace import Trace, trace
from lab.questions.asking import asks
from lab.questions.basis import bet
from lab.questions.kinds import rises_or_falls, which_holds
from lab.questions.question import MARGIN, Question
from lab.questions.returning import Spot
from lab.ui import sidebar
from lab.ui.parameters import TOP
from lab.ui.shared.prediction import PredictionView
from lab.ui.terms import say
from lab.ui.toys.toy_runs import open_learning

_BLUR = 0.01  # a change nearer to the margin than this is on neither side visibly


@asks(
    basis=bet("The model fits the verb to its subject.", "The model only knows which words often occur together."),
    hint="With which word of the sentence must the verb agree?",
    for_a_class=True,
)
def other_subject(spot: Spot) -> Question | None:
    """Ask what happens to a verb’s probability in the lab’s sentence if its subject is changed."""
    model = spot.trace.model
    if model.id.startswith("toy-") or twin_of(model.id) is not None or model.no_words:
        return None
    run = partial(trace, model)
    return subject_changed(run, model, telling(run, model))


def subject_changed(run: Run, model: LoadedModel, blank: Blank) -> Question | None:
    """Ask what happens to the answer's probability if one word of the sentence ``blank`` is changed."""
    before, after = (blank_of(run, model, text) for text in (blank.text, blank.changed))
    if before is None or after is None:
        return None
    first, then = (in_blank(model, each, blank.answers[0]) for each in (before, after))
    if first is None or then is None:
        return None
    change = then.probability - first.probability
    if abs(abs(change) - MARGIN) < _BLUR:
        return None
    told = f"It goes from {share(first.probability)} to {share(then.probability)}."
    old, new = map(quoted, blank.change)
    prompt = (
        f"{_read(blank.text, model.config.causal)}: this model gives {quoted(blank.answers[0])} the probability "
        f"{share(first.probability)} {'as the next word' if model.config.causal else 'in the blank'}. Change {old} to "
        f"{new}. What happens to this probability?"
    )
    return which_holds("other-subject", prompt, told, rises_or_falls(change))


def _read(text: str, causal: bool) -> str:
    """The part of a sentence with a blank that a model reads."""
    return quoted(text.partition(BLANK)[0].rstrip() if causal else text)


def show(view: PredictionView) -> Trace:
    """Show the most probable words for a blank."""
    mask, _ = view.model.mask or (BLANK, -1)
    say(
        f"Hide a word behind {token_in_words(mask)}. The model gives every word of its vocabulary a **probability**, a "
        "number from 0 to 1. All probabilities add up to 1. You saw such bars on the first page. Now you see how they "
        "are made."
    )
    show_best(view, view.prediction, f"In your text, token {view.place + 1} is")
    show_one_word_changed(view)
    with sidebar.controls():
        TOP.choose("Words in the figure")
    if st.button("How does a model learn this? Watch a toy", key="_to_toy", icon=":material/toys:", type="tertiary"):
        open_learning()
    return view.trace
