"""Where does it look? One word’s attention as arcs, with its name, and the attention of all words as a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.values import places_left_out
from lab.charts.base.figure import Figure
from lab.course.pages import step_name
from lab.course.sentences.examples import example_named
from lab.course.words import VISIBLE, named, told_apart
from lab.figures import attention
from lab.lessons.self_attention import LESSON
from lab.models.catalogue import DEFAULT_MODEL
from lab.questions.asking import asks
from lab.questions.basis import bet, derivable
from lab.questions.kinds import ranked
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.frame.closing import meaning, say_more, try_this
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import DEFAULT_TEXT, HEAD, KEY_TOKEN, MODE, TEXT, TOKEN, TOY
from lab.ui.quiz.predictions import predict
from lab.ui.shared import one_head
from lab.ui.shared.one_head import OneHead
from lab.ui.terms import say

# The story's sentence with another word at the end, and the place of that word, from 1.
_SHE, _SHE_AT = "She gave her brother the book that she wanted.", 9

# The head of the default model that looks from "he" to "brother" in the lab's sentence; layer and head from 0.
STORY_HEAD = (4, 10)


@dataclass(frozen=True)
class Looks:
    """Where one token looks in one head.

    Attributes
    ----------
    query, first, second
        The token, and the two tokens to which it gives most weight, in words; ``second`` is "" if it sees only one.
    weight, next_weight
        The weights of these two.
    again
        ``first`` once more, in words that tell it from equal tokens only where there are any.
    alike, others
        The number of other tokens that look most at ``first``, too, and the number of other tokens.
    """

    query: str
    first: str
    second: str
    weight: float
    next_weight: float
    again: str
    alike: int
    others: int


def looks(spot: Spot) -> Looks:
    """Find the two tokens at which the query looks most, and count the tokens that look at the same one."""
    trace, row = spot.trace, spot.row
    order = [int(key) for key in np.argsort(-row.weights, kind="stable") if np.isfinite(row.scaled[key])]
    first, second = order[0], order[1] if len(order) > 1 else None
    best = attention_map(spot.traced, spot.head).argmax(axis=1)
    return Looks(
        told_apart(trace, spot.query),
        named(trace, first),
        "" if second is None else named(trace, second),
        float(row.weights[first]),
        0.0 if second is None else float(row.weights[second]),
        told_apart(trace, first),
        int((np.delete(best, spot.query) == first).sum()),
        len(best) - 1,
    )


def said(found: Looks) -> str:
    """Name the token at which the query looks most, and say whether other tokens do the same."""
    if not found.second:
        return f"{found.query} can look only at {found.first}, which gets all of its attention."
    if found.weight - found.next_weight < VISIBLE:
        return (
            f"{found.query} prefers no single word: {found.first} gets {found.weight:.2f} of its attention, and "
            f"{found.second} gets {found.next_weight:.2f}."
        )
    return (
        f"{found.query} looks most at {found.first}: {_share(found.weight)} goes there. Next is {found.second} with "
        f"{found.next_weight:.2f}{_alike(found)}."
    )


def _share(weight: float) -> str:
    """Write a weight with the words that one would use for it to a friend, for example as a half."""
    words = ((0.5, "half"), (1 / 3, "a third"), (0.25, "a quarter"))
    word = next((word for share, word in words if abs(weight - share) < VISIBLE), "nearly all" if weight > 0.9 else "")
    return f"{word} of its attention (**{weight:.2f}**)" if word else f"**{weight:.2f}** of its attention"


def _alike(found: Looks) -> str:
    """Count the other tokens that look most at the same one; if there are many, this says little about the query."""
    if not found.alike:
        return ""
    verb = "looks" if found.alike == 1 else "look"
    every = {1: "the other token", 2: "both other tokens"}.get(found.others, f"all {found.others} other tokens")
    who = every if found.alike == found.others else f"{found.alike} of the {found.others} other tokens"
    return f". But {who} {verb} most at {found.again}, too"


def resting(spot: Spot) -> str:
    """Say how many tokens look most at a special or first token; "" if fewer than half of them do."""
    trace, best = spot.trace, attention_map(spot.traced, spot.head).argmax(axis=1)
    out, _ = places_left_out(trace)
    place = int(np.bincount(best, minlength=len(trace)).argmax())
    count = int((best == place).sum())
    if not out[place] or 2 * count <= len(trace) or len(trace) == 1:  # a token that is alone has no choice
        return ""
    return (
        f"{count} of the {len(trace)} tokens look most at {named(trace, place)}. Some authors suppose that a head "
        "looks there when it finds nothing else to look at (Clark et al. 2019, §3.2)."
    )


def rests_here(spot: Spot) -> str:
    """Say that the head of the story rests on a special token in another sentence; "" if it does not, or elsewhere."""
    trace, best = spot.trace, int(spot.row.weights.argmax())
    is_story_head = trace.model.id == DEFAULT_MODEL and (spot.layer, spot.head) == STORY_HEAD
    if not is_story_head or trace.text == example_named("A pronoun").text or not trace.encoding.special[best]:
        return ""
    return (
        "In the lab’s sentence, this head looks from *he* to *brother*. It does not do such a thing in every "
        f"sentence: here it rests on {told_apart(trace, best)}."
    )


def _arcs(spot: Spot) -> Figure:
    """The weights that the arcs show, as bars."""
    return attention.weights_from(spot.trace, spot.layer, spot.head, spot.query)


def _map(spot: Spot) -> Figure:
    """The map, without a mark on any word."""
    return attention.attention_map(spot.trace, spot.layer, spot.head)


@asks("layer", "head", "token", basis=derivable(LESSON, "map", "the arcs"), for_a_class=True, figure=_arcs)
def most_attended(spot: Spot) -> Question | None:
    """Ask to which token the query attends most."""
    trace, query, row = spot.trace, spot.query, spot.row
    weights = row.weights.tolist()

    def why(key: int, best: int) -> str:
        tail = "more than any other word." if key == best else f"less than {named(trace, best)} ({weights[best]:.2f})."
        return f"It gets {weights[key]:.2f} of the attention of {told_apart(trace, query)}, {tail}"

    prompt = f"At which word does the model look most from {named(trace, query)}?"
    return ranked("most-attended", prompt, weights, lambda key: named(trace, key), why, of=trace.labels)


@asks(
    "layer",
    "head",
    "token",
    basis=bet(
        "Attention is mutual: both tokens give each other the same weight.",
        "Each token has its own row, so the two weights are independent.",
        "The two weights of a pair add up to 1.",
    ),
    hint="Now the other token looks. Which shares add up to 1?",
    returns=1,
)
def looks_back(spot: Spot) -> Question | None:
    """Ask how much weight the token that gets most gives back; None if a wrong belief would be nearly right."""
    trace, query, weights = spot.trace, spot.query, attention_map(spot.traced, spot.head)
    key = int(weights[query].argmax())
    there, back = float(weights[query, key]), float(weights[key, query])
    if key == query or min(abs(back - there), abs(back - (1 - there))) < MARGIN:
        return None
    me, other = told_apart(trace, query), told_apart(trace, key)
    hidden = back == 0 and trace.model.config.causal
    reason = "a mask hides later tokens from it" if hidden else f"{other} has its own row in the map"
    given = f"{back:.2f}" if back == 0 or back >= 0.005 else "less than 0.01"
    it_is = f"{other} gives {me} **{given}**"
    options = [
        Option(
            f"A different share: {other} looks in its own way",
            f"{it_is}: {reason}. If attention were mutual, it would be {there:.2f}.",
            correct=True,
        ),
        Option(
            f"The same share, {there:.2f}: attention is mutual",
            f"Attention has a direction: {it_is}, because {reason}.",
        ),
        Option(
            f"The rest, {1 - there:.2f}: together, the two shares make 1",
            f"All shares that one token gives add up to 1. The two shares of a pair need not: {it_is}.",
        ),
    ]
    prompt = f"{me} gives {other} {there:.2f} of its attention. What does {other} give {me}?"
    return shuffled("looks-back", prompt, options)


@asks(
    "layer",
    "head",
    basis=derivable(LESSON, "map", "the columns of the map"),
    hint="Look for the strongest column of the map, not for the strongest cell.",
    for_a_class=True,
    figure=_map,
)
def most_attended_overall(spot: Spot) -> Question | None:
    """Ask which column of the map has the largest sum.

    A row sums to 1, but a column can have any sum; the margin is per row.
    """
    trace = spot.trace
    n, received = len(trace), attention_map(spot.traced, spot.head).sum(axis=0)

    def why(key: int, best: int) -> str:
        tail = f", of {n} rows." if key == best else f"; the largest is {received[best]:.2f}."
        return f"Its column adds up to {received[key]:.2f}{tail}"

    prompt = "Every row of the map adds up to 1. Which token gets the most attention from all tokens together?"
    shares = (received / n).tolist()
    return ranked("most-attended-overall", prompt, shares, lambda key: named(trace, key), why, of=trace.labels)


@asks("layer", "head", basis=derivable(LESSON, "map", "the rows of the map"), for_a_class=True, figure=_map)
def most_even(spot: Spot) -> Question | None:
    """Ask which token spreads its attention most evenly, which is the token with the smallest largest weight."""
    trace = spot.trace
    largest = attention_map(spot.traced, spot.head).max(axis=1)

    def why(query: int, best: int) -> str:
        tail = ", the smallest of all rows." if query == best else f"; row {best + 1} has {largest[best]:.3f}."
        return f"Its largest weight is {largest[query]:.3f}{tail}"

    prompt = "Which token spreads its attention most widely? Look for the row whose largest weight is the smallest."
    return ranked("most-even", prompt, (-largest).tolist(), lambda query: named(trace, query), why, of=trace.labels)


@asks("layer", basis=derivable(LESSON, "map", "the maps of the layer"), for_a_class=True)
def previous_token_head(spot: Spot) -> Question | None:
    """Ask which head of this layer looks at the token before, by the mean of the first subdiagonal."""
    trace, layer = spot.trace, spot.traced
    if len(trace) < 3:
        return None
    heads = range(trace.model.config.heads)
    before = [float(np.diagonal(attention_map(layer, head), offset=-1).mean()) for head in heads]

    def why(head: int, best: int) -> str:
        tail = ", more than the others." if head == best else f"; head {best + 1} spends {before[best]:.2f}."
        return f"Over this text it spends {before[head]:.2f} of a token’s attention on the token before{tail}"

    prompt = (
        f"Which head of layer {layer.index + 1} spends most attention on the token just before? Look for a line one "
        "step below the diagonal."
    )
    return ranked("previous-token-head", prompt, before, lambda head: f"Head {head + 1}", why, of=len(before))


def show(view: OneHead) -> None:
    """Show one word's look as arcs and name it, ask about the way back, then show the looks of all words as a map."""
    say(
        f"Take the word {view.token(view.query)}. In each layer, a model looks from this word at {_seen(view)}, in "
        f"several ways at once. The arcs show one of these ways, in layer {view.layer.index + 1}. The stronger an arc "
        "is, the more the model looks there."
    )
    one_head.show_sentence(view)
    meaning(said(looks(view.spot)))
    _show_names(view)
    if predict(LESSON, looks_back(view.spot)):
        say(
            "Here is the whole map. Each row is a word that looks, and each column is a word at which it looks."
            + _about_mask(view)
        )
        one_head.show_map(view)
        for told in (resting(view.spot), rests_here(view.spot)):
            if told:
                say_more(told)
        _show_another(view)


def _seen(view: OneHead) -> str:
    """The tokens that a query of this layer sees, in words."""
    window = view.layer.weights.window
    if window is not None:
        return f"the words up to {window} places away (this layer is **local**)"
    return "the words before it" if view.trace.model.config.causal else "all words of the sentence"


def _show_names(view: OneHead) -> None:
    """Introduce the words attention, weight and head."""
    heads = view.trace.model.config.heads
    several = f"this layer has {heads}, and you see head {view.head + 1}" if heads > 1 else "this layer has only one"
    say(
        f"These are **weights** of **attention**, as you computed them in “{step_name(LESSON, 'by-hand')}”. The "
        "weights of one word add up to 1. A number in brackets is a token’s place in the text. One such way of looking "
        f"is a **head**; {several}."
    )


def _about_mask(view: OneHead) -> str:
    """Say what the mask hides in this layer from this query; "" if it hides nothing."""
    config, window, n = view.trace.model.config, view.layer.weights.window, len(view.trace)
    if config.causal:
        return " A **mask** hides the words after the query: their weight is 0."
    if window is not None:
        hidden = n - 1 - min(n - 1, view.query + window) + max(0, view.query - window)
        return (
            f" A **mask** hides all tokens more than {window} tokens away: from {view.token(view.query)} it hides "
            f"{hidden} of the {n} tokens."
        )
    if config.window is None:
        return ""
    local = [str(i + 1) for i, w in enumerate(view.trace.model.weights.layers) if w.window is not None]
    return (
        f" This layer is **global**. In the local layers of this model ({', '.join(local)}), a **mask** hides all "
        f"tokens that are more than {config.window} tokens away."
    )


def _show_another(view: OneHead) -> None:
    """Offer the story's sentence with *she* in place of *he*; with another sentence, a head that looks elsewhere."""
    if TEXT.chosen() == DEFAULT_TEXT and view.page.selection[MODE] != TOY:
        changes: dict[Parameter[Any], Any] = {TEXT: _SHE, TOKEN: _SHE_AT, KEY_TOKEN: KEY_TOKEN.default}
        try_this("change *he* to *she*. Does the head still look at *brother*?", "… that she wanted", changes)
        return
    if (other := _least_alike(view)) is not None:
        why = f"head {other + 1} looks elsewhere. Where does it look from {view.token(view.query)}?"
        try_this(why, f"Head {other + 1}", {HEAD: other + 1, TOKEN: view.query + 1})


def _least_alike(view: OneHead) -> int | None:
    """The head of the layer that gives least weight to the token at which this head looks most, if it differs."""
    best, heads = int(view.row.weights.argmax()), view.trace.model.config.heads
    given = [float(attention_map(view.layer, head)[view.query, best]) for head in range(heads)]
    least = min(range(heads), key=given.__getitem__)
    return None if least == view.head or given[view.head] - given[least] < MARGIN else least
