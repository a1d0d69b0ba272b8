"""Checks that ask why, what would happen if, and about another sentence: what can be done is really done.

Layers, heads and places count from 0 here and from 1 in the sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from lab.analysis.heads.comparing import HeadSum, attention_parameters
from lab.analysis.heads.parked import PARKED, parked_share
from lab.analysis.heads.values import keep_others
from lab.analysis.words.predictions import prediction_at, word_of
from lab.course.heads import head_name, percent, resting_place
from lab.course.words import named, quoted, share, signed
from lab.models.config import ModelConfig
from lab.models.interventions import Head, Interventions
from lab.models.trace import Trace, changed
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled

Run = Callable[[str], Trace]  # a text through the model that is asked

# Nearer to a border than this share of it, nobody could see the side.
_BLUR = 0.05
_OTHER_TEXTS = ("The dog that the children chased barked at the postman.", "He opened the door with his key.")


def _probability(trace: Trace, place: int, word: int, off: Iterable[Head] = ()) -> float:
    """Of ``word``, an id, at ``place``, with these heads set to 0."""
    run = changed(trace, Interventions(zero_heads=frozenset(off)))
    return float(prediction_at(run, place, None).probabilities[word])


def _best(trace: Trace, place: int) -> tuple[int, str]:
    """The most probable word at ``place``: its id, and in quotation marks."""
    best = prediction_at(trace, place, None).best(1)[0]
    return best, quoted(word_of(trace.model.tokenizer, best))


def change_of_log(trace: Trace, place: int, layer: int, head: int) -> Question | None:
    """What does a cell of the map of all heads off say? None where next to nothing changes."""
    best, word = _best(trace, place)
    before, after = (_probability(trace, place, best, off) for off in ((), ((layer, head),)))
    change = float(np.log(after / before)) if before > 0 < after else 0.0
    if abs(change) < MARGIN:
        return None
    way, other = ("less", "more") if change < 0 else ("more", "less")
    told = f"Without the head, P goes from {share(before)} to {share(after)}, so ln P changes by {signed(change)}."
    return shuffled(
        "change-of-log",
        f"{_asked(trace, place)} the model finds {word} most probable. Switch off {head_name((layer, head))}: ln P of "
        f"{word} changes by {signed(change, plus=True)}. What does that say?",
        [
            Option(f"Without this head, {word} is {way} probable", told, correct=True),
            Option(f"Without this head, {word} is {other} probable", f"{told} ln P rises and falls with P."),
            Option(
                f"This head gives {abs(change):.0%} of its attention to that place",
                "The number says what changes without the head. Where the head looks, its map shows.",
            ),
            Option("In every text, this head matters as much", "That is one measurement: one word in one text."),
        ],
    )


def both_off(trace: Trace, place: int, layer: int, head: int) -> Question | None:
    """Two heads off together, beside each of them off alone; the first pair of the layer that decides it."""
    best, word = _best(trace, place)
    before, one = (_probability(trace, place, best, off) for off in ((), ((layer, head),)))
    for other in range(trace.model.config.heads):
        if other == head:
            continue
        two = _probability(trace, place, best, ((layer, other),))
        both = _probability(trace, place, best, ((layer, head), (layer, other)))
        if _near(one, two) or any(_near(both, border) for border in (one, two)):
            continue
        why = (
            f"Done here: with both off it is {share(both)}. The heads write into the same vector, and later layers "
            "read their sum. So what two heads change together can be more or less than what each changes alone."
        )
        prompt = (
            f"{_asked(trace, place)} the model gives {word} the probability {share(before)}. Without "
            f"{head_name((layer, head))} it is {share(one)}, without {head_name((layer, other))} {share(two)}. Switch "
            "both off. What is it then?"
        )
        return which_holds("both-off", prompt, why, _sides(both, *sorted((one, two))))
    return None


def _asked(trace: Trace, place: int) -> str:
    """How a question begins about what the model says at ``place``."""
    return f"After token {place + 1}," if trace.model.config.causal else f"Token {place + 1} is hidden. There"


def _near(value: float, border: float) -> bool:
    return abs(value - border) < _BLUR * border


def _sides(value: float, low: float, high: float) -> dict[str, bool]:
    """On which side of two probabilities a third one is."""
    return {
        f"Less than {share(low)}": value < low,
        f"Between {share(low)} and {share(high)}": low < value < high,
        f"More than {share(high)}": value > high,
    }


def elsewhere(trace: Trace, run: Run, layer: int, head: int) -> Question | None:
    """What do two sentences say about where a head parks? ``run`` lets the same model read the other one."""
    text = next(each for each in _OTHER_TEXTS if each != trace.text)
    other = run(text)
    if keep_others(trace) is None or keep_others(other) is None:
        return None
    here, there = (float(parked_share(each)[layer, head]) for each in (trace, other))
    if any(_near(value, PARKED) for value in (here, there)):
        return None
    parked = (here > PARKED) + (there > PARKED)
    why = f"It gives {percent(here)} and {percent(there)}; a head parks from more than {PARKED:.0%} on."
    name = head_name((layer, head))
    prompt = (
        f"The words of your text, as it stands, give {percent(here)} of their attention in {name} to "
        f"{resting_place(trace)}. Those of another sentence, {quoted(text)}, give {percent(there)} to "
        f"{resting_place(other)}. What do you know now?"
    )
    every = f"{why} Two texts cannot show what happens in all others."
    options = (
        Option("The head parks in both of these texts", why, correct=parked == 2),
        Option("The head parks in one of these texts only", why, correct=parked == 1),
        Option("The head parks in neither of these texts", why, correct=not parked),
        Option("The head parks in every text" if parked else "The head parks in no text", every),
    )
    return Question("elsewhere", prompt, options)


def why_several(config: ModelConfig) -> Question | None:
    """Why several narrow heads, and not one wide head?"""
    if config.heads < 2:
        return None
    count, width = config.heads, config.head_width
    return shuffled(
        "why-several",
        f"A layer has {count} heads of {width} numbers each. Why not a single head of {config.width} numbers?",
        [
            Option(
                "One head gives a token one set of shares; several heads give it several sets at once",
                f"Each head has a softmax of its own, so here a token has {count} sets of shares in a layer.",
                correct=True,
            ),
            Option(
                "Several heads have more parameters, so they can learn more",
                f"They have as many: {attention_parameters(config):,} in either cut. See “How many”.",
            ),
            Option(
                "One head can look at a part of the tokens only",
                "Any head may look at every token that the mask allows.",
            ),
            Option(
                "Each head takes care of its own part of the sentence",
                "Every head works on every token. What the heads bring to a token is added.",
            ),
        ],
    )


def together(trace: Trace, added: HeadSum, token: int) -> Question | None:
    """Why is the sum of the parts shorter than the parts' lengths added up?"""
    lengths = float(added.norms[:, token].sum())
    length = float(np.linalg.norm(added.parts[:, token].sum(axis=0)))
    right = float(np.linalg.norm(added.norms[:, token]))
    if len(added.parts) < 2 or lengths <= 0 or length > (1 - MARGIN) * lengths:
        return None
    return shuffled(
        "together",
        f"What the heads add to {named(trace, token)} is, head by head, {lengths:.2f} long in all. The sum of these "
        f"vectors is {length:.2f} long. Why is it shorter?",
        [
            Option(
                "The vectors do not all point the same way",
                f"{length / lengths:.0%} of the length is left. At right angles it would be {right / lengths:.0%}. "
                "Only vectors that all point the same way keep all of it.",
                correct=True,
            ),
            Option("$W_O$ shortens what the heads bring", "These vectors have been through $W_O$ already."),
            Option(
                "Softmax lets the heads share a length of 1",
                "Softmax shares out the weights of a row inside a head. It ties no head to another.",
            ),
        ],
    )


def after_w_o(config: ModelConfig, head: int) -> Question | None:
    """Why is a head switched off before W_O, and not after it?"""
    if config.heads < 2:
        return None
    width, first = config.head_width, head * config.head_width + 1
    return shuffled(
        "after-w-o",
        f"To switch head {head + 1} off, its {width} numbers are set to 0 before $W_O$. What goes if you set the same "
        f"{width} dimensions to 0 after $W_O$?",
        [
            Option(
                "A part of what every head adds",
                f"$W_O$ lets each head write to all {config.width} dimensions. After it, each number is a sum over "
                "all heads.",
                correct=True,
            ),
            Option(
                f"What head {head + 1} adds, as before",
                f"Dimensions {first} to {first + width - 1} belong to head {head + 1} only before $W_O$.",
            ),
            Option(
                "Nothing, because $W_O$ has no numbers there",
                f"$W_O$ is {config.width} × {config.width}: it writes to every dimension.",
            ),
        ],
    )
