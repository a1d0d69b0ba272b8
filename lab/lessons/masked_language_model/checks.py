"""Predictions and checks of the masked-language-model lesson, computed from the learner's own trace.

Every builder takes numbers that the page also shows, and returns None when they decide nothing clearly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lab.analysis.words.predictions import Candidate, Prediction, Restored
from lab.course.words import quoted, share
from lab.questions.kinds import Quantity, numeric, rises_or_falls, which_holds
from lab.questions.question import MARGIN, Option, Question, clear_winner, shuffled

# A winner is shown with three digits: it has to lead by a tenth to be seen leading.
_LEAD = 1.1
# What a quotient or a probability can be: an option of exactly 0 would give itself away.
_POSITIVE = (math.ulp(0.0), math.inf)
_PROBABILITY = (math.ulp(0.0), 1.0)


def best_word(prompt: str, best: Sequence[Candidate], truth: Candidate | None, vocabulary: int) -> Question | None:
    """Which word does the model find most probable? The others are its runners-up and the true word."""
    if len(best) < 2 or best[0].probability < _LEAD * best[1].probability:
        return None
    offered = list(best[:4])
    if truth is not None and truth.token_id not in [each.token_id for each in offered]:
        offered[3:] = [truth]
    options: dict[str, Option] = {}
    for each in offered:
        why = f"It gets {share(each.probability)}: rank {each.rank:,} of {vocabulary:,} words."
        if truth is not None and each.token_id == truth.token_id:
            why += " It is the word that really stands there."
        options.setdefault(quoted(each.word), Option(quoted(each.word), why, correct=each.rank == 1))
    return shuffled("best-word", prompt, list(options.values())) if len(options) > 1 else None


def next_best_word(before: str, best: Sequence[Candidate], vocabulary: int) -> Question | None:
    """Which other word does the model find most probable? Asked where the first one is on screen already."""
    others = list(best[1:5])
    if len(others) < 2 or others[0].probability < _LEAD * others[1].probability:
        return None
    options = {
        quoted(each.word): Option(
            quoted(each.word),
            f"It gets {share(each.probability)}: rank {each.rank:,} of {vocabulary:,} words.",
            correct=each is others[0],
        )
        for each in reversed(others)
    }
    prompt = f"{before} Which other word comes next?"
    return shuffled("next-best-word", prompt, list(options.values())) if len(options) > 1 else None


def odds(first: Candidate, second: Candidate, temperature: float = 1.0) -> Question | None:
    """From the difference of two logits to the quotient of their probabilities: e to the difference."""
    gap = (first.logit - second.logit) / temperature
    ratio = math.exp(gap) if gap < 20 else math.inf
    if gap < MARGIN or math.isinf(ratio):
        return None
    wrong = {
        gap: "This is the difference itself; the softmax raises e to each logit first.",
        2**gap: f"2 to the power of {gap:.3f}; the softmax uses e = 2.718 …",
        first.logit / second.logit if second.logit else 0.0: "This divides the logits; the softmax divides their "
        "exponentials.",
        math.exp(2 * gap): f"This is e to the power of 2 × {gap:.3f}.",
    }
    why = f"e^{gap:.3f} ≈ {ratio:.3g}: {share(first.probability)} against {share(second.probability)}."
    heat = "" if temperature == 1 else f", divided by the temperature {temperature:g},"
    prompt = (
        f"The logit of {quoted(first.word)}{heat} is {gap:.3f} larger than that of {quoted(second.word)}. How many "
        f"times as probable is {quoted(first.word)}?"
    )
    return numeric("odds", prompt, (ratio, why), wrong, Quantity("{:.3g} times".format, within=_POSITIVE))


def shown_word(hidden: Candidate, visible: Candidate) -> Question | None:
    """Does the true word gain when the model can see it? The wrong answers are the other two directions."""
    change = visible.probability - hidden.probability
    if abs(abs(change) - MARGIN) < 0.01:
        return None
    numbers = f"It goes from {share(hidden.probability)} to {share(visible.probability)}."
    prompt = (
        f"Hidden, {quoted(hidden.word)} gets {share(hidden.probability)}. Now the model may read the word "
        "itself. What happens to its probability at this place?"
    )
    return which_holds("shown-word", prompt, numbers, rises_or_falls(change))


def quotient(chosen: Candidate, prediction: Prediction) -> Question | None:
    """From e^(z − max) and the sum to the probability."""
    total, shown = prediction.total, f"{chosen.exponential:.4g}"
    wrong = {
        chosen.exponential: "This is the exponential itself; it still has to be divided by the sum.",
        1 / total: f"1 ÷ {total:.4g} is the probability of the best word, whose exponential is 1.",
        chosen.exponential / (1 + chosen.exponential): "This shares between two words only; the softmax shares "
        "between all of them.",
    }
    why = f"{shown} ÷ {total:.4g} = {share(chosen.probability)}."
    prompt = (
        f"For {quoted(chosen.word)}, e^(z − max) is {shown}. Over all {len(prediction.logits):,} words these numbers "
        f"add up to {total:.4g}. What is the probability of {quoted(chosen.word)}?"
    )
    return numeric("quotient", prompt, (chosen.probability, why), wrong, Quantity(share, within=_PROBABILITY))


def shifted(chosen: Candidate) -> Question | None:
    """Adding one number to all logits changes no probability."""
    p = chosen.probability
    wrong = {
        p * math.e: "Its exponential is e = 2.718 … times as large, but so are all the others: the quotient stays.",
        p / math.e: "The sum is e times as large, but so is this word’s exponential: the quotient stays.",
    }
    why = "This word’s exponential and the sum are both e = 2.718 … times as large. Only differences of logits count."
    prompt = (
        f"The probability of {quoted(chosen.word)} is {share(p)}. Add 1 to the logit of every word of the "
        f"vocabulary. What is it then?"
    )
    return numeric("shifted", prompt, (p, why), wrong, Quantity(share, within=_PROBABILITY))


def tempered(prediction: Prediction, best: Candidate) -> Question | None:
    """What does half the temperature do to the most probable word?"""
    before = float(prediction.at(1.0).probabilities[best.token_id])
    after = float(prediction.at(0.5).probabilities[best.token_id])
    wrong = {
        before: "Dividing all logits by the same number changes their differences, so the shares change.",
        before / 2: "Half a temperature is not half a probability: the logits are divided, before the softmax.",
        before * 2: "The logits are doubled, not the probability.",
        before**2: "Each exponential is squared, and the sum has to be built again from the squares.",
    }
    why = "Dividing by 0.5 doubles every difference between logits, and the softmax puts more on the largest."
    prompt = (
        f"At temperature 1, {quoted(best.word)} is the most probable next token with {share(before)}. What "
        "is its probability at temperature 0.5? Try it in the first step."
    )
    return numeric("tempered", prompt, (after, why), wrong, Quantity(share, within=_PROBABILITY))


def easiest_word(asked: str, found: Sequence[Restored]) -> Question | None:
    """Which of these words does the model restore best? Words that come too close to the best are left out."""
    ordered = sorted(found, key=lambda each: -each.probability)
    kept = ordered[:1] + [each for each in ordered[1:] if ordered[0].probability - each.probability >= MARGIN]
    if clear_winner([each.probability for each in kept]) is None:
        return None
    names = [f"{quoted(each.word)} (token {each.place + 1})" for each in kept]
    options = [
        Option(
            name,
            f"It gets {share(each.probability)}, rank {each.rank:,}"
            + (", the most of these." if at == 0 else f"; {names[0]} gets {share(kept[0].probability)}."),
            correct=at == 0,
        )
        for at, (name, each) in enumerate(zip(names, kept, strict=True))
    ]
    return shuffled("easiest-word", asked, options)
