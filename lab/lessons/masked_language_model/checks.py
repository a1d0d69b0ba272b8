"""Predictions and checks of the masked-language-model lesson, computed from the learner's own trace.

Every function here takes numbers that the page also shows, and returns None if the numbers decide nothing clearly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lab.analysis.words.predictions import Candidate, Prediction
from lab.course.words import quoted, share
from lab.questions.kinds import Quantity, numeric, rises_or_falls, which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled

# Probabilities are shown with few digits, so the first word has to lead the second by a tenth.
_LEAD = 1.1
_RAISED, _SEEN = 2, 0.005  # the growth of a logit, and the smallest visible change of a probability
# The range of a probability among the options: an exact 0 would give itself away.
_PROBABILITY = (math.ulp(0.0), 1.0)


def best_word(prompt: str, best: Sequence[Candidate], truth: Candidate | None, vocabulary: int) -> Question | None:
    """Ask which word the model finds most probable; the other options are its runners-up and the true word."""
    if len(best) < 2 or best[0].probability < _LEAD * best[1].probability:
        return None
    offered = list(best[:4])
    if truth is not None and truth.token_id not in [each.token_id for each in offered]:
        offered[3:] = [truth]
    options: dict[str, Option] = {}
    for each in offered:
        why = f"{quoted(each.word)} gets {share(each.probability)}: rank {each.rank:,} of {vocabulary:,} words."
        if truth is not None and each.token_id == truth.token_id:
            why += " It is the word in your text."
        options.setdefault(quoted(each.word), Option(quoted(each.word), why, correct=each.rank == 1))
    return shuffled("best-word", prompt, list(options.values())) if len(options) > 1 else None


def next_best_word(before: str, best: Sequence[Candidate], vocabulary: int) -> Question | None:
    """Ask which word the model finds second most probable, if the most probable word is on screen already."""
    others = list(best[1:5])
    if len(others) < 2 or others[0].probability < _LEAD * others[1].probability:
        return None
    options = {
        quoted(each.word): Option(
            quoted(each.word),
            f"{quoted(each.word)} gets {share(each.probability)}: rank {each.rank:,} of {vocabulary:,} words.",
            correct=each is others[0],
        )
        for each in reversed(others)
    }
    prompt = f"{before} Which other word comes next?"
    return shuffled("next-best-word", prompt, list(options.values())) if len(options) > 1 else None


def others_fall(prediction: Prediction, best: Sequence[Candidate]) -> Question | None:
    """Ask what happens to the third word when the logit of the second word grows by 2.

    None if the change is too small to be seen. ``best`` has the first three words of ``prediction``.
    """
    if len(best) < 3:
        return None
    raised, watched = best[1], best[2]
    logits = prediction.scaled.copy()
    before = float(prediction.probabilities[watched.token_id])
    logits[raised.token_id] += _RAISED / prediction.temperature
    powers = np.exp(logits - logits.max())
    after = float(powers[watched.token_id] / powers.sum())
    if before - after < _SEEN:
        return None
    numbers = f"It goes from {share(before)} to {share(after)}"
    return shuffled(
        "others-fall",
        f"Suppose that the logit of {quoted(raised.word)} grows by {_RAISED}, and all other logits stay the same. What "
        f"happens to the probability of {quoted(watched.word)}?",
        (
            Option(
                "It falls",
                f"{numbers}: its own exponential stays the same, but the sum that divides it has grown.",
                correct=True,
            ),
            Option(
                "It stays, because its own logit stays",
                f"You looked only at this word. {numbers}: all words share one sum.",
            ),
            Option(
                "It rises, too",
                f"{numbers}. All probabilities add up to 1, so the others lose what one word gains.",
            ),
        ),
    )


def shown_word(hidden: Candidate, visible: Candidate) -> Question | None:
    """Ask whether the true word gains when the model can see it."""
    change = visible.probability - hidden.probability
    if abs(abs(change) - MARGIN) < 0.01:
        return None
    numbers = f"It goes from {share(hidden.probability)} to {share(visible.probability)}."
    prompt = (
        f"Hidden, {quoted(hidden.word)} gets {share(hidden.probability)}. Now the model may read the word itself. What "
        "happens to the word’s probability there?"
    )
    return which_holds("shown-word", prompt, numbers, rises_or_falls(change))


def shifted(chosen: Candidate) -> Question | None:
    """Ask what happens if one number is added to all logits: no probability changes."""
    p = chosen.probability
    wrong = {
        p * math.e: "Its exponential is e = 2.718 … times as large, but so are all the others: "
        "the quotient stays the same.",
        p / math.e: "The sum is e times as large, but so is this word’s exponential: the quotient stays the same.",
    }
    why = "This word’s exponential and the sum are both e = 2.718 … times as large. Only differences of logits count."
    prompt = (
        f"The probability of {quoted(chosen.word)} is {share(p)}. Add 1 to the logit of every word of the vocabulary. "
        "What is the probability then?"
    )
    return numeric("shifted", prompt, (p, why), wrong, Quantity(share, within=_PROBABILITY))


def tempered(prediction: Prediction, best: Candidate) -> Question | None:
    """Ask what half the temperature does to the most probable word."""
    before = float(prediction.at(1.0).probabilities[best.token_id])
    after = float(prediction.at(0.5).probabilities[best.token_id])
    wrong = {
        before: "Dividing all logits by the same number changes their differences, so the shares change.",
        before / 2: "Half the temperature does not mean half the probability: the logits are divided before the "
        "softmax.",
        before * 2: "The logits are doubled, not the probability.",
        before**2: "Each exponential is squared, and the new sum is the sum of these squares.",
    }
    why = "Dividing by 0.5 doubles every difference between logits, and the softmax gives more to the largest logit."
    prompt = (
        f"At temperature 1, {quoted(best.word)} is the most probable next token with {share(before)}. What "
        "is its probability at temperature 0.5? Try it in the first step."
    )
    return numeric("tempered", prompt, (after, why), wrong, Quantity(share, within=_PROBABILITY))
