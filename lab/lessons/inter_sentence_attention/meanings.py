"""Sentences about the figures of the inter-sentence lesson, chosen by the numbers.

Sentences, layers, heads and tokens count from 0 in the code and from 1 on screen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.analysis.heads.values import Values, is_causal
from lab.analysis.sentences.attention import InterSentence, SentenceCells
from lab.analysis.sentences.split import expected, split
from lab.course.words import VISIBLE, head_name, mostly, named, quoted
from lab.figures.sentences import apart, behind, read
from lab.models.interventions import Head
from lab.models.trace import Trace

# In one text, a smaller change of a share of attention does not count as a finding.
NOTABLE = 0.05
# A share of at least this multiple of a uniform head's share is called “much”.
MUCH = 2
# If a text has more sentences, they are counted, not listed.
_LISTED = 4
_NO_BORDER = (
    "This model puts no border between two texts, so nothing here can be the effect of a border. Only the space "
    "between them is gone"
)


@dataclass(frozen=True)
class Link:
    """The weight of the attention from one token to another; both are places in the text, from 0."""

    query: int
    key: int
    weight: float


def lengths(trace: Trace, left_out: bool) -> str:
    """Say how much attention a sentence gets from a uniform head, which is due to its length alone.

    If special tokens are ``left_out``, as in the map, the shares are shares of the attention to sentences.
    """
    sizes = [len(split(trace).places(number)) for number in range(len(split(trace)))]
    n = sum(sizes) if left_out and not is_causal(trace) else len(trace)
    who = "From the last token, a uniform head" if is_causal(trace) else "A uniform head"
    if len(set(sizes)) == 1:
        return f"{who} would give each sentence {percents(sizes[0] / n)}: all are equally long ({_tokens(sizes[0])})."
    most, least = (int(place) for place in (np.argmax(sizes), np.argmin(sizes)))
    return (
        f"{who} would give sentence {most + 1} more than sentence {least + 1}, {percents(sizes[most] / n)} and "
        f"{percents(sizes[least] / n)}, only because it is longer. So compare each share with a uniform head’s share."
    )


def percents(part: float) -> str:
    """Write a share in mostly; a share that is below 1 only by rounding counts as 1."""
    return mostly(round(part, 6))


def _tokens(count: int) -> str:
    return f"{count} token{'s' if count != 1 else ''}"


def sent(trace: Trace, a: int, b: int, left_out: bool) -> str:
    """Say whether sentences look mostly at themselves, and compare a share of ``a`` with a uniform head's."""
    found = read(trace, split(trace), left_out)
    mass, even = float(found.mass[a, b]), expected(found, len(trace), is_causal(trace), a, b)
    whom = "itself" if a == b else f"sentence {b + 1}"
    gives = f"Sentence {a + 1} gives {percents(mass)} to {whom}"
    than = "about the same" if abs(mass - even) < VISIBLE else percents(even)
    return f"{_own(found, is_causal(trace))} {gives}; a uniform head would give {than}."


def _own(found: InterSentence, causal: bool) -> str:
    """Say how many sentences look more at themselves than at any other; if there are few sentences, name the shares."""
    rows = range(1 if causal else 0, len(found.members))
    own = [a for a in rows if _leads(found, a)]
    which = "later sentence" if causal else "sentence"
    if not own:
        return f"No {which} looks more at itself than at any other sentence."
    shares = f": {_all([percents(float(found.mass[a, a])) for a in own])}" if len(own) <= _LISTED else ""
    if len(own) == len(rows):
        return (
            f"Sentence {own[0] + 1} looks more at itself than at any other sentence{shares}."
            if len(own) == 1
            else f"Each {which} looks more at itself than at any other{shares}."
        )
    return f"{len(own)} of {len(rows)} {which}s {_look(len(own))} than at any other{shares}."


def _look(count: int) -> str:
    return "looks more at itself" if count == 1 else "look more at themselves"


def _leads(found: InterSentence, a: int) -> bool:
    """Return whether sentence ``a`` clearly gives more to itself than to any other sentence."""
    others = [float(found.mass[a, b]) for b in range(len(found.members)) if b != a and found.where[a, b, 0] >= 0]
    return bool(found.mass[a, a] - max(others) >= VISIBLE)


def _all(names: list[str]) -> str:
    """Join names to “a, b and c”; repeated names are kept."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def other_way(trace: Trace, a: int, b: int, left_out: bool) -> str:
    """Say how much sentence ``b`` gives to ``a``, or that ``b`` cannot see ``a``."""
    if is_causal(trace):
        return f"In the other direction there is nothing: sentence {b + 1} cannot see what comes after it."
    back = float(read(trace, split(trace), left_out).mass[b, a])
    return (
        f"In the other direction, sentence {b + 1} gives {percents(back)} to sentence {a + 1}: attention has a "
        "direction."
    )


def reading(trace: Trace, left_out: bool) -> list[str]:
    """List the parts of the map, each with its numbers in this text."""
    found = read(trace, split(trace), left_out)
    mass, count = found.mass, len(found.members)
    seen = found.where[..., 0] >= 0
    own = sum(bool(mass[a, a] >= mass[a][seen[a]].max()) for a in range(count))
    crossing = np.where(seen & ~np.eye(count, dtype=bool), mass, -1.0)
    a, b = (int(place) for place in np.unravel_index(int(crossing.argmax()), crossing.shape))
    # The values are relative to a uniform head: otherwise a long sentence would raise the mean on its side.
    back, ahead = (
        found.relative[which(count, offset)] for which, offset in ((np.tril_indices, -1), (np.triu_indices, 1))
    )
    above = (
        "There is nothing above the diagonal, because this model never looks ahead."
        if is_causal(trace)
        else f"Above the diagonal, a sentence looks ahead to a later one: {ahead.mean():.2f} times."
    )
    return [
        "**The diagonal** has the share that a sentence gives itself. This share is the largest number in "
        f"{own} of {count} rows here.",
        "**The other cells** have the shares that cross to another sentence. The most attention crosses from sentence "
        f"{a + 1} to sentence {b + 1}: {percents(float(crossing[a, b]))}.",
        "**Direction.** Below the diagonal, a sentence looks back to an earlier one: on average it gives "
        f"{back.mean():.2f} times the share of a uniform head. {above}",
        "**Reference and discourse.** *She* may mean a person who is named in another sentence (**coreference**), and "
        "one sentence may follow from another (**discourse**). Both may lead to attention across sentences. But a "
        "large number proves neither: look at the words behind it.",
    ]


def strongest(trace: Trace, a: int, b: int, heads: str | Head, left_out: bool) -> list[Link]:
    """Link each word of sentence ``a`` to its favourite word of ``b``, the largest weight first.

    Signs are left out, and so is the link from a word to itself.
    """
    found = behind(trace, split(trace), a, b, heads, left_out)
    links = []
    for query, row in zip(found.queries.tolist(), found.weights, strict=True):
        seen = [at for at, key in enumerate(found.keys.tolist()) if key != query and is_word(trace, key)]
        if is_word(trace, query) and seen:
            best = max(seen, key=lambda at: row[at])
            links.append(Link(query, int(found.keys[best]), float(row[best])))
    return sorted((link for link in links if link.weight > 0), key=lambda link: -link.weight)


def is_word(trace: Trace, place: int) -> bool:
    """Return whether a token has a letter or a digit, so that it is not only a sign."""
    return any(letter.isalnum() for letter in trace.labels[place])


def words_behind(trace: Trace, a: int, b: int, heads: str | Head, left_out: bool) -> str:
    """Name the two strongest links between words, and the token that gets the largest part of the share."""
    links = strongest(trace, a, b, heads, left_out)
    if not links:
        return "No word here looks at another word: there are only punctuation marks."
    told = f"Among words, {quoted(trace.labels[links[0].query])} looks most at {_key(trace, links[0])}"
    if len(links) > 1:
        told += f", and {quoted(trace.labels[links[1].query])} at {_key(trace, links[1])}"
    return f"{told}. {_largest(trace, behind(trace, split(trace), a, b, heads, left_out))}"


def _key(trace: Trace, link: Link) -> str:
    return f"{quoted(trace.labels[link.key])} ({link.weight:.2f})"


def _largest(trace: Trace, found: SentenceCells) -> str:
    """Name the token that gets the largest part of a sentence's attention to the other sentence."""
    given = found.weights.mean(axis=0, dtype=np.float64)
    most = int(given.argmax())
    place = int(found.keys[most])
    no_word = "" if is_word(trace, place) else ", which is not a word"
    return (
        f"Of the {percents(float(given.sum()))} that goes there, the largest part, {percents(float(given[most]))}, "
        f"goes to {named(trace, place)}{no_word}."
    )


def strongest_head(trace: Trace, link: Link) -> tuple[Head, float]:
    """The head that gives ``link.key`` most weight from ``link.query``, and this weight, as the model has it."""
    weights = np.array(
        [trace.layer(at).attention[:, link.query, link.key].numpy() for at in range(trace.model.config.layers)]
    )
    layer, head = (int(each) for each in np.unravel_index(int(weights.argmax()), weights.shape))
    return (layer, head), float(weights[layer, head])


def of_heads(trace: Trace, link: Link, story: Head | None) -> str:
    """Name the head with the largest weight along a link, and the weight of the head of the ``story``, if any."""
    head, weight = strongest_head(trace, link)
    query, key = (quoted(trace.labels[place]) for place in (link.query, link.key))
    told = f"From {query}, {head_name(head)} gives {key} most: {weight:.2f}."
    if story is None:
        return told
    if story == head:
        return f"{told} You have followed this head from lesson 3 on."
    own = float(trace.layer(story[0]).attention[story[1], link.query, link.key])
    return f"{told} The head that you followed from lesson 3 on, {head_name(story)}, gives it {own:.2f}."


def taken(trace: Trace, a: int, outside: str) -> str:
    """Compare the share of special tokens or the first token, called ``outside``, with a uniform head's."""
    share, even = taken_and_even(trace, a)
    gets = "get" if " and " in outside else "gets"
    more = "more than any sentence does: " if share > float(apart(trace, split(trace)).mass[a].max()) else ""
    than = "about the same" if abs(share - even) < VISIBLE else percents(even)
    times = f", so this is {share / even:.1f} times as much" if share >= MUCH * even else ""
    return f"From sentence {a + 1}, {outside} {gets} {more}{percents(share)}. A uniform head would give {than}{times}."


def taken_and_even(trace: Trace, a: int) -> tuple[float, float]:
    """Return the share of the tokens that are set apart, from sentence ``a`` and from a uniform head."""
    sentences = split(trace)
    kept = apart(trace, sentences)
    even = 1 - sum(expected(kept, len(trace), is_causal(trace), a, b) for b in range(len(sentences)))
    return float(kept.removed[a]), even


def paired(joined: Values, pair: Values, causal: bool, border: bool) -> str:
    """Say how the shares change when two texts are read as a pair. Both arrays are (2, 2), from text to text.

    ``border`` says whether the model puts a token between the texts of a pair, or another vector on the second text.
    """
    ways = [(1, 0)] if causal else [(0, 1), (1, 0)]
    changes = [float(pair[way] - joined[way]) for way in ways]
    told = "; ".join(
        f"text {'AB'[a]} gives text {'AB'[b]} {percents(float(pair[a, b]))} in a pair and "
        f"{percents(float(joined[a, b]))} in one text"
        for a, b in ways
    )
    return f"{_crossing(changes) if border else _NO_BORDER}: {told}."


def _crossing(changes: list[float]) -> str:
    """Say whether less attention crosses the border, from its change in each direction."""
    if all(abs(change) < VISIBLE for change in changes):
        return "The border hardly changes how much attention crosses it"
    if all(abs(change) < NOTABLE for change in changes):
        return "The shares that cross change by a few hundredths, too little to show an effect of the border"
    if all(change < VISIBLE for change in changes):
        return "Less attention crosses with a border"
    if all(change > -VISIBLE for change in changes):
        return "More attention crosses with a border, not less"
    return "The border changes the two directions in opposite ways"
