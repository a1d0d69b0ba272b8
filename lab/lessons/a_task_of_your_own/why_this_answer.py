"""Why this answer? Each word is cut off from all others, to see which one turns the answer; beside it, attention."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.tasks.logistic import probability
from lab.analysis.tasks.tuning import Tuned
from lab.analysis.tasks.turning import Turning, turning
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import VISIBLE, capital, escaped, listed, told_apart
from lab.figures.notebook import argument
from lab.lessons.a_task_of_your_own import LESSON
from lab.lessons.a_task_of_your_own.change_the_model import example_of
from lab.lessons.a_task_of_your_own.taught import LONGEST
from lab.lessons.a_task_of_your_own.trained_layer import chosen_split, show_with_trained, tuned_again
from lab.lessons.a_task_of_your_own.what_cls_knows import mark_in_words, mark_name
from lab.models.encoding import TextError
from lab.models.loading import LoadedModel
from lab.models.trace import trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import which_holds
from lab.questions.question import Question
from lab.questions.spot import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import caption, meaning
from lab.ui.frame.header import idea
from lab.ui.play import LessonRun
from lab.ui.terms import say

IDEA = """
Why does the trained model give this answer? Cut one word off, so that no other token can attend to it, and ask again.
Which word **turns** the answer?"""


@dataclass(frozen=True, eq=False)
class Classified:
    """The trained model's label for a text, the probability of this label, and the cuts.

    ``words`` are the words that were cut off, each with its place from 1. ``told`` are their names in a sentence.
    """

    label: str
    probability: float
    found: Turning
    words: tuple[str, ...]
    told: tuple[str, ...]

    @property
    def without(self) -> list[float]:
        """The probability of the same label without each word."""
        sign = np.sign(self.found.score)
        return [float(each) for each in probability(sign * self.found.without)]

    def name(self, place: int) -> str:
        """Return the name of the token at a place, from 0, in a sentence."""
        return self.told[self.found.places.index(place)]


def answer(model: LoadedModel, tuned: Tuned, text: str, labels: tuple[str, str]) -> Classified | None:
    """Ask the trained model for the label of a text; None for a text without a word."""
    read = trace(tuned.model, text)
    found = turning(read, tuned)
    if found is None:
        return None
    share = float(probability(np.array(abs(found.score))))
    words = tuple(f"{place + 1} {read.labels[place]}" for place in found.places)
    told = tuple(told_apart(read, place) for place in found.places)
    return Classified(labels[0] if found.score > 0 else labels[1], share, found, words, told)


def without_each_word(found: Classified) -> Figure:
    """Draw the probability of the answer without each word, beside that of the whole sentence."""
    turns = [found.found.places.index(place) for place in found.found.turns]
    title = f"“{found.label}”, with one word cut off"
    scale = Scale("Probability of the answer", (0.0, 1.0), ".2f")
    return bars(found.words, found.without, scale, title=title, highlight=turns or None, reference=found.probability)


def looked_at(found: Classified, mark: str) -> Figure:
    """Draw the attention of [CLS] to each word in the last layer, as a mean over the heads."""
    return bars(found.words, found.found.attention, Scale("Weight", format=".2f"), title=f"Where {mark} looks")


def said(found: Classified, mark: str) -> str:
    """Name the words that turn the answer, and the word to which [CLS] gives most."""
    turns, seen = found.found.turns, found.name(found.found.looked_at)
    told = f"The answer is **{escaped(found.label)}** ({found.probability:.2f})."
    if not turns:
        top = found.found.matters
        change = found.probability - found.without[found.found.places.index(top)]
        if change < VISIBLE:
            return f"{told} No single word matters: without any of them, the answer is as sure as before."
        return f"{told} No single word turns it. Without {found.name(top)}, it loses most: {change:.2f}."
    names = listed([found.name(place) for place in turns])
    each = "" if len(turns) == 1 else "each of "
    told = f"{told} Without {each}{names}, it turns."
    if found.found.looked_at in turns:
        return f"{told} {capital(mark)} also looks most at {seen}."
    return f"{told} {capital(mark)} looks most at another word: {seen}. **Here, attention does not show what matters.**"


@asks(
    basis=derivable(LESSON, "why-this-answer", "the bars without a word, beside the attention"),
    hint="Which of them would show you what happens to the answer?",
)
def which_proves(spot: Spot) -> Question | None:
    """Ask what shows that an answer depends on a word."""
    why = (
        "Only a cut shows what happens to the answer without the word. A weight of attention says how much of a value "
        "arrives, not whether the answer needs it."
    )
    outcomes = {
        "The answer changes if the word is cut off": True,
        "Attention gives the word the largest weight": False,
        "The word is the longest one of the sentence": False,
    }
    prompt = "What shows that a model’s answer depends on a certain word?"
    return which_holds("which-proves", prompt, why, outcomes, mixed=True)


def show(view: LessonRun) -> None:
    """Show the answer without each word, beside the attention of [CLS]."""
    model, found = view.trace.model, chosen_split()
    idea(IDEA)
    text = st.text_input("A sentence", example_of(found), max_chars=LONGEST)
    labels = found.task.labels
    try:
        told = show_with_trained(model, found, (text, labels), lambda tuned: (answer(model, tuned, text, labels),))
    except TextError as error:
        st.info(str(error), icon=":material/edit:")
        return
    if told is None:
        say("First train the last layer: the answer is read from its vector.")
        return
    (now,) = told
    if now is None:
        st.info("This text has no word to cut off. Write a longer one.", icon=":material/edit:")
        return
    again = argument(answer, model, tuned_again(model, found), text, found.task.labels)
    assert again is not None  # the text has a word
    left, right = st.columns(2)
    with left:
        draw(without_each_word(now), "turning", again=partial(without_each_word, again))
    with right:
        draw(looked_at(now, mark_name(model)), "cls-looks", again=partial(looked_at, again, mark_name(model)))
    meaning(said(now, mark_in_words(model)))
    caption(
        "A cut says what happens without a word, not where its meaning is. The classifier has learned few sentences, "
        "so it makes mistakes."
    )
    code(turning)
