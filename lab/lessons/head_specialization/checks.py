"""Predictions and checks of the lesson on head specialization, computed from the learner's own trace."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lab.analysis.heads.named import MIXED, Chance
from lab.analysis.heads.patterns import PATTERNS, Pattern
from lab.analysis.heads.specialization import (
    CONTENT_WORDS,
    FUNCTION_WORDS,
    PUNCTUATION,
    SPECIALIZATIONS,
    WORD_KINDS,
    Dimension,
)
from lab.analysis.heads.values import Values
from lab.course.words import beside, head_name
from lab.evidence.notable import Notable
from lab.evidence.published import CLARK
from lab.models.interventions import Head
from lab.questions.kinds import ranked, which_holds
from lab.questions.question import MARGIN, Option, Question, clear_winner, shuffled

FUNCTION, CONTENT, MARKS, OTHER, SPECIAL = "Function words", "Content words", "Punctuation", "Other", "Special tokens"
KINDS = (FUNCTION, CONTENT, MARKS, OTHER, SPECIAL)
# The name of each dimension inside a sentence.
ABOUT = {
    "function_words": "function words",
    "content_words": "content words",
    "punctuation": "punctuation",
    "entities": "names of people, places and the like",
    "cls": "the first token",
    "long_range": "tokens five or more places away",
    "self": "each token itself",
}
_OFTEN = 0.8  # from this share of right cases on, we say that a head is nearly always right
_APART = 0.3  # smallest difference between two ratios that nobody confuses
FEW_CASES = 3  # tokens; with fewer tokens, a score for the same word means nothing


def kind_of(tag: str | None, special: bool) -> str:
    """The kind of a token by its part of speech."""
    if special:
        return SPECIAL
    for kind, members in ((FUNCTION, FUNCTION_WORDS), (CONTENT, CONTENT_WORDS), (MARKS, PUNCTUATION)):
        if tag in members:
            return kind
    return OTHER


def pattern_name(id: str) -> str:
    """The name of the pattern with this id; "Mixed" for a head without a named pattern."""
    return next((pattern.name for pattern in PATTERNS if pattern.id == id), MIXED.capitalize())


def looks_most(layer: int, dimension: Dimension, raw: Values) -> Question | None:
    """Ask which head of a layer looks most at the tokens of a dimension; ``raw`` (H,) has the layer's values."""
    if not np.isfinite(raw).all():
        return None
    values = raw.tolist()

    def why(head: int, best: int) -> str:
        tail = "the largest of the layer." if head == best else f"head {best + 1} has {values[best]:.3f}."
        return f"Its raw value is {values[head]:.3f}, {tail}"

    prompt = f"Which head of layer {layer + 1} looks most at {ABOUT[dimension.id]}?"
    return ranked(f"looks-most-{dimension.id}", prompt, values, lambda head: f"Head {head + 1}", why, of=len(values))


def best_head(pattern: Pattern, scores: Values) -> Question | None:
    """Ask which head of the model fits a pattern best. ``scores`` (L, H)."""
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


def told_score(score: float, chance: Chance, place: int) -> str:
    """Write a sentence with a score of ``PATTERNS[place]`` and the score of chance."""
    if math.isnan(score):
        return "It has no score here."
    needed, untrained = float(chance.needed[place]), float(chance.untrained[place])
    return (
        f"Its score is {beside(score, needed)}. A uniform head scores {chance.uniform[place]:.2f}, so a head needs "
        f"{beside(needed, score)}; the best untrained head scores {beside(untrained, score)}."
    )


def prefers(head: Head, shares: Values, even: Values) -> Question | None:
    """Ask which kind of word a head prefers, compared with a uniform head. ``shares`` and ``even`` (7,).

    None unless at least two kinds occur and one of them is clearly preferred.
    """
    here = [at for at, each in enumerate(SPECIALIZATIONS) if each.id in WORD_KINDS and np.isfinite(shares[at])]
    times = [float(shares[at] / even[at]) for at in here]
    if len(here) < 2 or max(times) < 1 + MARGIN or clear_winner(times) is None:
        return None
    largest = max(here, key=lambda at: float(shares[at]))

    def why(place: int, best: int) -> str:
        at = here[place]
        told = (
            f"A uniform head would give them {even[at]:.0%}, and this head gives {shares[at]:.0%}: {times[place]:.1f} "
            "times as much."
        )
        if place == best:
            return told
        if at == largest:
            return f"You read the largest share as a preference. {told}"
        return told

    prompt = (
        f"A **uniform head** looks at every token alike. Compared with such a head, which kind does {head_name(head)} "
        "prefer?"
    )
    return ranked("prefers", prompt, times, lambda place: ABOUT[SPECIALIZATIONS[here[place]].id].capitalize(), why)


def share_or_preference(layer: int, raw: Values, even: Values) -> Question | None:
    """Ask which of two kinds a head prefers: the kind with the larger share, or the kind with the larger ratio.

    ``raw`` (H, 7), ``even`` (7,). The question is about the layer's first head in which these are different kinds; None
    if there is no such head.
    """
    here = [at for at, each in enumerate(SPECIALIZATIONS) if each.id in WORD_KINDS and np.isfinite(raw[:, at]).all()]
    for head, shares in enumerate(raw):
        times = {at: float(shares[at] / even[at]) for at in here}
        if len(here) < 2:
            return None
        large, preferred = max(here, key=lambda at: float(shares[at])), max(here, key=times.__getitem__)
        clear = shares[large] - shares[preferred] >= MARGIN and times[preferred] - times[large] >= _APART
        if large != preferred and clear and times[preferred] > 1:
            return _two_kinds(layer, head, [(at, float(shares[at]), float(even[at])) for at in (large, preferred)])
    return None


def _two_kinds(layer: int, head: int, kinds: Sequence[tuple[int, float, float]]) -> Question:
    """Ask about two kinds, each a dimension (from 0), its share, and a uniform head's share; the larger share first."""
    (many, large, usual), (few, small, rare) = kinds
    (much, little) = (ABOUT[SPECIALIZATIONS[at].id] for at in (many, few))
    right = f"{small:.0%} is {small / rare:.1f} times {rare:.0%}; {large:.0%} is {large / usual:.1f} times {usual:.0%}."
    options = (
        Option(little.capitalize(), f"Yes: {right}", correct=True),
        Option(much.capitalize(), f"You compared the shares. But this text has more of {much}: {right}"),
        Option("Both alike", f"Divide each share by the one of the uniform head: {right}"),
    )
    prompt = (
        f"Head {head + 1} of layer {layer + 1} gives {much} {large:.0%} of its attention and {little} {small:.0%}. A "
        f"uniform head would give them {usual:.0%} and {rare:.0%}. Which does the head prefer?"
    )
    return shuffled("share-or-preference", prompt, options)


def rim_of_radar(layer: int, dimension: Dimension, values: tuple[Values, Values]) -> Question | None:
    """Ask what it means that a head reaches the rim. ``values``: raw and corrected, (H,) of a layer."""
    raw, corrected = values
    if not np.isfinite(raw).all() or len(raw) < 2 or np.ptp(raw) < MARGIN or raw.max() > 1 - MARGIN:
        return None
    best = int(raw.argmax())
    about = ABOUT[dimension.id]
    options = (
        Option(
            f"More of its attention goes to {about} than any other head of the layer gives them",
            f"Its value is {raw[best]:.2f}, the largest of the layer, and the largest value is drawn at the rim.",
            correct=True,
        ),
        Option(
            f"All its attention goes to {about}",
            "You read the rim as all of the attention. But the rim is only the largest value of the layer, "
            f"{raw[best]:.2f}.",
        ),
        Option(
            f"It gives {about} more attention than a uniform head does",
            "You read the rim as a comparison with a uniform head. But it compares the heads of a layer with each "
            f"other. Here this head has {corrected[best]:.2f} times the attention of a uniform head.",
        ),
    )
    head = f"head {best + 1} of layer {layer + 1}"
    prompt = f"On the axis “{dimension.name}”, {head} is at the rim. What does the rim alone say?"
    return shuffled("rim-of-radar", prompt, options)


def beats_the_rule(each: Notable) -> Question:
    """Ask how often the best head of a relation is right. The prompt names the rule that the head has to beat."""
    score, rule = each.heads[0].score, each.chance or 0.0
    why = f"It is right in {100 * score:.0f} of 100 cases, and the rule in {100 * rule:.0f}."
    outcomes = {
        "No more often than the rule": score < rule + MARGIN,
        "More often, but it is wrong in at least 20 of 100 cases": rule + MARGIN <= score <= _OFTEN,
        "In more than 80 of 100 cases": score > _OFTEN,
    }
    return which_holds("beats-the-rule", "How often is this head right?", why, outcomes)


def heads_that_decide(before: Sequence[float], off: Values) -> Question | None:
    """Ask for how many heads, taken away one at a time, the wrong form wins in most sentences.

    ``before`` (S,) and ``off`` (S, L, H) are shares of the right form. None if the wrong form wins already with all
    heads.
    """
    half = len(before) / 2
    if sum(share < 0.5 for share in before) >= half:
        return None
    lost = (off < 0.5).sum(axis=0)
    many, total = int((lost > half).sum()), lost.size
    several = max(2, total // 10)
    why = f"There {'is 1 such head' if many == 1 else f'are {many} such heads'} among {total}."
    outcomes = {
        "None: the other heads make up for it": many == 0,
        "One": many == 1,
        f"2 to {several}": 2 <= many <= several,
        f"More than {several}": many > several,
    }
    prompt = (
        f"Take away one of its {total} heads at a time. After how many of these removals does the model prefer *was* "
        "in most of the six sentences?"
    )
    return which_holds("heads-that-decide", prompt, why, outcomes)


def same_as_distance() -> Question:
    """Ask what a score shows if a rule without any grammar reaches this score, too. The numbers are published."""
    found = next(each for each in CLARK if each.name == "nn")
    head, rule = (f"{100 * share:.1f}" for share in (found.accuracy, found.offset))
    return shuffled(
        "same-as-distance",
        f"In *dog food*, *dog* belongs to *food*. In BERT base, the best head for such pairs is right in {head} of 100 "
        f"cases, and the rule “always the next word” in {rule} (Clark et al. 2019). What do the two numbers show "
        "together?",
        (
            Option(
                "The head may only look at the next word",
                f"A rule without grammar reaches {rule} as well, so {head} needs no grammar.",
                correct=True,
            ),
            Option(
                "The head knows which nouns belong together",
                f"You read a high score as knowledge. But a rule that only counts places is right in {rule}, too.",
            ),
            Option(
                "The model does not know which nouns belong together",
                "You concluded from one head to the whole model. Other heads may know it, or the vectors may contain "
                "it.",
            ),
        ),
    )


# A head, its job in words that continue “head 5-11 …”, and its score.
Job = tuple[Head, str, float]


def what_shows_need(job: Job | None) -> Question:
    """Ask which of four observations shows that the model needs a head."""
    who = "A head" if job is None else f"In {100 * job[2]:.0f} of 100 cases, {head_name(job[0])}"
    does = "finds the right word of a relation in most sentences" if job is None else job[1]
    return shuffled(
        "what-shows-need",
        f"{who} {does}. What would show that the model needs this head?",
        (
            Option(
                "Without the head, the model’s words change",
                "Only a change shows what depends on the head.",
                correct=True,
            ),
            Option(
                "Its weights are larger than the weights of other heads",
                "You read a high weight as a reason. But the words that a head looks at may change nothing.",
            ),
            Option(
                "It is right in even more sentences",
                "You took finding for using. But a head may find a word, and the later layers may ignore it.",
            ),
            Option(
                "Other models have such a head, too",
                "That would show that training often makes such a head, not that a model needs it.",
            ),
        ),
    )


def same_names(kept: int, total: int) -> Question | None:
    """Ask how many heads keep their name from one text to many texts."""
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
