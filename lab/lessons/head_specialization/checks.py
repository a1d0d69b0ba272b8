"""Predictions and checks of the lesson on head specialization, computed from the learner's own trace."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from lab.analysis.heads.named import MIXED, Chance, above_chance, clearly_above, name_scores
from lab.analysis.heads.patterns import PATTERNS, Pattern
from lab.analysis.heads.specialization import CONTENT_WORDS, FUNCTION_WORDS, PUNCTUATION, Dimension
from lab.analysis.heads.specialization_parts import MetricPart
from lab.analysis.heads.values import Values
from lab.course.words import beside, escaped
from lab.questions.kinds import Quantity, numeric, ranked
from lab.questions.question import MARGIN, Option, Question, shuffled

FUNCTION, CONTENT, MARKS, OTHER, SPECIAL = "Function words", "Content words", "Punctuation", "Other", "Special tokens"
KINDS = (FUNCTION, CONTENT, MARKS, OTHER, SPECIAL)
# What a dimension is about, inside a sentence.
ABOUT = {
    "function_words": "function words",
    "content_words": "content words",
    "punctuation": "punctuation",
    "entities": "names of people, places and the like",
    "cls": "the first token",
    "long_range": "tokens five or more places away",
    "self": "each token itself",
}
_STABLE, _SHAKY = 0.8, 0.4
FEW_CASES = 3  # tokens: with fewer, a score for the same word is no finding


def kind_of(tag: str | None, special: bool) -> str:
    """The kind of a token by its part of speech."""
    if special:
        return SPECIAL
    for kind, members in ((FUNCTION, FUNCTION_WORDS), (CONTENT, CONTENT_WORDS), (MARKS, PUNCTUATION)):
        if tag in members:
            return kind
    return OTHER


def pattern_name(id: str) -> str:
    """A pattern's name by its id; "Mixed" for a head that has none."""
    return next((pattern.name for pattern in PATTERNS if pattern.id == id), MIXED.capitalize())


def most_common_kind(kinds: Sequence[str]) -> Question | None:
    """Which kind has the most tokens?"""
    counts = Counter(kinds)
    names = [kind for kind in KINDS if counts[kind]]
    shares = [counts[kind] / len(kinds) for kind in names]

    def why(place: int, best: int) -> str:
        tail = "more than of any other kind." if place == best else f"{names[best].lower()} are {counts[names[best]]}."
        return f"{counts[names[place]]} of {len(kinds)} tokens; {tail}"

    return ranked("most-common-kind", "Which kind has the most tokens?", shares, lambda place: names[place], why)


def looks_most(layer: int, dimension: Dimension, raw: Values, without: str | None = None) -> Question | None:
    """Which head of a layer looks most at what a dimension is about? ``raw`` (H,), of that layer.

    ``without``: the tokens that were left out, in words.
    """
    if not np.isfinite(raw).all():
        return None
    values = raw.tolist()

    def why(head: int, best: int) -> str:
        tail = "the largest of the layer." if head == best else f"head {best + 1} has {values[best]:.3f}."
        return f"Its raw value is {values[head]:.3f}, {tail}"

    prompt = f"{_without(without)}Which head of layer {layer + 1} looks most at {ABOUT[dimension.id]}?"
    return ranked(f"looks-most-{dimension.id}", prompt, values, lambda head: f"Head {head + 1}", why, of=len(values))


def most_common_name(names: Sequence[str]) -> Question | None:
    """Which name do most heads get? ``names``: the id of each head's pattern, or "mixed"."""
    offered = [*(pattern.id for pattern in PATTERNS if pattern.id != "broad"), MIXED]  # see name_scores
    counts = Counter(names)
    shares = [counts[name] / len(names) for name in offered]

    def why(place: int, best: int) -> str:
        tail = "the most." if place == best else f"{pattern_name(offered[best])} has {counts[offered[best]]}."
        return f"{counts[offered[place]]} of {len(names)} heads; {tail}"

    prompt = "Which name do most heads get? Mixed means: no score is clearly above chance."
    return ranked("most-common-name", prompt, shares, lambda place: pattern_name(offered[place]), why)


def best_head(pattern: Pattern, scores: Values) -> Question | None:
    """Which head of the model fits a pattern best? ``scores`` (L, H)."""
    if not np.isfinite(scores).all():
        return None
    heads, values = scores.shape[1], scores.ravel().tolist()

    def name(place: int) -> str:
        return f"Layer {place // heads + 1}, head {place % heads + 1}"

    def why(place: int, best: int) -> str:
        tail = "the highest." if place == best else f"{name(best)} has {values[best]:.3f}."
        return f"Its score is {values[place]:.3f}, {tail}"

    prompt = f"Which head fits the pattern “{pattern.name}” best?"
    return ranked(f"best-head-{pattern.id}", prompt, values, name, why, of=heads)


def name_of(head: str, scores: Values, chance: Chance) -> Question | None:
    """Which name does the chosen head get? ``scores`` (P,), in the order of PATTERNS.

    None where a score is so near to what a name needs that nobody could see it.
    """
    named_after = [place for place, pattern in enumerate(PATTERNS) if pattern.id != "broad"]
    if (np.abs(scores - chance.needed)[named_after] < MARGIN / 2).any():
        return None
    named = str(name_scores(scores, chance))
    above = above_chance(scores, chance.uniform)
    order = np.argsort(-np.nan_to_num(above, nan=-np.inf, neginf=-np.inf), kind="stable")
    candidates = [int(place) for place in order if PATTERNS[place].id != "broad"]
    # The name itself is among the first three, unless the untrained twin outdoes those before it.
    offered = sorted(candidates, key=lambda place: PATTERNS[place].id != named)[:3]
    passing = clearly_above(scores, chance)
    options = []
    for place in offered:
        pattern, told = PATTERNS[place], told_score(scores[place], chance, place)
        if pattern.id == named:
            why = f"{told} No other pattern is farther above chance."
        elif passing[place]:
            why = f"{told} It passes, but {pattern_name(named)} is farther above chance."
        else:
            why = f"{told} That is not enough."
        options.append(Option(pattern.name, why, correct=pattern.id == named))
    why = f"It has a name: {pattern_name(named)}." if named != MIXED else "No score is clearly above chance."
    options.append(Option(pattern_name(MIXED), why, correct=named == MIXED))
    return shuffled("name-of", f"Which name does {head} get?", options)


def told_score(score: float, chance: Chance, place: int) -> str:
    """A score of ``PATTERNS[place]`` in a sentence, beside what it is compared with."""
    if math.isnan(score):
        return "It has no score here."
    needed, untrained = float(chance.needed[place]), float(chance.untrained[place])
    return (
        f"Its score is {beside(score, needed)}. A uniform head scores {chance.uniform[place]:.2f}, so a name needs "
        f"{beside(needed, score)}; the best untrained head scores {beside(untrained, score)}."
    )


def _without(tokens: str | None) -> str:
    """How a question begins that leaves tokens out."""
    return f"Leave out {escaped(tokens)}. " if tokens else ""


def base_rate(part: MetricPart, n: int, causal: bool, without: str | None = None) -> Question | None:
    """What does a head without preference give to the kind of token that ``part`` is about?

    ``n`` tokens take part; ``without`` names those left out.
    """
    if not 0 < part.members < n:
        return None
    share, count, about = part.uniform_raw, part.members, ABOUT[part.id]
    how = (
        f"Each query shares its attention evenly over the keys up to itself; on average {share:.0%} falls on them."
        if causal
        else f"{count} of {n} keys are {about}, and every key gets 1/{n} from each query: {count}/{n}."
    )
    return numeric(
        f"base-rate-{part.id}",
        f"{_without(without)}{count} of {n} tokens are {about}. What share of its attention would a head without "
        "preference give them?",
        (share, how),
        {
            1 / n: f"That is the weight of one key; {count} keys are {about}.",
            0.5: "Half would be right only if half of the attention fell on them by chance.",
            1 - share: f"That is what all other tokens get: 1 − {share:.2f}.",
            part.raw: f"That is what the chosen head gives them: {part.raw:.2f}.",
        },
        Quantity("{:.0%}".format, within=(0, 1)),
    )


def corrected_value(head: str, part: MetricPart, without: str | None = None) -> Question | None:
    """From a raw value to the corrected one. ``without``: the tokens that were left out, in words."""
    if not part.members or part.total <= 0:
        return None
    raw, even, value = part.raw, part.uniform_raw, part.corrected
    return numeric(
        f"corrected-{part.id}",
        f"{_without(without)}{head[0].upper()}{head[1:]} gives {raw:.3f} of its attention to {ABOUT[part.id]}; a head "
        f"without preference would give {even:.3f}. What is the corrected value?",
        (value, f"{raw:.3f} ÷ {even:.3f} = {value:.2f} times as much."),
        {
            even / raw: "The other way round: it is divided by what the head without preference gives.",
            abs(raw - even): "A difference depends on the text as the raw value does; the correction divides.",
            raw: "That is the raw value.",
            raw * even: "Multiplied; it should be divided.",
        },
        Quantity("{:.2f}".format),
    )


def rim_of_radar(layer: int, dimension: Dimension, values: tuple[Values, Values]) -> Question | None:
    """What does it mean that a head reaches the rim? ``values``: raw and corrected, (H,) of a layer."""
    raw, corrected = values
    if not np.isfinite(raw).all() or len(raw) < 2 or np.ptp(raw) < MARGIN or raw.max() > 1 - MARGIN:
        return None
    best = int(raw.argmax())
    about = ABOUT[dimension.id]
    options = (
        Option(
            f"More of its attention goes to {about} than any other head of the layer gives them",
            f"Its raw value {raw[best]:.3f} is the layer’s largest, and the largest is drawn at 1.",
            correct=True,
        ),
        Option(f"All its attention goes to {about}", f"Its raw value is {raw[best]:.3f}, not 1."),
        Option(
            f"It gives {about} as much as a head without preference",
            f"That is said by the corrected value 1; its own is {corrected[best]:.2f}.",
        ),
    )
    prompt = f"On the axis “{dimension.name}”, head {best + 1} of layer {layer + 1} is drawn at 1. What does that mean?"
    return shuffled("rim-of-radar", prompt, options)


def same_names(kept: int, total: int) -> Question | None:
    """How many heads keep their name from one text to many?"""
    share = kept / total
    if any(abs(share - third) < MARGIN for third in (1 / 3, 2 / 3)):
        return None
    told = f"{kept} of {total} heads have the same name on your text and on average, {share:.0%}."
    options = (
        Option("Fewer than a third", told, correct=share < 1 / 3),
        Option("Between one and two thirds", told, correct=1 / 3 < share < 2 / 3),
        Option("More than two thirds", told, correct=share > 2 / 3),
    )
    return Question("same-names", "How many heads keep the name they have on your text?", options)
