"""Predictions and checks of the feed-forward lesson, computed from the learner's own trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lab.analysis.layers.excitation import Commonest
from lab.analysis.layers.feed_forward import activation_name
from lab.analysis.layers.sublayers import NormSteps, SublayerChanges
from lab.course.words import named
from lab.models.config import ModelConfig
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.questions.kinds import ranked
from lab.questions.question import Option, Question, shuffled


@dataclass(frozen=True)
class _Bands:
    """Three answers to a question "how many …?", and the shares at which the next answer begins."""

    low: float
    high: float
    names: tuple[str, str, str]


_HALF = _Bands(0.4, 0.6, ("Fewer than 4 in 10", "About half, 4 to 6 in 10", "More than 6 in 10"))
_SOME = _Bands(
    0.2, 0.8, ("At hardly any: fewer than 2 in 10", "At some: 2 to 8 in 10", "At nearly all: more than 8 in 10")
)
# The least distance of a share from a border, for a question about it.
_BLUR = 0.02


def below_zero(share: float, name: str, d_ff: int) -> Question | None:
    """Ask how many of a token's neurons have a sum below 0."""
    thoughts = (
        "You expected most neurons to respond to a word.",
        "You expected half of the sums above 0 and half below.",
        "You expected nearly all sums to be below 0.",
    )
    prompt = f"How many of the {d_ff:,} neurons have a sum below 0 at {name}?"
    return _banded("below-zero", prompt, share, f"It is {share:.1%}.", _HALF, thoughts)


def fires_there(found: Commonest, neuron: int, token: str) -> Question | None:
    """Ask at how many occurrences of its favourite token a neuron fires; None if the share is near a border."""
    thoughts = (
        "You thought that the neuron fires only in the strongest texts.",
        "You expected the neuron to need more than this token.",
        "You generalized from the strongest texts. They show where the neuron fires, not where it stays silent.",
    )
    why = f"It is above 0 at {found.hits} of {found.occurs}."
    prompt = (
        f"The texts contain {token} {found.occurs} times. At how many of these places is the activation of neuron "
        f"{neuron + 1:,} above 0?"
    )
    return _banded("fires-there", prompt, found.hits / found.occurs, why, _SOME, thoughts) if found.occurs else None


def how_often(share: float, neuron: int, tokens: int) -> Question | None:
    """Ask at how many tokens of many texts a neuron's activation is positive."""
    thoughts = (
        "You expected the neuron to wait for something special.",
        "You expected the neuron to be above 0 as often as below.",
        "You expected the neuron to respond to nearly everything.",
    )
    prompt = f"At how many of the {tokens:,} tokens of all texts is the activation of neuron {neuron + 1:,} above 0?"
    return _banded("how-often", prompt, share, f"It is above 0 at {share:.1%} of them.", _HALF, thoughts)


def _banded(
    id: str, prompt: str, share: float, told: str, bands: _Bands, thoughts: tuple[str, str, str]
) -> Question | None:
    """Ask in which of three bands a share is; ``thoughts`` are the reasons for choosing each of the three answers."""
    if min(abs(share - bands.low), abs(share - bands.high)) < _BLUR:
        return None
    holds = (share < bands.low, bands.low <= share <= bands.high, share > bands.high)
    options = [
        Option(name, told if right else f"{thought} {told}", correct=right)
        for name, right, thought in zip(bands.names, holds, thoughts, strict=True)
    ]
    return Question(id, prompt, tuple(options))


def most_exciting_token(trace: Trace, layer: LayerTrace, neuron: int) -> Question | None:
    """Ask which token of the text excites a neuron most."""
    values = layer.ffn_activation[:, neuron].tolist()

    def why(place: int, best: int) -> str:
        tail = ", the largest of this text." if place == best else f"; the largest is {values[best]:z.3f}."
        return f"There its activation is {values[place]:z.3f}{tail}"

    prompt = f"Which token of your text excites neuron {neuron + 1} of layer {layer.index + 1} most?"
    return ranked("most-exciting-token", prompt, values, lambda place: named(trace, place), why, of=trace.labels)


def scaled_input(steps: NormSteps) -> Question | None:
    """Ask how the output of LayerNorm changes if its input is ten times as long."""
    moved = float(np.abs(steps.of(10).output - steps.output).max())
    if moved >= 1e-3 or not steps.centred.any():
        return None  # ε is not small compared with this variance, or all numbers are equal
    why = (
        f"The mean and the spread also become ten times as large and cancel out: no number changes by {_above(moved)}."
    )
    return shuffled(
        "scaled-input",
        "Multiply all numbers of a vector by 10 before LayerNorm. What comes out?",
        (
            Option("The same as before", why, correct=True),
            Option("Ten times as much", f"You forgot the division, which removes the factor. {why}"),
            Option("The same, moved by a constant", f"LayerNorm subtracts the whole mean, however large it is. {why}"),
        ),
    )


def _above(number: float) -> str:
    return "more than 1e-9" if number < 1e-9 else f"more than {number * 1.01:.0e}"


def most_changed(trace: Trace, changes: SublayerChanges, layer: int) -> Question | None:
    """Ask to which token the feed-forward network of a layer adds the longest vector, relative to the token's own."""
    values = changes.relative[layer, 1].tolist()

    def why(place: int, best: int) -> str:
        tail = ", the most of this text." if place == best else f"; the most is {values[best]:.3f}."
        return f"‖Δ‖ / ‖x‖ is {values[place]:.3f}{tail}"

    prompt = f"For which token is ‖Δ‖ / ‖x‖ of the feed-forward network in layer {layer + 1} largest?"
    return ranked("most-changed", prompt, values, lambda place: named(trace, place), why, of=trace.labels)


def without_function(config: ModelConfig) -> Question | None:
    """Ask what is lost without the function between the two matrices; not asked if the neurons have gates."""
    if config.gated:
        return None
    name = activation_name(config.activation)
    return _one_right(
        "without-function",
        f"Leave {name} out, so that each activation is the sum itself. What is lost?",
        f"The two matrices do no more than one matrix of {config.width:,} × {config.width:,} could do",
        "A product of two matrices is a matrix. Only the function between them makes the many neurons useful.",
        {
            "Each token would look at the other tokens": "You thought of attention. The network reads one "
            f"token, with or without {name}.",
            "Nothing: training would find other weights": "Other weights give another product of two matrices, and "
            "that is one matrix again.",
        },
    )


def without_sum(name: str) -> Question:
    """Ask what is lost if a sublayer replaces the vector of the token called ``name``."""
    return _one_right(
        "without-sum",
        f"Suppose that attention replaced the vector of {name} instead of adding to it. What is lost if all heads look "
        "only at another token?",
        f"What the vector said about {name}",
        "A head brings only what it has collected. The sum keeps what was there before.",
        {
            "Nothing: LayerNorm brings the old vector back": "LayerNorm shifts and stretches the numbers that it gets. "
            "It does not know the old numbers.",
            "Nothing: a later layer can look at the word again": "A later layer reads what this layer has written. It "
            "cannot go back to the word.",
        },
    )


def _one_right(id: str, prompt: str, right: str, why: str, wrong: Mapping[str, str]) -> Question:
    options = [Option(right, why, correct=True), *(Option(text, reason) for text, reason in wrong.items())]
    return shuffled(id, prompt, options)
