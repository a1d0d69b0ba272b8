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
from lab.analysis.heads.values import Values
from lab.course.heads import head_name, heads
from lab.course.words import beside, quoted
from lab.evidence.grammar.own_sentence import Case
from lab.evidence.notable import Doing, Notable, job_of
from lab.lessons.head_specialization.checks import ABOUT, pattern_name
from lab.models.interventions import Head

_NAMED = 3  # words that a sentence lists


def kinds(of: Sequence[str]) -> str:
    """The commonest kind of token, and why that matters. ``of`` has the kind of each token."""
    kind, count = Counter(of).most_common(1)[0]
    return (
        f"{kind} are {count} of {len(of)} tokens here, the largest kind. So they get much from a head that gives every "
        "token the same weight. Only what a head gives them beyond that says that it prefers them."
    )


def seven(raw: Values, corrected: Values, even: Values, head: Head) -> str:
    """What gets most from a head, and what it prefers. Corrected, 1 is no preference; all (7,)."""
    known = [place for place in range(len(corrected)) if np.isfinite(corrected[place])]
    shares = [place for place in known if SPECIALIZATIONS[place].id != "long_range"]
    if not shares:
        return "This text has nothing of any of these kinds."
    largest = max(shares, key=lambda place: float(raw[place]))
    most = max(known, key=lambda place: float(corrected[place]))
    name = head_name(head)
    told = (
        f"{name[0].upper()}{name[1:]} gives the largest share to {ABOUT[SPECIALIZATIONS[largest].id]}: "
        f"{_beside_even(raw, corrected, even, largest)}. "
    )
    if corrected[most] <= 1:
        told += "It gives none of these more than that head does. "
    elif most == largest:
        told += "These it prefers most, too. "
    else:
        told += (
            f"What it prefers most is {ABOUT[SPECIALIZATIONS[most].id]}: {_beside_even(raw, corrected, even, most)}. "
            "A large share and a preference are two things. "
        )
    return f"{told}This is one text. A job would have to show in many."


def _beside_even(raw: Values, corrected: Values, even: Values, place: int) -> str:
    """A value, what a head without preference has there, and how many times as much it is."""
    times = f"{corrected[place]:.2f} times as much"
    return f"{raw[place]:.2f}, where a head without preference gives {even[place]:.2f} ({times})"


def rim(head: int, own: Sequence[Sequence[float]], axes: Sequence[str]) -> str:
    """What the shape says and what it does not: the axis nearest to the rim beside the one with most preference.

    ``own`` has the head's values at the ``axes``: relative to the layer, raw, corrected.
    """
    relative, raw, corrected = own
    told = (
        f"The shape compares head {head + 1} with the other heads of its layer. It does not show how much attention a "
        "kind gets. "
    )
    top, best = (max(range(len(axes)), key=values.__getitem__) for values in (relative, corrected))
    share = f"{raw[top]:.3f}, {corrected[top]:.2f} times what a head without preference has"
    told += f"On **{axes[top]}** head {head + 1} is nearest to the rim, at {relative[top]:.2f}: its value is {share}. "
    if top == best:
        return f"{told}Of all axes, it has most there beside such a head, too."
    return (
        f"{told}Beside such a head it has most on **{axes[best]}**, {corrected[best]:.2f} times as much, and stands at "
        f"{relative[best]:.2f} there."
    )


def radar(found: tuple[Notable, ...] | None, head: Head, *, asks_on: bool = True) -> str:
    """What a radar cannot say, with the job of this head as the example where it has one.

    ``asks_on``: the lesson has a step on grammar for what is read.
    """
    limits = (
        "The radar counts kinds of words and of places. It does not say **which** word of a kind a head finds, nor "
        "whether the model needs the head."
    )
    own = job_of(grammatical(found), *head)
    if not asks_on:
        return limits
    if own is None:
        return f"{limits} “Grammar” asks that: which head finds the verb of an object?"
    return (
        f"{limits} Over many sentences, {head_name(head)} {own[0].job.does}: right in {own[1].score:.0%} of "
        f"cases. A rule that always takes the word at one fixed distance is right in {own[0].chance or 0.0:.0%} at "
        "best. No axis shows that: see “Grammar”."
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
    return f"{said}, and the best untrained head {untrained:.2f}. So the head gets the name."


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
    inside = (names == name).sum(axis=1)
    most = int(inside.argmax())
    return (
        f"{heads(names.size - mixed)[0].upper()}{heads(names.size - mixed)[1:]} of {names.size} get a name in this "
        f"text, most often “{pattern_name(name)}” ({count}; {inside[most]} of {names.shape[1]} in layer {most + 1}). "
        f"{heads(mixed)} {'stays' if mixed == 1 else 'stay'} mixed: {'it' if mixed == 1 else 'they'} may still have a "
        "job that no pattern here describes."
    )


def grammatical(found: tuple[Notable, ...] | None) -> tuple[Notable, ...]:
    """Those of a model's jobs that are about grammar."""
    return tuple(each for each in found or () if ":" in each.job.id)


def grammar(each: Notable, doing: Doing, here: tuple[Case, ...]) -> str:
    """What a head is worth at a relation over many sentences, and how it does on this one."""
    many = (
        f"Over many sentences, {head_name((doing.layer, doing.head))} {each.job.does}: it is {_beside(each, doing)}. "
        "The head was picked as the best of all on the same sentences, which flatters it, and it may follow another "
        "rule that is simpler than grammar, such as the nearest word of a kind. That it finds a word does not say that "
        "the model needs it."
    )
    if not here:
        return f"{many} In your sentence the tagger finds no such pair, so there is nothing to see here."
    right = [case for case in here if case.right]
    case = (right or list(here))[0]
    told = f"from {quoted(case.asked)} it looks most at {quoted(case.named)}" if case.named else "it sees no other word"
    verdict = "" if case.right else f", not at {quoted(case.sought)}"
    return f"{many} In your sentence it is right {len(right)} of {len(here)} times: {told}{verdict}.{_too(case)}"


def _too(case: Case) -> str:
    """Which words look at the right one, too, though the job is not about them."""
    if not case.right or not case.too:
        return ""
    named, rest = case.too[:_NAMED], len(case.too) - _NAMED
    words = [quoted(word) for word in named] + ([f"{rest} more"] if rest > 0 else [])
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    look = "looks" if len(case.too) == 1 else "look"
    return (
        f" But {listed} {look} most at {quoted(case.sought)}, too, and the job is not about "
        f"{'it' if len(case.too) == 1 else 'them'}. So this sentence alone shows no grammar."
    )
