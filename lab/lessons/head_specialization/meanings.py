"""What the figures of the lesson on head specialization mean, in sentences that the numbers choose.

Layers and heads count from 0 here and from 1 in the sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.named import MIXED, Chance, above_chance
from lab.analysis.heads.parked import PARKED
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.specialization import SPECIALIZATIONS
from lab.analysis.heads.taken_away import POSITIONS, SEGMENTS, Lost
from lab.analysis.heads.values import Values
from lab.course.heads import head_name, heads
from lab.course.words import beside, quoted
from lab.experiments.notable import Doing, Notable, job_of
from lab.experiments.own_sentence import Case
from lab.lessons.head_specialization.checks import ABOUT, pattern_name
from lab.models.interventions import Head

# What the heads do that need positions, or segments.
_DOES = {POSITIONS: "looks at the token before", SEGMENTS: "stays inside its sentence"}
# Of what a head has above chance: so much gone is most of it, so little is hardly any.
_MOST_OF_IT, _SOME = 0.75, 0.25


def kinds(of: Sequence[str]) -> str:
    """The commonest kind of token, and why that matters. ``of`` has the kind of each token."""
    kind, count = Counter(of).most_common(1)[0]
    return (
        f"{kind} are {count} of {len(of)} tokens here. So a head that looks anywhere at all meets them often: a share "
        "of attention says something only beside this share of the tokens."
    )


def seven(corrected: Values, head: Head) -> str:
    """What a head prefers most, and what it avoids most. ``corrected`` (7,): 1 is no preference."""
    known = [place for place in range(len(corrected)) if np.isfinite(corrected[place])]
    if not known:
        return "This text has nothing of any of these kinds."
    most, least = (pick(known, key=lambda place: float(corrected[place])) for pick in (max, min))
    if corrected[most] <= 1:
        said = f"looks at none of these more than a head without preference. Nearest is {_times(corrected, most)}"
    else:
        said = f"looks most at {_times(corrected, most)}"
    name = head_name(head)
    return (
        f"{name[0].upper()}{name[1:]} {said} as much as a head without preference. Lowest: {_times(corrected, least)}. "
        "That is where it looks in this text. A job would have to show in many."
    )


def _times(corrected: Values, place: int) -> str:
    return f"{ABOUT[SPECIALIZATIONS[place].id]}, {corrected[place]:.2f} times"


def radar(found: tuple[Notable, ...] | None, head: Head) -> str:
    """What a radar cannot say, with the job of this head as the example where it has one."""
    limits = (
        "The radar counts kinds of words and of places. It does not say **which** word of a kind a head finds, nor "
        "whether the model needs the head."
    )
    own = job_of(grammatical(found), *head)
    if own is None:
        return f"{limits} “Grammar” asks that: which head finds the verb of an object?"
    return (
        f"{limits} Over many sentences, {head_name(head)} {own[0].job.does}: right in {own[1].score:.0%} of "
        f"cases, where always looking equally far away is right in {own[0].chance or 0.0:.0%} at best. No axis shows "
        "that: see “Grammar”."
    )


def _beside(each: Notable, doing: Doing) -> str:
    chance = 0.0 if each.chance is None else each.chance
    return f"right in {doing.score:.0%} of cases; the best fixed distance, in {chance:.0%}"


def worked(scores: Values, chance: Chance, head: Head) -> str:
    """The rule for a name on this head's score that is farthest above chance. ``scores`` (P, L, H)."""
    own = scores[:, head[0], head[1]]
    above = above_chance(own, chance.uniform)
    fit = [at for at, each in enumerate(PATTERNS) if each.id != "broad" and np.isfinite(above[at])]
    if not fit:
        return ""
    at = max(fit, key=lambda place: float(above[place]))
    uniform, needed, untrained = (float(each[at]) for each in (chance.uniform, chance.needed, chance.untrained))
    said = (
        f"For example, “{PATTERNS[at].name}”: a head that prefers nothing scores {uniform:.2f} here. Half of the way "
        f"from there to 1 is {beside(needed, float(own[at]))}. {head_name(head)[0].upper()}{head_name(head)[1:]} "
        f"scores {beside(float(own[at]), needed)}"
    )
    if own[at] < needed:
        return f"{said}: too little for this name."
    if own[at] <= untrained:
        return f"{said}, but the best untrained head has {beside(untrained, float(own[at]))}: no name."
    return f"{said}, and the best untrained head {untrained:.2f}: it gets the name."


def delimiter(needed: float, parked: float) -> str:
    """What the name has to do with parking. ``needed``: the score that gives the name; ``parked``: the share."""
    said = (
        f"**Delimiter** is a wider name than **parked**: the name begins at {needed:.2f} in this text, parking at "
        f"{PARKED:.0%}."
    )
    if parked > PARKED:
        return f"{said} This head parks."
    return f"{said} This head does not park: it has {beside(1 - parked, 1 - PARKED)} left for words."


def patterns(names: NDArray[np.str_]) -> str:
    """How many heads get a name on this text, and the commonest. ``names`` (L, H), ids of patterns."""
    counts = Counter(str(name) for name in names.ravel())
    mixed = counts.pop(MIXED, 0)
    if not counts:
        return f"None of the {names.size} heads does one of these things clearly above chance in this text."
    name, count = counts.most_common(1)[0]
    return (
        f"{heads(names.size - mixed)[0].upper()}{heads(names.size - mixed)[1:]} of {names.size} get a name in this "
        f"text, most often “{pattern_name(name)}” ({count}). {mixed} stay mixed: they may still have a job that no "
        "pattern here describes."
    )


def grammatical(found: tuple[Notable, ...] | None) -> tuple[Notable, ...]:
    """Those of a model's jobs that are about grammar."""
    return tuple(each for each in found or () if ":" in each.job.id)


def grammar(each: Notable, doing: Doing, here: tuple[Case, ...]) -> str:
    """What a head is worth at a relation over many sentences, and how it does on this one."""
    many = (
        f"Over many sentences, {head_name((doing.layer, doing.head))} {each.job.does}: it is {_beside(each, doing)}. "
        "So always looking equally far away does not explain it. But it may follow another rule that is simpler than "
        "grammar, such as the nearest word of a kind."
    )
    if not here:
        return f"{many} In your sentence the tagger finds no such pair, so there is nothing to see here."
    right = [case for case in here if case.right]
    case = (right or list(here))[0]
    told = f"from {quoted(case.asked)} it looks most at {quoted(case.named)}" if case.named else "it sees no other word"
    verdict = "" if case.right else f", not at {quoted(case.sought)}"
    return f"{many} In your sentence it is right {len(right)} of {len(here)} times: {told}{verdict}."


def taken_away(taken: str, found: Lost, pair: bool) -> str:
    """What the best head of a pattern scores without positions, or without segments; ``pair``: there are two."""
    name, does = head_name((found.layer, found.head)), _DOES[taken]
    scores = f"from {found.before:.2f} to {found.after:.2f}; a uniform head has {found.uniform:.2f}."
    if not found.clearly:
        return f"No head {does} clearly above chance here, so there is little to lose. The best, {name}, goes {scores}"
    told = f"{name[0].upper()}{name[1:]} {does}. Its score goes {scores}"
    # How much of what it has above chance is gone.
    gone = (found.before - found.after) / (found.before - found.uniform)
    if gone >= _MOST_OF_IT:
        return f"{told} So it is the {taken.lower()} that tell this head where to look."
    if gone > _SOME:
        return f"{told} So it needs the {taken.lower()} for a part of it, and has the rest from elsewhere."
    one = "" if taken == POSITIONS or pair else " With one sentence, all segments are the same."
    return f"{told} So it hardly needs the {taken.lower()} here.{one}"
