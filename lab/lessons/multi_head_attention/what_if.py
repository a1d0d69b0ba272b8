"""Checks that ask why, what would happen if, and about another sentence: what can be done is really done.

Layers, heads and places count from 0 here and from 1 in the sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from lab.analysis.heads.comparing import HeadSum, attention_parameters
from lab.analysis.words.predictions import prediction_at, word_of
from lab.course.heads import head_name
from lab.course.words import named, quoted, share
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
            f"The lab has done it: with both off it is {share(both)}. The heads write into the same vector, and later "
            "layers read their sum. So two heads together can change more or less than each of them alone."
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
                f"Each head has a softmax of its own, so a token has {count} sets of shares in this layer.",
                correct=True,
            ),
            Option(
                "Several heads have more parameters, so they can learn more",
                f"They have the same number, {attention_parameters(config):,}. See the step **How many**.",
            ),
            Option(
                "One head can look only at some of the tokens",
                "Every head can look at every token that the mask does not hide.",
            ),
            Option(
                "Each head is responsible for its own part of the sentence",
                "Every head works on every token, and what the heads bring to a token is added up.",
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
        f"The vectors that the heads add to {named(trace, token)} have a length of {lengths:.2f} in all. But their sum "
        f"is only {length:.2f} long. Why?",
        [
            Option(
                "The vectors do not all point the same way",
                f"{length / lengths:.0%} of the length is left. If all vectors were at right angles, it would be "
                f"{right / lengths:.0%}; if all pointed the same way, 100%.",
                correct=True,
            ),
            Option("$W_O$ makes the vectors shorter", "These vectors are what comes out of $W_O$."),
            Option(
                "Softmax makes the heads share a length of 1",
                "Softmax shares out the weights of one row in one head. It does not connect the heads.",
            ),
        ],
    )
