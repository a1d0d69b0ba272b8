"""Check: three questions, and a head that looks at several tokens and yet changes the answer."""

from __future__ import annotations

import re

import numpy as np

from lab.analysis.heads.metrics import effective_keys
from lab.analysis.heads.switched_off import log_change
from lab.course.sentences.looks import STORY_TEXT
from lab.lessons.attention_metrics import LESSON
from lab.lessons.attention_metrics.at_rest import asked_of
from lab.lessons.attention_metrics.effective import one_weight_more
from lab.lessons.attention_metrics.numbers import maximum_is_one_row, most_confident, why_divided
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.interventions import Interventions
from lab.ui import runs
from lab.ui.quiz.draw_check import ChallengeVerdict, OfClass, draw_challenge, draw_checks
from lab.ui.shared.one_head import OneHead

# The least number of tokens in effect of a wide row, and the share of its probability that *paris* has to lose.
WIDE, LOSS = 3, 0.1
WANTED = """
A sharp row catches the eye. Does a wide one matter, too? Find a head that looks from the blank at 3 tokens in effect or
more, and without which (at its mean) *paris* loses more than a tenth of its probability. Write it like *6-4*. (The
figures of **How many does it look at?** and **A head at rest** help.)"""
NO_HEAD = "Write a layer from 1 to {layers} and a head from 1 to {heads}, like *6-4*."
SAID = (
    "From the blank, {name} looks at {keys:.1f} tokens in effect. With it at its mean, *paris* goes from {before:.2f} "
    "to {after:.2f}. "
)
MET = """
The head is at its mean in all rows, so the loss may come from another row than the blank’s. Only in the last layer must
it come from the blank’s row."""
MET_LAST = "So a wide row can matter: in the last layer, the answer depends on the blank’s row alone."
SHARP = "This row is too sharp. Find a wider one."
LITTLE = "That is not enough. Which points are far below 0 in **A head at rest**?"


def show(view: OneHead) -> None:
    """Ask the three questions, and set the challenge; a class can also be asked to pick a head."""
    asked = (maximum_is_one_row, one_weight_more, why_divided)
    draw_checks(LESSON, [each() for each in asked], OfClass((most_confident,), view.spot, view.place))
    draw_challenge(LESSON, WANTED, "A head, such as 6-4", judge)


def judge(entry: str) -> ChallengeVerdict:
    """Look at a head: how wide its row of the blank is, and what *paris* loses with the head at its mean."""
    run, place, word = asked_of(runs.run(DEFAULT_MODEL, STORY_TEXT, "", Interventions()))
    assert place is not None and word is not None  # the course's sentence has a blank
    config, numbers = run.model.config, re.findall(r"\d+", entry)
    if len(numbers) != 2 or not 1 <= int(numbers[0]) <= config.layers or not 1 <= int(numbers[1]) <= config.heads:
        return ChallengeVerdict(met=False, said=NO_HEAD.format(layers=config.layers, heads=config.heads))
    at = int(numbers[0]) - 1, int(numbers[1]) - 1
    keys = float(effective_keys(run.layer(at[0]).attention[at[1], place]))
    before = float(run.logits(place)[0].double().softmax(-1)[word])
    after = before * float(np.exp(log_change(run, place, word, to_mean=True)[at]))
    said = SAID.format(name=f"{numbers[0]}-{numbers[1]}", keys=keys, before=before, after=after)
    if keys < WIDE:
        return ChallengeVerdict(met=False, said=said + SHARP)
    met = after < (1 - LOSS) * before
    told = MET_LAST if at[0] == config.layers - 1 else MET.strip()
    return ChallengeVerdict(met=met, said=said + (told if met else LITTLE))
