"""Check: three questions, and a pair of countries for which the swap does not work."""

from __future__ import annotations

import re

from lab.analysis.heads.swapping import Asked, swapped
from lab.course.words import escaped
from lab.evidence import story
from lab.lessons.multi_head_attention import LESSON
from lab.lessons.multi_head_attention.all_heads import why_several
from lab.lessons.multi_head_attention.head_brings import ten_others
from lab.models.catalogue import DEFAULT_MODEL
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui import runs
from lab.ui.quiz.draw_check import ChallengeVerdict, draw_challenge, draw_checks
from lab.ui.shared.one_head import OneHead

WANTED = """
In one of four pairs of countries, the swap of 6-4 and 6-6 does not bring the other capital. Find such a pair, and
write it like *France, Russia*. A hint: the model should be unsure of the second capital to begin with. In its own
sentence, *{sure}* gives its capital {most:.2f}, and *{unsure}* only {least:.2f}."""
TWO = "Write two countries, with a comma between them."
UNKNOWN = "Take another country for *{country}*: one from the menu of **What does a head bring?**"
SAID = "With 6-4 and 6-6 from *{other}*, the sentence about *{own}* says *{word}* ({p:.2f}). "
MET = "That is not {capital}, which has {sure:.2f} in its own sentence: what these two heads bring is not enough."
NOT_YET = "That is {capital}, the other capital. In its own sentence, it has {sure:.2f}."


def show(view: OneHead) -> None:
    """Ask the three questions, and set the challenge."""
    draw_checks(LESSON, [each() for each in (why_several, ten_others, zero_or_mean)])
    if told := story.known(runs.model(DEFAULT_MODEL)):
        draw_challenge(LESSON, wanted(told), "Two countries", judge)


@asks(
    basis=derivable(LESSON, "head-brings", "the bars of the heads at zero and at their mean"),
    hint="What does the blank get from a head at its mean that it does not get from a head at zero?",
)
def zero_or_mean() -> Question:
    """Ask why a head at zero may cost more than the same head at its mean."""
    return Question(
        "zero-or-mean",
        "Without 6-4 and 6-6, the capital comes first in far fewer countries if they are at zero than if they are at "
        "their mean over the tokens of the sentence. What follows?",
        (
            Option(
                "What a removal shows depends on how the head is removed",
                "With a zero, they bring nothing; a mean over the sentence keeps a part of what they bring.",
                correct=True,
            ),
            Option(
                "The two heads are not needed, because the mean is enough",
                "The mean keeps a part of what the heads bring. Many answers are far less probable with it.",
            ),
            Option(
                "Only the zero is right, because then the head is gone",
                "A zero takes the head away, and puts in something new: a vector that the model never met.",
            ),
        ),
        mixed=True,
    )


def judge(entry: str) -> ChallengeVerdict:
    """Look at a pair of countries: what the first one's sentence says with the two heads of the second one's."""
    names = [each.strip(" .!?").lower() for each in re.split(r",|;| and ", entry) if each.strip()]
    if len(names) != 2 or names[0] == names[1]:
        return ChallengeVerdict(met=False, said=TWO)
    model, capitals = runs.model(DEFAULT_MODEL), {name.lower(): (name, capital) for name, capital in story.capitals()}
    asked = []
    for name in names:
        found = story.asked_about(model, *capitals[name]) if name in capitals else None
        if found is None or not found.known:
            return ChallengeVerdict(met=False, said=UNKNOWN.format(country=escaped(name[:40])))
        asked.append(found)
    own, other = asked
    france = story.asked_about(model, *story.COUNTRY)
    assert france is not None
    heads = story.heads_at(story.looks_of(france), "country")
    run = swapped(Asked(own.run, own.blank), Asked(other.run, other.blank), heads)
    p = story.probabilities(run)
    word = model.tokenizer.id_to_token(int(p.argmax()))
    told = SAID.format(other=other.country, own=own.country, word=word, p=float(p.max()))
    met = word != other.capital.lower()
    sure = float(other.p[other.capital_id])
    return ChallengeVerdict(met=met, said=told + (MET if met else NOT_YET).format(capital=other.capital, sure=sure))


def wanted(told: story.CourseStory) -> str:
    """Set the challenge, with the countries of whose capitals the model is most and least sure."""
    *_, last = ordered = sorted(told.named, key=lambda row: -row.probability)
    first = ordered[0]
    return WANTED.format(sure=first.country, most=first.probability, unsure=last.country, least=last.probability)
