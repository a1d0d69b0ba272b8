"""The meanings of the figures of the lesson on head specialization, in sentences that the numbers choose.

Layers and heads count from 0 here and from 1 in the sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.named import MIXED
from lab.analysis.heads.parked import PARKED
from lab.analysis.heads.specialization import SPECIALIZATIONS, WORD_KINDS
from lab.analysis.heads.values import Values
from lab.course.words import beside, head_name, heads, listed, quoted
from lab.evidence.notable import Doing, Notable
from lab.evidence.own_sentence import Case
from lab.lessons.head_specialization.checks import ABOUT, pattern_name
from lab.models.interventions import Head

_NAMED = 3  # number of words that a sentence lists
_CLEAR = 0.1  # a preference that is nearer to 1 than this is next to none
# The verb phrase of each pattern, after “4 heads …” and after “1 head …”.
DOES = {
    "next_token": ("look at the next token", "looks at the next token"),
    "previous_token": ("look at the token before", "looks at the token before"),
    "same_word": ("look at the same word elsewhere", "looks at the same word elsewhere"),
    "delimiter": ("rest on tokens that are not words", "rests on tokens that are not words"),
    "bag_of_words": ("look at all words alike", "looks at all words alike"),
}


def begun(sentence: str) -> str:
    """Return the sentence with a capital first letter."""
    return sentence[0].upper() + sentence[1:]


def of_words(shares: Values) -> list[int]:
    """The dimensions (from 0) that are kinds of words and occur in the text. ``shares`` (7,)."""
    return [at for at, each in enumerate(SPECIALIZATIONS) if each.id in WORD_KINDS and np.isfinite(shares[at])]


def shares_given(head: Head, shares: Values, words_only: bool = False) -> str:
    """Say which share a head gives to each kind of word, (7,); ``words_only``: of its attention to words."""
    told = [f"{ABOUT[SPECIALIZATIONS[at].id]} **{shares[at]:.0%}**" for at in of_words(shares)]
    return (
        f"Of its attention to words, {head_name(head)} gives {listed(told)}."
        if told and words_only
        else (f"{begun(head_name(head))} gives {listed(told)} of its attention." if told else "")
    )


def kinds(head: Head, shares: Values, even: Values) -> str:
    """Say which kind of word a head prefers, and that a large share alone is not a preference. All (7,)."""
    here = of_words(shares)
    if not here:
        return "This text has no words of these kinds."
    times = {at: float(shares[at] / even[at]) for at in here}
    most = max(here, key=times.__getitem__)
    about = ABOUT[SPECIALIZATIONS[most].id]
    if times[most] < 1 + _CLEAR:
        name = begun(head_name(head))
        return f"{name} prefers none of these kinds: it gives each kind as much as a uniform head gives, or less."
    told = (
        f"{begun(head_name(head))} gives {about} {shares[most]:.0%}, and a uniform head would give "
        f"{even[most]:.0%}: {times[most]:.1f} times as much."
    )
    other = max((at for at in here if at != most), key=lambda at: float(shares[at]), default=most)
    if other == most or times[other] >= 1:
        return told
    return (
        f"{told} {begun(ABOUT[SPECIALIZATIONS[other].id])} get {shares[other]:.0%}, but that is less than the "
        f"{even[other]:.0%} from a uniform head."
    )


def radar(head: Head, own: Sequence[Sequence[float]], axes: Sequence[str]) -> str:
    """Say on which axis the shape is nearest to the rim, and that the rim is the best head of the layer, not chance.

    ``own`` has the head's values on the ``axes``: relative to the layer, raw, corrected.
    """
    relative, _, corrected = own
    if len(set(relative)) == 1 < len(relative):
        return "None of these numbers tells the heads of this layer apart in this text."
    top = max(range(len(axes)), key=relative.__getitem__)
    name = begun(head_name(head))
    reached = "has the largest value of its layer" if relative[top] >= 1 else "is nearest to the rim"
    told = f"{name} {reached} on **{axes[top]}**: {corrected[top]:.1f} times the value of a uniform head."
    best = max(range(len(axes)), key=corrected.__getitem__)
    if best == top:
        return told
    return (
        f"{told} But its strongest preference is on **{axes[best]}**, {corrected[best]:.1f} times: the radar compares "
        "heads with each other, not with chance."
    )


def patterns(names: NDArray[np.str_], head: Head) -> str:
    """Say how many heads get each name on this text, and which name the chosen head gets, if any. ``names`` (L, H)."""
    counts = Counter(str(name) for name in names.ravel())
    counts.pop(MIXED, None)
    own = str(names[head])
    if not counts:
        return f"None of the {names.size} heads does one of these things clearly more often than chance in this text."
    told = [f"{count} {DOES[name][count == 1]}" for name, count in counts.most_common()]
    verb = "has a name" if (total := sum(counts.values())) == 1 else "have a name"
    here = (
        f"{begun(head_name(head))} is one of them: {pattern_name(own)}."
        if own != MIXED
        else f"{begun(head_name(head))} does nothing of this kind; it may still have a job that has no name here."
    )
    return f"{begun(heads(total))} of {names.size} {verb} in this text: {listed(told)}. {here}"


def delimiter(needed: float, parked: float) -> str:
    """Say how the name “Delimiter” differs from parking.

    ``needed`` is the score that gives the name; ``parked``, the share that the head parks.
    """
    said = (
        f"**Delimiter** is a wider name than **parked**: the name begins at {needed:.2f} in this text, parking at "
        f"{PARKED:.0%}."
    )
    if parked > PARKED:
        return f"{said} This head parks."
    return f"{said} This head does not park: it still has {beside(1 - parked, 1 - PARKED)} left for words."


def grammatical(found: tuple[Notable, ...] | None) -> tuple[Notable, ...]:
    """The jobs of a model's heads that are relations of grammar."""
    return tuple(each for each in found or () if each.job.grammatical)


def in_100(share: float) -> str:
    """Write a share as a count: “68 of 100”."""
    return f"{100 * share:.0f} of 100"


def grammar(each: Notable, doing: Doing, here: tuple[Case, ...], shown: Case | None = None) -> str:
    """Say how often a head and a rule find a relation over many sentences, and how often the head does in this one.

    ``shown`` is the pair of this text that is drawn; if it is None, the first pair that is right is named.
    """
    name = begun(head_name((doing.layer, doing.head)))
    many = (
        f"{name} {each.job.does} in {in_100(doing.score)} cases; the rule that only counts places is right in "
        f"{in_100(each.chance or 0.0)}."
    )
    if not here:
        return f"{many} Your sentence has no such pair."
    right = [case for case in here if case.right]
    case = shown or (right or list(here))[0]
    told = f"from {quoted(case.asked)} it looks most at {quoted(case.named)}" if case.named else "it sees no other word"
    verdict = "" if case.right else f", not at {quoted(case.sought)}"
    return f"{many} In your sentence it is right {len(right)} of {len(here)} times: {told}{verdict}."


def too(case: Case) -> str:
    """Name the words that also look at the right word, though the job is not about them; "" if there are none."""
    if not case.right or not case.too:
        return ""
    rest = len(case.too) - _NAMED
    words = [quoted(word) for word in case.too[:_NAMED]] + ([f"{rest} more"] if rest > 0 else [])
    look, them = ("looks", "it") if len(case.too) == 1 else ("look", "them")
    return (
        f"But {listed(words)} {look} most at {quoted(case.sought)}, too, and the job is not about {them}. So this "
        "sentence alone shows no grammar."
    )


def at_mean(shares: Sequence[float], head: Head) -> str:
    """Say in how many sentences the wrong form wins with a head at its mean; ``shares`` (S,) are of the right form."""
    wrong = sum(share < 0.5 for share in shares)
    return (
        f"Here, the numbers of {head_name(head)} are set to 0. If they are set to their mean over the sentence, the "
        f"model prefers *was* in {wrong} of {len(shares)}."
    )


def matters(before: Sequence[float], off: Values, head: Head) -> str:
    """Say in how many sentences the wrong form wins without the chosen head, and without other single heads.

    ``before`` (S,) and ``off`` (S, L, H) are the shares of the right form of the verb.
    """
    count, name = len(before), head_name(head)
    lost = (off < 0.5).sum(axis=0)
    own, kept = int(lost[head]), sum(share < 0.5 for share in before)
    others = np.delete(lost.ravel(), np.ravel_multi_index(head, lost.shape))
    if own > kept:
        told = f"Without {name}, the model prefers *was* in {own} of {count} sentences; with it, in {kept}."
        most = int(others.max(initial=0))
        if most >= own:
            return told
        rest = f"it does so in {most} at most" if most else "it never does"
        return f"{told} Without any single other head, {rest}."
    same = "nothing turns" if own == kept else "it prefers *was* less often"
    told = f"Without {name}, {same}: the model prefers *was* in {own} of {count} sentences; with all heads, in {kept}."
    worst = np.unravel_index(int(lost.argmax()), lost.shape)
    if lost[worst] > kept:
        return f"{told} Without {head_name((int(worst[0]), int(worst[1])))}, it is {int(lost[worst])} of {count}."
    return told
