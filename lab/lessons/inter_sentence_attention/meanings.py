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
# In one text, a smaller change of a share of attention is no finding.
NOTABLE = 0.05
_NO_BORDER = (
    "This model puts no border between two texts, so nothing here can be its effect. Only the space between them is "
    "gone"
)
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


def paired(joined: Values, pair: Values, causal: bool, border: bool) -> str:
    """What reading two texts as a pair changes; both (2, 2), the mean mass from text to text.

    ``border`` says whether the model puts anything between the texts of a pair, or another vector on the second.
    """
    ways = [(1, 0)] if causal else [(0, 1), (1, 0)]
    changes = [float(pair[way] - joined[way]) for way in ways]
    told = "; ".join(
        f"from text {'AB'[a]} to text {'AB'[b]} {pair[a, b]:.2f} as a pair and {joined[a, b]:.2f} as one text"
        for a, b in ways
    )
    return f"{_crossing(changes) if border else _NO_BORDER}: {told}."


def _crossing(changes: list[float]) -> str:
    """Whether less crosses a border, by the change of each direction."""
    if all(abs(change) < SEEN for change in changes):
        return "The border hardly changes the weight that crosses"
    if all(abs(change) < NOTABLE for change in changes):
        return "The weight that crosses changes by a few hundredths, too little to show an effect of the border"
    if all(change < SEEN for change in changes):
        return "Less crosses with a border"
    if all(change > -SEEN for change in changes):
        return "More crosses with a border, not less"
    return "The border changes the two directions in opposite ways"
