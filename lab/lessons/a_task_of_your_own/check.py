"""Check: a question, and two sentences of the learner's own that teach the classifier as much as they can."""

from __future__ import annotations

import numpy as np

from lab.analysis.tasks.few_examples import Examples, learned, products_of
from lab.analysis.tasks.sentence_vectors import brief, together
from lab.course.sentences.news import NEWS
from lab.lessons.a_task_of_your_own import LESSON
from lab.lessons.a_task_of_your_own.change_the_model import CAPITALS, NAMED
from lab.lessons.a_task_of_your_own.taught import LAB_PAIRS
from lab.models.catalogue import DEFAULT_MODEL
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui import runs
from lab.ui.play import LessonRun
from lab.ui.quiz.draw_check import ChallengeVerdict, draw_challenge, draw_checks

UNSEEN = tuple(text for pair in NEWS[len(LAB_PAIRS) :] for text in pair)  # sentences that no list has shown
_TRUTH = tuple(place % 2 == 0 for place in range(len(UNSEEN)))
LEAST = 45  # of the 64 unseen sentences; three of the lab's own pairs in thirty reach it
WANTED = f"""
Teach the classifier with only two sentences of your own: one with good news and one with bad news. It must get
at least {LEAST} of {len(UNSEEN)} sentences right that you have not seen. Put a / between yours: *good news /
bad news*."""
TWO = "Write two sentences with one / between them: the good news first, then the bad news."
SHOWN = "This sentence is in the lab’s list. Write two of your own."
FOUND = "From these two, the classifier gets {right} of {tested} right."
MET = " Of the lab’s thirty pairs, three teach it that much; half teach it 37 or fewer."
NOT_YET = " A coin gets about {half} right. The classifier is wrong, for example, about *{wrong}*"


def show(view: LessonRun) -> None:
    """Ask the question, and set the challenge."""
    draw_checks(LESSON, [why_forgotten()])
    draw_challenge(LESSON, WANTED, "good news / bad news", judge)


@asks(
    basis=derivable(LESSON, "change-the-model", "the blank before and after, and what the training left as it was"),
    hint="Which weights did the steps move, and who else uses them?",
)
def why_forgotten() -> Question:
    """Ask why training for one task can change what the model says in a blank."""
    return Question(
        "why-forgotten",
        f"After the last layer was trained for good and bad news, lab-minilm names only {min(CAPITALS)} to "
        f"{max(CAPITALS)} of the {NAMED} capitals that it named before. Why?",
        (
            Option(
                "The same weights fill blanks, and no step kept them good at it",
                "The steps made the loss of the news smaller. The loss of the blanks was not looked at.",
                correct=True,
            ),
            Option(
                "The vocabulary head now gives scores to good and bad news in place of words",
                "The vocabulary head did not move. It reads vectors from a layer that did.",
            ),
            Option(
                "The sentences with news say something else about the capitals",
                "They are about jobs, films and soup. Nothing in them contradicts a capital.",
            ),
        ),
        mixed=True,
    )


def _letters(text: str) -> str:
    """The letters of a text, so that another sign or space makes no other sentence."""
    return "".join(filter(str.isalnum, text.casefold()))


def judge(entry: str) -> ChallengeVerdict:
    """Teach a classifier with the two sentences of an entry, and count the unseen sentences about which it is right."""
    own = [" ".join(part.split()) for part in entry.split("/")]
    if len(own) != 2 or not all(own):
        return ChallengeVerdict(met=False, said=TWO)
    if {_letters(text) for pair in NEWS for text in pair} & set(map(_letters, own)):
        return ChallengeVerdict(met=False, said=SHOWN)
    model = runs.model(DEFAULT_MODEL)
    vectors = np.concatenate([brief(model, own).mean, together(model, UNSEEN).mean])
    none = (None,) * len(UNSEEN)
    examples = Examples((True, False, *none), (None, None, *_TRUTH), tuple(range(len(vectors))))
    said = learned(products_of(vectors), examples)
    assert said is not None  # there is a sentence of either label
    hits = (said[2:] > 0.5) == np.array(_TRUTH)
    told = FOUND.format(right=int(hits.sum()), tested=len(hits))
    if hits.sum() >= LEAST:
        return ChallengeVerdict(met=True, said=told + MET)
    wrong = max(np.flatnonzero(~hits), key=lambda place: abs(said[2:][place] - 0.5))
    return ChallengeVerdict(met=False, said=told + NOT_YET.format(half=len(hits) // 2, wrong=UNSEEN[wrong]))
