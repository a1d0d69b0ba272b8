"""Predictions and checks of the inter-sentence lesson, computed from the learner's own text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lab.analysis.sentences.attention import InterSentence, SentenceCells
from lab.course.words import capital, quoted
from lab.lessons.inter_sentence_attention.meanings import Link, is_word, percents
from lab.models.trace import Trace
from lab.questions.kinds import ranked
from lab.questions.question import MARGIN, Option, Question, shuffled

# The heads that a learner of the toy has met before the map, as the prompt recalls them.
BOTH_HEADS = "You have seen one head that looks across and one that stays in its sentence. "


def sentence_name(sentence: int) -> str:
    """Name a sentence by its number on screen."""
    return f"sentence {sentence + 1}"


def counting(question: Question | None, what: str, left_out: bool) -> Question | None:
    """Make a question say whether its numbers count ``what``: special tokens, or the first token."""
    if question is None:
        return None
    return replace(question, prompt=f"{question.prompt} ({'Without' if left_out else 'With'} {what}.)")


def keeps_or_sends(found: InterSentence, a: int, seen_before: str = "") -> Question | None:
    """Ask which sentence gets the largest share of a sentence's attention.

    ``seen_before`` recalls what the learner has seen, to guess from.
    """
    seen = [b for b in range(len(found.members)) if not math.isnan(found.maximum[a, b])]
    values = [float(found.mass[a, b]) for b in seen]

    def name(place: int) -> str:
        return capital(sentence_name(seen[place])) + (" itself" if seen[place] == a else "")

    def why(place: int, best: int) -> str:
        more = "" if place == best else f", and {values[best]:.3f} to {sentence_name(seen[best])}"
        return f"{values[place]:.3f} goes to {sentence_name(seen[place])}{more}."

    prompt = f"{seen_before}Take all heads together. Which sentence gets the most attention from {sentence_name(a)}?"
    return ranked("keeps-or-sends", prompt, values, name, why)


def word_behind(trace: Trace, found: SentenceCells, link: Link | None, sentence: str) -> Question | None:
    """Ask which word of ``sentence`` gets the largest weight from a word; ``link`` is the strongest link."""
    if link is None:
        return None
    row = found.weights[found.queries.tolist().index(link.query)].tolist()
    # If a word occurs twice, its largest weight counts, because options differ by their words.
    best: dict[str, float] = {}
    for place, value in zip(found.keys.tolist(), row, strict=True):
        if is_word(trace, place) and place != link.query:
            label = quoted(trace.labels[place])
            best[label] = max(value, best.get(label, 0.0))
    labels, weights = list(best), list(best.values())
    if len(labels) < 2 or not any(weights):
        return None

    def why(at: int, most: int) -> str:
        more = "" if at == most else f", {labels[at]} {weights[at]:.2f}"
        return f"{labels[most]} gets {weights[most]:.2f}{more}."

    looking = quoted(trace.labels[link.query])
    prompt = f"Over all heads together, which word of {sentence} gets most attention from {looking}?"
    shares = [value / sum(weights) for value in weights]  # the weights are small, because they are means over all heads
    return ranked("word-behind", prompt, shares, lambda at: labels[at], why)


def where_it_goes(apart: InterSentence, a: int, what: str) -> Question | None:
    """Ask which gets the largest share of a sentence's attention: a sentence, or the tokens that are in no sentence."""
    seen = [b for b in range(len(apart.members)) if not math.isnan(apart.maximum[a, b])]
    values = [*(float(apart.mass[a, b]) for b in seen), float(apart.removed[a])]
    names = [f"{sentence_name(b)}{' itself' if b == a else ''}" for b in seen] + [what]

    def name(place: int) -> str:
        return capital(names[place])

    def why(place: int, best: int) -> str:
        more = "" if place == best else f", and {values[best]:.3f} to {names[best]}"
        return f"{values[place]:.3f} of this attention goes to {names[place]}{more}."

    prompt = f"Take all attention of {sentence_name(a)}. Which of these gets the largest part of this attention?"
    return ranked("where-it-goes", prompt, values, name, why)


def into_the_future(found: InterSentence, causal: bool) -> Question | None:
    """Ask why half of a causal model's map is empty."""
    if not causal or len(found.members) < 2:
        return None
    return shuffled(
        "into-the-future",
        "Why has the row of sentence 1 no number in the column of sentence 2?",
        [
            Option(
                "Its tokens cannot see the tokens after them",
                "The model is causal: scores of later tokens are −∞, so there is no weight to report, not even 0.",
                correct=True,
            ),
            Option(
                "They could look there, but gave it nothing",
                "A weight of 0 would be shown as 0. The mask removes these cells before the softmax.",
            ),
            Option(
                "The two sentences are unrelated",
                "The cell would be empty for any two sentences: it depends on their order alone.",
            ),
        ],
    )


def one_weight(found: InterSentence) -> Question | None:
    """Ask why a weight can be large and the share of its sentence small, for the sentence in which both differ most."""
    gaps = np.where(np.isfinite(found.maximum), found.maximum - found.mass, -1.0)
    np.fill_diagonal(gaps, -1.0)
    a, b = (int(place) for place in np.unravel_index(int(gaps.argmax()), gaps.shape))
    largest, mass = float(found.maximum[a, b]), float(found.mass[a, b])
    if gaps[a, b] < 0.2:
        return None
    return shuffled(
        "one-weight",
        f"In one head, a token of {sentence_name(a)} gives {percents(largest)} of its attention to one token of "
        f"{sentence_name(b)}. But the map says that {sentence_name(a)} gives only {percents(mass)} to "
        f"{sentence_name(b)}. How can both be true?",
        [
            Option(
                "The map is a mean over all heads and tokens, and one of them can be far above it",
                "A single head or word can look across while the others stay in their sentence. A mean hides it.",
                correct=True,
            ),
            Option(
                "Softmax has made the weights of the other heads smaller",
                "You thought that softmax connects the heads. Softmax works within one row of one head, and every head "
                "has its own rows.",
            ),
            Option(
                f"Only one token of {sentence_name(a)} can see {sentence_name(b)}",
                "You answered with the mean share; the question is what a token may look at. A small share says how "
                "much attention the tokens give, not whether they can look.",
            ),
        ],
    )


def why_less(found: InterSentence) -> Question | None:
    """Ask why a sentence can get more attention than another, and yet less relative to its length."""
    count, relative = len(found.members), found.relative
    for a, b, c in np.ndindex(count, count, count):
        if a in (b, c) or not math.isfinite(relative[a, b] + relative[a, c]):
            continue
        if found.mass[a, b] - found.mass[a, c] < MARGIN or relative[a, c] - relative[a, b] < 2 * MARGIN:
            continue
        sizes = [len(found.members[sentence]) for sentence in (b, c)]
        longer, other = sentence_name(b), sentence_name(c)
        return shuffled(
            "why-less",
            f"{capital(sentence_name(a))} gives {percents(float(found.mass[a, b]))} to {longer} and only "
            f"{percents(float(found.mass[a, c]))} to {other}. Compared with a uniform head, the order is reversed: "
            f"{relative[a, b]:.2f} times and {relative[a, c]:.2f} times as much. Why?",
            [
                Option(
                    f"{capital(longer)} is longer",
                    f"It has {sizes[0]} tokens, and {other} has {sizes[1]}. A uniform head gives more to a longer "
                    "sentence, so a longer sentence must get more to count as preferred.",
                    correct=True,
                ),
                Option(
                    f"{capital(other)} is about the same thing",
                    "You read a number as meaning. Meaning may draw attention, but the order changed only when length "
                    "was taken into account.",
                ),
                Option(
                    "Softmax makes small weights larger",
                    "Both numbers come from the same weights, after softmax. Only the comparison differs.",
                ),
            ],
        )
    return None


def other_order(before: InterSentence, after: InterSentence | None, texts: Sequence[str]) -> Question | None:
    """Ask what happens to the share from sentence 1 to 2 when the two change places; ``after`` is the changed run."""
    if after is None:
        return None
    there, back = after.where[1, 0, 0] >= 0, after.where[0, 1, 0] >= 0
    turned = f"sentences 1 and 2 change places, so that {quoted(texts[1])} comes first."
    if not (there and back):
        return _who_sees(f"Suppose that {turned} Which of the two sentences can then look at the other?", there, back)
    old, new = float(before.mass[0, 1]), float(after.mass[1, 0])
    thought = {
        "It rises": "You expected a sentence to look back more than ahead.",
        "It hardly moves": "You expected only the words to matter.",
        "It falls": "You expected a sentence to look ahead more than back.",
    }
    moved = "the words stay the same, but each token has another place and other neighbours"
    told = f"The share was {old:.3f} and becomes {new:.3f}: {moved}."
    prompt = (
        f"Sentence 1 gives {percents(old)} of its attention to sentence 2. Suppose that {turned} What happens to this "
        "share?"
    )
    return _moved("other-order", prompt, new - old, told, thought)


def _who_sees(prompt: str, first: bool, second: bool) -> Question:
    """Ask which of two sentences sees the other in a causal model."""
    why = "The model is causal: only the later sentence sees the other, whatever the two sentences say."
    outcomes = {"The one that was sentence 1": first, "The one that was sentence 2": second, "Both": first and second}
    thought = {
        "The one that was sentence 1": "",
        "The one that was sentence 2": "You let the sentences keep what they could see before. ",
        "Both": "You thought of a model that reads in both directions. ",
    }
    options = [Option(text, ("" if right else thought[text]) + why, correct=right) for text, right in outcomes.items()]
    return Question("other-order", prompt, tuple(options))


def without_positions(before: InterSentence, after: InterSentence) -> Question | None:
    """Ask whether sentences keep their share for themselves when the model does not know the places of tokens."""
    old, new = (float(np.diagonal(found.mass).mean()) for found in (before, after))
    thought = {
        "It rises": "You expected tokens without a place to stay among themselves.",
        "It hardly moves": "You expected only the words to matter.",
        "It falls": "You expected positions to hold a sentence together.",
    }
    told = f"It was {old:.3f} and becomes {new:.3f}."
    if new < old:
        told += " Positions tell a head which tokens are near, and near tokens are mostly of the same sentence."
    prompt = (
        f"A sentence here gives itself {percents(old)} of its attention, on average. What happens to this share if the "
        "model is not told where each token is?"
    )
    return _moved("without-positions", prompt, new - old, told, thought)


def _moved(id: str, prompt: str, change: float, told: str, thought: Mapping[str, str]) -> Question | None:
    """Ask whether a share rises or falls; None if it is hard to tell whether the share changes.

    ``thought`` maps each answer to the expectation of a learner who chooses this answer.
    """
    if 0.01 <= abs(change) < 0.02:
        return None
    right = "It hardly moves" if abs(change) < 0.01 else "It rises" if change > 0 else "It falls"
    options = [Option(text, told if text == right else f"{why} {told}", text == right) for text, why in thought.items()]
    return Question(id, prompt, tuple(options))


def pair_effect(joined: float, paired: float, labels: Sequence[str]) -> Question | None:
    """Ask whether the border between two texts lowers the attention from the first text to the second."""
    thought = {
        "It rises": "You expected the border to make the texts look at each other.",
        "It hardly moves": "You expected the border to change nothing.",
        "It falls": "You expected a border to hold attention back.",
    }
    told = f"It is {joined:.3f} in one text and {paired:.3f} in a pair."
    prompt = (
        f"{labels[0]} gives {percents(joined)} of its attention to {labels[1]} when the model reads them as one text. "
        "What happens to this share when it reads them as a pair?"
    )
    return _moved("pair-effect", prompt, paired - joined, told, thought)
