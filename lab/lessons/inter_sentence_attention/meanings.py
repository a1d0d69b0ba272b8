"""What the figures of the inter-sentence lesson say, in the learner's own numbers. Every claim is chosen by them."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.values import Values, is_causal
from lab.analysis.sentences.attention import InterSentence
from lab.analysis.sentences.split import expected, split
from lab.course.words import beside
from lab.figures.sentences import apart, read
from lab.models.trace import Trace

# A difference that two decimals show; nearer numbers are about the same.
SEEN = 0.01
# How many times its even share a token takes before it is called much.
MUCH = 2


def lengths(trace: Trace) -> str:
    """What the length of a sentence alone brings it."""
    sizes, n = [len(split(trace).places(number)) for number in range(len(split(trace)))], len(trace)
    if is_causal(trace):
        who = f"The last token sees all {n}. If it spreads its attention evenly,"
    else:
        who = f"A token that spreads its attention evenly over all {n}"
    gives = "it gives" if is_causal(trace) else "gives"
    if len(set(sizes)) == 1:
        return f"Each sentence has {_tokens(sizes[0])}. {who} {gives} each of them {sizes[0] / n:.2f}."
    most, least = (int(place) for place in (np.argmax(sizes), np.argmin(sizes)))
    return (
        f"Length counts. {who} {gives} **{sizes[most] / n:.2f}** to sentence {most + 1}, for its "
        f"{_tokens(sizes[most])}, and {sizes[least] / n:.2f} to sentence {least + 1}, for its {_tokens(sizes[least])}."
    )


def _tokens(count: int) -> str:
    return f"{count} token{'s' if count != 1 else ''}"


def sent(trace: Trace, a: int, b: int, left_out: bool) -> str:
    """What a sentence sends to another or keeps, beside what the length alone would bring."""
    found = read(trace, split(trace), left_out)
    mass, even = float(found.mass[a, b]), expected(found, len(trace), is_causal(trace), a, b)
    what = f"sends **{mass:.2f}** of its attention to sentence {b + 1}"
    if a == b:
        what = f"keeps **{mass:.2f}** of its attention for itself"
    than = "as much" if abs(mass - even) < SEEN else "more" if mass > even else "less"
    told = f"Sentence {a + 1} {what}. An even spread gives {even:.2f}, so this is "
    told += "about as much" if than == "as much" else f"{than} than that"
    out = "special tokens" if any(trace.encoding.special) else "the first token"
    anew = f" This is of what does not go to {out}." if left_out else ""
    return f"{told}.{anew}{_most(found, a, b)}"


def per_length(trace: Trace, a: int, b: int, left_out: bool) -> str:
    """A length-corrected value in words, and whether another sentence gets more for its length."""
    row = read(trace, split(trace), left_out).relative[a]
    to = "keeps" if a == b else f"sends sentence {b + 1}"
    told = f"Sentence {a + 1} {to} **{row[b]:.2f}** times what an even spread would give"
    best = int(np.nanargmax(row))
    if row[best] - row[b] < SEEN:
        return f"{told}." if np.isfinite(row).sum() < 2 else f"{told}. No sentence gets more for its length."
    which = "itself" if best == a else f"sentence {best + 1}"
    return f"{told}. Most for its length goes to {which}, {row[best]:.2f} times."


def _most(found: InterSentence, a: int, b: int) -> str:
    """Which sentence gets most of row ``a``, if one leads; ``b`` is the one spoken of."""
    seen = [b for b in range(len(found.members)) if found.where[a, b, 0] >= 0]
    order = sorted(seen, key=lambda b: -found.mass[a, b])
    if len(order) < 2:
        return ""
    first, second = (float(found.mass[a, b]) for b in order[:2])
    if first - second < SEEN:
        return " No sentence leads in this row."
    if order[0] == b:
        return " It is the largest number in its row."
    return f" Most in its row goes to {'itself' if order[0] == a else f'sentence {order[0] + 1}'}, {first:.2f}."


def reading(trace: Trace, left_out: bool) -> list[str]:
    """How the parts of the matrix are read, each with what it has here."""
    found = read(trace, split(trace), left_out)
    mass, count = found.mass, len(found.members)
    seen = found.where[..., 0] >= 0
    own = sum(bool(mass[a, a] >= mass[a][seen[a]].max()) for a in range(count))
    crossing = np.where(seen & ~np.eye(count, dtype=bool), mass, -1.0)
    a, b = (int(place) for place in np.unravel_index(int(crossing.argmax()), crossing.shape))
    # Corrected: a long sentence gets more wherever it stands, and the means would show where that is.
    back, ahead = (
        found.relative[which(count, offset)] for which, offset in ((np.tril_indices, -1), (np.triu_indices, 1))
    )
    above = (
        "Above it stands nothing: this model never looks ahead."
        if is_causal(trace)
        else f"Above it, it looks ahead to a later one: {ahead.mean():.2f} times."
    )
    return [
        f"**Diagonal**: what a sentence gives itself. It is the largest number in {own} of {count} rows here.",
        f"**Off the diagonal**: what crosses to another sentence. Most crosses from sentence {a + 1} to sentence "
        f"{b + 1}: {crossing[a, b]:.2f}.",
        "**Direction**: the row attends, the column is attended to. Below the diagonal, a sentence looks back to an "
        f"earlier one: on average it sends {back.mean():.2f} times what an even spread gives. {above}",
        "**Reference and discourse**: *she* may mean a person named in another sentence (**coreference**), and "
        "sentences follow from each other (**discourse**). Either may show off the diagonal. But a large number is no "
        "proof of it: look at the tokens behind it.",
    ]


def there_and_back(trace: Trace, a: int, b: int, left_out: bool) -> str:
    """What goes from a sentence to another beside what comes back, with and without the effect of length."""
    found = read(trace, split(trace), left_out)
    if is_causal(trace):
        late, early = max(a, b), min(a, b)
        if late == early:
            return f"Sentence {a + 1} keeps {found.mass[a, a]:.2f} for itself. It sees no sentence after it."
        return (
            f"Sentence {late + 1} sends **{found.mass[late, early]:.2f}** back to sentence {early + 1}. Nothing goes "
            f"the other way: no token of sentence {early + 1} sees a later one."
        )
    if a == b:
        a, b = most_unlike(found.mass)
    there, back = float(found.mass[a, b]), float(found.mass[b, a])
    told = (
        f"Sentence {a + 1} sends **{there:.2f}** to sentence {b + 1}, and sentence {b + 1} sends "
        f"{'about the same' if abs(there - back) < SEEN else 'more' if back > there else 'less'} back, **{back:.2f}**."
    )
    told += _turned(trace, (a, b), there - back, left_out)
    per_length = [float(found.relative[pair]) for pair in ((a, b), (b, a))]
    forward, backward = (f"{value:.2f}" for value in per_length)
    if not abs(there - back) >= SEEN:
        return told
    if abs(per_length[0] - per_length[1]) < SEEN:
        return f"{told} Length explains it: corrected for length, the two are {forward} and {backward}."
    if (per_length[0] > per_length[1]) == (there > back):
        return f"{told} Length alone does not explain it: corrected for length, the two are {forward} and {backward}."
    return (
        f"{told} Corrected for length, it is the other way round, {forward} and {backward}: the longer sentence gets "
        "more by its length alone."
    )


def _turned(trace: Trace, pair: tuple[int, int], more: float, left_out: bool) -> str:
    """Says so where the other direction is larger once what is left out counts, or the other way round."""
    a, b = pair
    other = read(trace, split(trace), not left_out).mass
    if min(abs(more), abs(other[a, b] - other[b, a])) < SEEN or (more > 0) == (other[a, b] > other[b, a]):
        return ""
    out = "special tokens" if any(trace.encoding.special) else "the first token"
    return (
        f" With {out} {'counted' if left_out else 'left out'} it is the other way round, {other[a, b]:.2f} and "
        f"{other[b, a]:.2f}: which direction is larger depends on that."
    )


def most_unlike(mass: Values) -> tuple[int, int]:
    """The two sentences whose directions differ most."""
    a, b = (int(place) for place in np.unravel_index(int((mass - mass.T).argmax()), mass.shape))
    return (0, 1) if a == b else (a, b)


def taken(trace: Trace, a: int, outside: str) -> str:
    """What goes to special tokens or the first token, called ``outside``, beside an even share."""
    share, even = taken_and_even(trace, a)
    told = f"Of the attention of sentence {a + 1}, **{beside(share, even)}** goes to {outside}. "
    told += f"An even spread would send {even:.2f} there: "
    if abs(share - even) < SEEN:
        return f"{told}about the same."
    if share < even:
        return f"{told}this is less."
    return f"{told}this is {'more' if share < MUCH * even else f'{share / even:.1f} times as much'}."


def taken_and_even(trace: Trace, a: int) -> tuple[float, float]:
    """What a token of sentence ``a`` sends to what is set apart, and what an even spread would send."""
    sentences = split(trace)
    kept = apart(trace, sentences)
    even = 1 - sum(expected(kept, len(trace), is_causal(trace), a, b) for b in range(len(sentences)))
    return float(kept.removed[a]), even


def paired(joined: Values, pair: Values, causal: bool) -> str:
    """What the border of a pair changes; both (2, 2), the mean mass from text to text."""
    ways = [("B", "A", float(joined[1, 0]), float(pair[1, 0]))]
    if not causal:
        ways.insert(0, ("A", "B", float(joined[0, 1]), float(pair[0, 1])))
    return " ".join([*(_moved(*way) for way in ways), _crossing([after - before for *_, before, after in ways])])


def _crossing(changes: list[float]) -> str:
    """Whether less crosses a border, by the change of each direction."""
    if all(abs(change) < SEEN for change in changes):
        return "So here the border hardly changes what crosses."
    if all(change < SEEN for change in changes):
        return "So here less crosses with a border."
    if all(change > -SEEN for change in changes):
        return "So here more crosses with a border, not less."
    return "So here the border does not just keep attention apart: one direction gains, the other loses."


def _moved(one: str, other: str, joined: float, pair: float) -> str:
    start = f"Text {one} sends text {other}"
    if abs(pair - joined) < SEEN:
        return f"{start} about the same, {joined:.2f} as one text and {pair:.2f} as a pair."
    return f"{start} {'more' if pair > joined else 'less'} as a pair: **{pair:.2f}**, and {joined:.2f} as one text."
