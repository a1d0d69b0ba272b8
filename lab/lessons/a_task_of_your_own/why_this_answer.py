"""Why this answer? Each word is cut off from all others, to see which one turns the answer; beside it, attention."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.tasks.few_examples import Turning, turning
from lab.analysis.tasks.logistic import probability
from lab.analysis.tasks.tuning import Tuned
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import VISIBLE, escaped, told_apart
from lab.figures.notebook import argument
from lab.lessons.a_task_of_your_own import LESSON
from lab.lessons.a_task_of_your_own.change_the_model import example_of
from lab.lessons.a_task_of_your_own.mark import is_written_about, mark_in_words, mark_name
from lab.lessons.a_task_of_your_own.taught import LONGEST
from lab.lessons.a_task_of_your_own.trained_layer import Split, chosen_split, show_with_trained, tuned_again
from lab.models.encoding import TextError
from lab.models.loading import LoadedModel
from lab.models.trace import trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet
from lab.ui.drawing import code, draw
from lab.ui.play import LessonRun
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import caption, meaning, say

IDEA = """
Why does the trained model give this answer? Cut one word off, so that no other token can attend to it, and ask again.
How probable is the answer then?"""
READING = """
The answer is **{label}** ({p:.2f}). It is least probable without {word}: {left:.2f}{turned}. In the last layer, {mark}
looks most at {seen}: {weight:.2f}."""
CAPTION = """
A cut acts in all layers, and this is the attention of one. Replacing a word, or patching its vector (lesson 9), are
other tests. At most 24 words are cut."""
TURNED = " (the other label wins)"
LITTLE = """
The answer is **{label}** ({p:.2f}). No single cut changes this by as much as 0.01. In the last layer, {mark} looks most
at {seen}: {weight:.2f}."""
# The new sentences of the course's model and the lab's sentences in which the word with the largest weight is the word
# whose cut costs most: with the training on the page, in five trainings, and if the word is drawn by lot. Tests compute
# them again.
AGREE, TESTED, FIVE, BY_LOT = 35, 62, (29, 35), 8
WRITTEN = f"""
**A hint, and often a wrong one.** In {AGREE} of {TESTED} new sentences, [CLS] looks most at the word whose cut costs
most ({FIVE[0]} to {FIVE[1]} in five trainings). A word drawn by lot would be that word in {BY_LOT}. In *The film was
not good.*, [CLS] looks most at *good*, and without *not* the answer turns."""


def show(view: LessonRun) -> None:
    """Show the answer without each word, beside the attention of [CLS]."""
    model, found = view.trace.model, chosen_split()
    say(IDEA)
    text = st.text_input("A sentence", example_of(found), max_chars=LONGEST)
    try:
        _show_cuts(model, found, text)
    except TextError as error:
        st.info(str(error), icon=":material/edit:")
    if ask_beside(LESSON, looks_or_cut()) and is_written_about(model, own=found.own):
        say(WRITTEN)
    code(turning)


def _show_cuts(model: LoadedModel, found: Split, text: str) -> None:
    """Draw the answer of the trained model without each word of ``text``, and where [CLS] looks."""
    labels = found.task.labels
    told = show_with_trained(model, found, (text, labels), lambda tuned: (answer(model, tuned, text, labels),))
    if told is None:
        say("First train the last layer: the answer is read from its vector.")
        return
    (now,) = told
    if now is None:
        st.info("This text has no word to cut off. Write a longer one.", icon=":material/edit:")
        return
    again = argument(answer, model, tuned_again(model, found), text, labels)
    assert again is not None  # the text has a word
    left, right = st.columns(2)
    with left:
        draw(without_each_word(now), "turning", again=partial(without_each_word, again))
    with right:
        draw(looked_at(now, mark_name(model)), "cls-looks", again=partial(looked_at, again, mark_name(model)))
    meaning(said(now, mark_in_words(model)))
    caption(CAPTION)


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
    """Name the word whose cut costs most, and the word to which [CLS] gives most."""
    told, most = found.found, found.found.matters
    left = found.without[told.places.index(most)]
    little = all(abs(each - found.probability) < VISIBLE for each in found.without)
    return (
        (LITTLE if little else READING)
        .format(
            label=escaped(found.label),
            p=found.probability,
            word=found.name(most),
            left=left,
            turned=TURNED * (most in told.turns),
            mark=mark,
            seen=found.name(told.looked_at),
            weight=float(told.attention.max()),
        )
        .strip()
    )


@asks(
    basis=bet(
        "Attention says nothing of what matters.",
        "Attention is a hint at what matters, and often a wrong one.",
        "Attention shows what matters.",
    ),
    hint="A weight says how much of a value arrives in one layer. What can keep it from mattering?",
)
def looks_or_cut() -> Question:
    """Ask how often the word with the largest weight is the word whose cut costs most."""
    return Question(
        "looks-or-cut",
        f"For each of {TESTED} new sentences, the lab cuts every word of lab-minilm’s sentence, and looks at the last "
        "layer’s attention from [CLS]. In how many is the word that gets most attention also the word whose cut costs "
        "most?",
        (
            Option(
                "In nearly all: the model looks at what it needs",
                "A large weight brings much of a value. But the value may be short, other heads and layers bring the "
                "word, too, and the classifier may not read it.",
            ),
            Option(
                f"In about {BY_LOT}, as if the word were drawn by lot",
                "Attention need not be the reason of an answer (Jain & Wallace 2019). But it is related to it: far "
                "more "
                f"than {BY_LOT} sentences agree.",
            ),
            Option(
                "In about half of the sentences",
                f"In {AGREE} of {TESTED}. A word with much attention matters more often than another word, and often "
                "it does not.",
                correct=True,
            ),
        ),
        mixed=True,
    )
