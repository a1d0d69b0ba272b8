"""Predictions and checks of the inter-sentence lesson, computed from the learner's own text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lab.analysis.sentences.attention import InterSentence
from lab.course.words import quoted
from lab.questions.kinds import Quantity, numeric, ranked, which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled

# What a learner has seen of heads before the matrix: those of earlier lessons, and those of the toy.
NEARBY = "You have seen heads that look at the word before or after."
BOTH_HEADS = "You have seen one head that looks across and one that stays in its sentence."


def sentence_name(sentence: int) -> str:
    """A sentence by its number on screen."""
    return f"sentence {sentence + 1}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def counting(question: Question | None, what: str, left_out: bool) -> Question | None:
    """The question, which says first whether its numbers count ``what``: special tokens, or the first token."""
    if question is None:
        return None
    how = (
        f"Left out here: {what}; what is left of a row is divided by its sum."
        if left_out
        else f"Counted here, too: {what}."
    )
    return replace(question, prompt=f"{how} {question.prompt}")


def keeps_or_sends(found: InterSentence, a: int, seen_before: str = NEARBY) -> Question | None:
    """Which sentence gets most of a sentence's attention: itself, or another one? ``seen_before`` is what to go by."""
    seen = [b for b in range(len(found.members)) if not math.isnan(found.maximum[a, b])]
    values = [float(found.mass[a, b]) for b in seen]

    def name(place: int) -> str:
        return _capital(sentence_name(seen[place])) + (" itself" if seen[place] == a else "")

    def why(place: int, best: int) -> str:
        more = "" if place == best else f", and {values[best]:.3f} to {sentence_name(seen[best])}"
        return f"{values[place]:.3f} goes to {sentence_name(seen[place])}{more}."

    prompt = f"{seen_before} Take the mean over all heads: which sentence gets most of the attention of "
    prompt += f"{sentence_name(a)}?"
    return ranked("keeps-or-sends", prompt, values, name, why)


def where_it_goes(apart: InterSentence, a: int, what: str) -> Question | None:
    """What gets the largest share of a sentence's attention: a sentence, or what stands apart from them?"""
    seen = [b for b in range(len(apart.members)) if not math.isnan(apart.maximum[a, b])]
    values = [*(float(apart.mass[a, b]) for b in seen), float(apart.removed[a])]
    names = [f"{sentence_name(b)}{' itself' if b == a else ''}" for b in seen] + [what]

    def name(place: int) -> str:
        return _capital(names[place])

    def why(place: int, best: int) -> str:
        more = "" if place == best else f", and {values[best]:.3f} to {names[best]}"
        return f"{values[place]:.3f} of it goes to {names[place]}{more}."

    prompt = f"Take all attention of {sentence_name(a)}, the mean over its tokens and all heads. What gets most of it?"
    return ranked("where-it-goes", prompt, values, name, why)


def left_out(kept: InterSentence, without: InterSentence, a: int, what: str) -> Question | None:
    """What becomes of a sentence's attention to itself when special tokens, or the first one, are left out?"""
    before, after = float(kept.relative[a, a]), float(without.relative[a, a])
    if not math.isfinite(before + after) or abs(after - 1) < MARGIN or abs(after - before) < 0.2:
        return None
    why = f"It was {before:.2f} and becomes {after:.2f}. Above 1 is more than an even spread, below 1 is less."
    outcomes = {"Above 1": after > 1, "Below 1": after < 1}
    prompt = (
        f"With every token counted, what {sentence_name(a)} sends to itself is {before:.2f} of an even spread. Leave "
        f"{what} out, and let every row sum to 1 again. Where is the value then?"
    )
    return which_holds("left-out", prompt, why, outcomes)


def into_the_future(found: InterSentence, causal: bool) -> Question | None:
    """Why is half of a causal model's matrix empty?"""
    if not causal or len(found.members) < 2:
        return None
    return shuffled(
        "into-the-future",
        "Why has the row of sentence 1 no number in the column of sentence 2?",
        [
            Option(
                "Its tokens cannot see what comes after them",
                "The model is causal: scores of later keys are −∞, so there is no weight to report, not even 0.",
                correct=True,
            ),
            Option(
                "They could look there, but gave it nothing",
                "A weight of 0 would be shown as 0. The mask takes those cells away before the softmax.",
            ),
            Option(
                "The two sentences are unrelated",
                "The cell would be empty for any two sentences: it depends on the order alone.",
            ),
        ],
    )


def even_share(found: InterSentence, n: int, even: float, a: int, b: int) -> Question | None:
    """What would a head without preference send from a to b?"""
    size, count = len(found.members[b]), len(found.members)
    return numeric(
        "even-share",
        f"{_capital(sentence_name(b))} has {size} of the {n} tokens that are counted. What share of its attention "
        f"would a token of {sentence_name(a)} send there if it spread it evenly over all it may see?",
        (even, f"The share of the keys it may see that are in {sentence_name(b)}: {even:.3f}."),
        {
            1 / count: f"1/{count}: sentences are not equally long, so they do not have equal shares.",
            1 / size: f"1/{size}: that is one token’s share within {sentence_name(b)}.",
            1 / n: f"1/{n}: that is the share of one token of the text.",
            1.0: "Everything: then nothing would be left for the other tokens.",
        },
        Quantity("{:.3f}".format),
    )


def corrected(found: InterSentence, even: float, a: int, b: int) -> Question | None:
    """From mass and expectation to the length-corrected value."""
    mass, value = float(found.mass[a, b]), float(found.relative[a, b])
    if not math.isfinite(value) or even <= 0 or mass <= 0:
        return None
    return numeric(
        "corrected",
        f"A token of {sentence_name(a)} sends {sentence_name(b)} {mass:.3f} of its attention; spread evenly it would "
        f"be {even:.3f}. What is the length-corrected value?",
        (value, f"{mass:.3f} ÷ {even:.3f} = {value:.2f}: {'more' if value > 1 else 'less'} than an even spread sends."),
        {
            1 / value: "That is the quotient upside down.",
            mass - even: "The difference; the corrected value is a quotient, 1 for an even spread.",
            mass * even: "The product of the two; the corrected value is their quotient.",
            mass: "That is the mass, before the correction.",
        },
        Quantity("{:.2f}".format, within=(0.0, math.inf)),
    )


def to_specials(found: InterSentence, a: int, what: str) -> Question | None:
    """How much of a sentence's attention goes to no sentence?"""
    removed = float(found.removed[a])
    if not found.removed.any() or removed < MARGIN:
        return None
    row = [float(value) for value in found.mass[a]]
    return numeric(
        "to-specials",
        f"Counted apart from {what}, the tokens of {sentence_name(a)} send the sentences "
        f"{' + '.join(f'{value:.3f}' for value in row)} of their attention. How much goes to {what}?",
        (removed, f"What is missing to 1: {removed:.3f}."),
        {
            0.0: "The numbers of the row do not add up to 1, so something goes elsewhere.",
            sum(row): "That is what goes to sentences.",
            row[a]: f"That stays in {sentence_name(a)}.",
            1.0: "Then nothing would be left for the sentences.",
        },
        Quantity("{:.3f}".format),
    )


def one_weight(found: InterSentence) -> Question | None:
    """A maximum is one weight; the mass is what a sentence sends. Asked where the two differ most."""
    gaps = np.where(np.isfinite(found.maximum), found.maximum - found.mass, -1.0)
    np.fill_diagonal(gaps, -1.0)
    a, b = (int(place) for place in np.unravel_index(int(gaps.argmax()), gaps.shape))
    largest, mass = float(found.maximum[a, b]), float(found.mass[a, b])
    if gaps[a, b] < 0.2:
        return None
    return shuffled(
        "one-weight",
        f"From {sentence_name(a)} to {sentence_name(b)} the maximum is {largest:.2f} and the mean mass {mass:.2f}. "
        "What does that say?",
        [
            Option(
                "One weight of one head is so large; the mean over all heads and tokens is not",
                "The maximum is a single cell of all maps. The mass adds up a token’s weights on the sentence, and "
                "is the mean over all heads and tokens.",
                correct=True,
            ),
            Option(
                f"Each token of {sentence_name(a)} sends {largest:.2f} there in some head",
                "The maximum is one cell; of the other tokens it says only that they stay below it.",
            ),
            Option(
                f"{largest:.0%} of the attention of {sentence_name(a)} goes there",
                f"That share is the mean mass, {mass:.2f}.",
            ),
        ],
    )


def why_less(found: InterSentence) -> Question | None:
    """Why can a sentence get more attention and yet less than another for its length?"""
    count, relative = len(found.members), found.relative
    for a, b, c in np.ndindex(count, count, count):
        if a in (b, c) or not math.isfinite(relative[a, b] + relative[a, c]):
            continue
        if found.mass[a, b] - found.mass[a, c] < MARGIN or relative[a, c] - relative[a, b] < 2 * MARGIN:
            continue
        sizes = [len(found.members[sentence]) for sentence in (b, c)]
        longer, other, values = sentence_name(b), sentence_name(c), f"{relative[a, b]:.2f} and {relative[a, c]:.2f}"
        return shuffled(
            "why-less",
            f"{_capital(sentence_name(a))} sends {longer} more than {other}, {found.mass[a, b]:.2f} and "
            f"{found.mass[a, c]:.2f}. Divided by an even spread, the order is the other way round, {values}. Why?",
            [
                Option(
                    f"{_capital(longer)} is longer",
                    f"It has {sizes[0]} tokens, {other} has {sizes[1]}. An even "
                    "spread gives a longer sentence more, and dividing by it corrects for that.",
                    correct=True,
                ),
                Option(
                    f"{_capital(other)} is about the same thing",
                    "A meaning may draw attention. But the order "
                    "turned only when length was taken into account, so length is what turned it.",
                ),
                Option(
                    "Softmax makes small weights larger",
                    "Both numbers come from the same weights, after softmax. Only the division differs.",
                ),
            ],
        )
    return None


def other_order(before: InterSentence, after: InterSentence | None, texts: Sequence[str]) -> Question | None:
    """What becomes of the way from sentence 1 to sentence 2 when they change places? ``after`` is that run."""
    if after is None:
        return None
    there, back = after.where[1, 0, 0] >= 0, after.where[0, 1, 0] >= 0
    turned = f"et the two change places, so that {quoted(texts[1])} comes first."
    if not (there and back):
        prompt = f"Take sentences 1 and 2, and l{turned} Which of them sees the other then?"
        why = "The model is causal: only the later sentence sees the other, whatever the two say."
        was = "The one that was sentence"
        outcomes = {f"{was} 1": there and not back, f"{was} 2": back and not there, "Both": False}
        return which_holds("other-order", prompt, why, outcomes)
    old, new = float(before.mass[0, 1]), float(after.mass[1, 0])
    moved = _moves(new - old)
    why = (
        f"It was {old:.3f} and becomes {new:.3f}: the words are the same, but each token has another place and other "
        "neighbours."
    )
    prompt = f"Sentence 1 sends {old:.3f} of its attention to sentence 2. L{turned} What becomes of this number?"
    return None if moved is None else which_holds("other-order", prompt, why, moved)


def without_positions(before: InterSentence, after: InterSentence) -> Question | None:
    """Do sentences keep as much for themselves when the model does not know the places?"""
    old, new = (float(np.diagonal(found.mass).mean()) for found in (before, after))
    if (outcomes := _moves(new - old)) is None:
        return None
    why = f"It was {old:.3f} and becomes {new:.3f}."
    if new < old:
        why += " Positions tell a head which tokens are near, and those are mostly of the same sentence."
    prompt = (
        f"A sentence here keeps {old:.3f} of its attention for itself, the mean over all. What becomes of that when "
        "the model runs without positions, so that it is not told which token stands where?"
    )
    return which_holds("without-positions", prompt, why, outcomes)


def _moves(change: float) -> dict[str, bool] | None:
    """Outcomes for :func:`which_holds`; None where it is hard to tell whether anything moves."""
    if 0.01 <= abs(change) < 0.02:
        return None
    return {"It rises": change >= 0.02, "It hardly moves": abs(change) < 0.01, "It falls": change <= -0.02}


def pair_effect(joined: float, paired: float, labels: Sequence[str]) -> Question | None:
    """Does the border of segments lower the attention from the first text to the second?"""
    if (outcomes := _moves(paired - joined)) is None:
        return None
    told = f"It is {joined:.3f} as one text and {paired:.3f} as a pair."
    prompt = (
        f"{labels[0]} sends {joined:.3f} of its attention to {labels[1]} when the model reads one text. What becomes "
        "of it when the model reads them as a pair, with a border between them?"
    )
    return which_holds("pair-effect", prompt, told, outcomes)
