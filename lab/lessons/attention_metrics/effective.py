"""How many does it look at? The effective number of tokens of a row: by hand for three weights, then for each token."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from lab.analysis.heads.attention import attention_map, window
from lab.analysis.heads.effective import effective_keys
from lab.analysis.heads.values import Values, row_entropy
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import named, told_apart
from lab.figures.attention import BARS, place
from lab.lessons.attention_metrics import LESSON
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import which_holds
from lab.questions.question import Question
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import TOKEN
from lab.ui.quiz.predictions import predict
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.terms import say

IDEA = """
A token gives some attention to every token that it sees, but most of these weights are tiny. Among how many tokens is
its attention really shared? The **effective number** of tokens says so."""

# Rows of three weights, from one that looks at one token to an even one, as one would write them.
THREE = (("1 · 0 · 0", (1, 0, 0)), ("½ · ½ · 0", (1 / 2, 1 / 2, 0)), ("⅓ · ⅓ · ⅓", (1 / 3, 1 / 3, 1 / 3)))
_SEEN = 0.5  # a smaller difference of two effective numbers is hard to see in the bars
_BLUR = 0.1  # share of a border: a value that is nearer to the border is on neither side visibly


def by_hand() -> str:
    """The rule on rows of three weights, as a table in Markdown."""
    entropies = row_entropy(np.array([[weights for _, weights in THREE]], dtype=np.float32))[0].tolist()
    lines = [
        f"| {name} | {abs(entropy):.2f} | {math.exp(entropy):.1f} |"
        for (name, _), entropy in zip(THREE, entropies, strict=True)
    ]
    head = "| Three weights | −w · ln w, added up: the **entropy** | e to the entropy: **effective number of tokens** |"
    return "\n".join([head, "|---|---|---|", *lines])


def effective(traced: Trace, layer: int, head: int, query: int) -> Figure:
    """Draw the effective number of tokens of each token's row in one head; in a long text, for tokens around ``query``.

    The dashed line is the mean over all tokens.
    """
    keys = effective_keys(traced.layer(layer).attention[head : head + 1])[0]
    rows = window(query, len(traced), BARS)
    title = f"Effective number of tokens of each token’s row, {place(layer, head)}"
    scale = Scale("Effective number of tokens", (0.0, float(keys.max())), ".1f")
    mean = float(keys.mean())
    return bars(traced.labels[rows], keys[rows], scale, title=title, highlight=query - rows.start, reference=mean)


def said(trace: Trace, layer: int, head: int, query: int) -> str:
    """Say among how many tokens the query shares its attention, why so many, and the mean over all tokens."""
    keys = effective_keys(trace.layer(layer).attention[head : head + 1])[0]
    seen = query + 1 if trace.model.config.causal else len(trace)
    entropy = math.log(keys[query])
    return (
        f"From {named(trace, query)}, head {head + 1} shares its attention as widely as if **{keys[query]:.1f}** of "
        f"{seen} tokens got equal parts. The entropy of this row is {entropy:.2f}, and e^{entropy:.2f} = "
        f"{keys[query]:.1f}. The mean over all rows of the text is {keys.mean():.1f}."
    )


@asks(
    "layer",
    "head",
    "token",
    basis=derivable(LESSON, "effective", "the table of three weights, and the weights below the tokens"),
    hint="How many weights are as large as the largest weight, or nearly as large?",
)
def at_how_many(spot: Spot) -> Question | None:
    """Ask for the effective number of tokens of the query's row; None if the answer is not clear."""
    weights = attention_map(spot.traced, spot.head)
    keys, seen = float(effective_keys(weights[None])[0, spot.query]), int((weights[spot.query] > 0).sum())
    few, half = 2.5, seen / 2
    if seen < 6 or min(abs(keys - border) / border for border in (few, half)) < _BLUR:
        return None
    why = f"It is {keys:.1f}, of {seen} tokens."
    outcomes = {
        "One or two": keys < few,
        "A few, but less than half of them": few < keys < half,
        "More than half of them": keys > half,
    }
    token = told_apart(spot.trace, spot.query)
    return which_holds(
        "at-how-many", f"{token} sees {seen} tokens. What is the effective number of its row?", why, outcomes
    )


@asks(
    "layer",
    "head",
    "token",
    basis=derivable(LESSON, "effective", "the table of three weights"),
    hint="When does one place of a row get everything? When are all its weights equal?",
    returns=2,
)
def one_weight_more(spot: Spot) -> Question | None:
    """Ask how the width of a row changes if its largest weight grows: the row gets narrower."""
    weights = attention_map(spot.traced, spot.head)
    keys, largest = float(effective_keys(weights[None])[0, spot.query]), float(weights[spot.query].max())
    if largest > 0.9 or keys < 1.5:
        return None
    why = (
        "If one weight grows, the other weights must shrink. If one token got everything, the effective number would "
        "be 1."
    )
    outcomes = {"It gets smaller": True, "It gets larger": False, "It stays the same": False}
    prompt = (
        f"The effective number of tokens of a row is {keys:.1f}, and its largest weight is {largest:.2f}. Now this "
        "weight grows, and all other weights shrink by the same factor. What happens to the effective number?"
    )
    return which_holds("one-weight-more", prompt, why, outcomes, mixed=True)


def show(view: OneHead) -> None:
    """Show one row and the rule on three weights; after the question, the widths of all rows."""
    show_sentence(view)
    idea(IDEA)
    say("Three rows of three weights (a weight of 0 adds nothing):")
    say(by_hand())
    at = view.trace, view.layer.index, view.head, view.query
    if not predict(LESSON, at_how_many(view.spot)):
        return
    draw(partial(effective, *at), "effective")
    if len(view.trace) > BARS:
        say(f"The figure shows {BARS} of {len(view.trace)} tokens, around the chosen token.")
    meaning(said(*at))
    _show_another_token(view, effective_keys(view.layer.attention[view.head : view.head + 1])[0])
    code(effective_keys)


def _show_another_token(view: OneHead, keys: Values) -> None:
    """Offer the token with the widest row in this head; from there, the one with the narrowest, if one sees it."""
    widest, narrowest = int(keys.argmax()), int(keys.argmin())
    other, what = (narrowest, "fewest") if view.query == widest else (widest, "most")
    if abs(keys[other] - keys[view.query]) < _SEEN:
        return
    why = f"{view.token(other)} shares its attention among the {what} tokens (effective number {keys[other]:.1f})."
    try_this(why, f"Look from {view.trace.labels[other]}", {TOKEN: other + 1})
