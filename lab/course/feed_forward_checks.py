"""Predictions and checks of the feed-forward lesson, computed from the learner's own trace."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from lab.analysis.feed_forward import NeuronSteps, activation_name
from lab.analysis.sublayers import SUBLAYERS, NormSteps, SublayerChanges
from lab.course.checks import MARGIN, Option, Question, clear_winner, numeric, ranked, shuffled
from lab.course.words import named
from lab.models.config import ModelConfig
from lab.models.trace import LayerTrace, Trace

# "About half" runs between these shares; nearer than _BLUR to a border, nothing is asked.
_BORDERS = (0.4, 0.6)
_BLUR = 0.02


def feed_forward_parameters(config: ModelConfig) -> tuple[int, int]:
    """(in the feed-forward network, in attention) of one layer, weights and biases."""
    d, d_ff = config.width, config.ffn_width
    return 2 * d * d_ff + d_ff + d, 4 * d * d + 4 * d


def parameter_share(config: ModelConfig) -> Question:
    """Which sublayer holds more parameters?"""
    ffn, attention = feed_forward_parameters(config)
    why = f"Feed-forward: {ffn:,}. Attention: {attention:,}."
    ratio = ffn / attention
    options = (
        Option("Attention", why, correct=ratio < 0.9),
        Option("Both about the same", why, correct=0.9 <= ratio <= 1.1),
        Option("The feed-forward network", why, correct=ratio > 1.1),
    )
    return Question("parameter-share", "Which half of a layer holds more of its parameters?", options)


def hidden_numbers(n: int, config: ModelConfig) -> Question | None:
    """How many numbers does the hidden layer hold for this text?"""
    d, d_ff = config.width, config.ffn_width
    wrong = {
        n * d: f"{n} × {d:,} is the size of what comes in and of what goes out again.",
        d_ff: "One set of neurons serves all tokens, but each token excites it anew.",
        n * n * config.heads: "That is the attention of all heads. Here no token meets another.",
    }
    options = [Option(f"{n * d_ff:,}", f"{n} tokens × {d_ff:,} neurons, each token on its own.", correct=True)]
    for value, why in wrong.items():
        if f"{value:,}" not in [option.text for option in options]:
            options.append(Option(f"{value:,}", why))
    if len(options) < 3:
        return None
    prompt = (
        f"Each of the {n} tokens comes in with {d:,} numbers, and the hidden layer has {d_ff:,} neurons. How many "
        "activations does the layer compute for your text?"
    )
    return shuffled("hidden-numbers", prompt, options)


def below_zero(share: float, name: str, d_ff: int) -> Question | None:
    """How many of a token's neurons get a negative number before the activation?"""
    prompt = f"How many of the neurons get a number below 0 from {name}, before the activation?"
    return _banded("below-zero", prompt, share, f"{share:.1%} of the {d_ff:,} hidden values of {name} are below 0.")


def how_often(share: float, neuron: int, tokens: int) -> Question | None:
    """At how many tokens of many texts is a neuron's activation positive?"""
    prompt = (
        f"At how many of {tokens:,} tokens in a set of short texts is the activation of neuron {neuron + 1:,} above 0?"
    )
    return _banded("how-often", prompt, share, f"It is above 0 at {share:.1%} of them.")


def _banded(id: str, prompt: str, share: float, why: str) -> Question | None:
    """Few, half or many? None too near the borders."""
    low, high = _BORDERS
    if min(abs(share - low), abs(share - high)) < _BLUR:
        return None
    options = (
        Option("Fewer than 4 in 10", why, correct=share < low),
        Option("About half, 4 to 6 in 10", why, correct=low <= share <= high),
        Option("More than 6 in 10", why, correct=share > high),
    )
    return Question(id, prompt, options)


def further_than_chance(neuron: int, best: float, high: float) -> Question | None:
    """Does a neuron favour a word more than a random direction would? ``high`` bounds what chance gives."""
    if abs(best - high) < MARGIN:
        return None
    why = f"Its best word stands {best:.2f} standard deviations out; chance goes up to about {high:.2f}."
    options = (
        Option("Yes, further than chance", why, correct=best > high),
        Option("No, not further", why, correct=best < high),
    )
    prompt = (
        f"Compare the row of neuron {neuron + 1:,} with every word’s output embedding. Is its best word further out "
        "than that of a random direction?"
    )
    return Question("further-than-chance", prompt, options)


def most_exciting_token(trace: Trace, layer: LayerTrace, neuron: int) -> Question | None:
    """Which token of the text excites a neuron most?"""
    values = layer.ffn_activation[:, neuron].tolist()

    def why(place: int, best: int) -> str:
        tail = ", the largest of this text." if place == best else f"; the largest is {values[best]:.3f}."
        return f"There its activation is {values[place]:.3f}{tail}"

    prompt = f"Which token of your text excites neuron {neuron + 1} of layer {layer.index + 1} most?"
    return ranked("most-exciting-token", prompt, values, lambda place: named(trace, place), why)


def larger_change(trace: Trace, changes: SublayerChanges, layer: int, token: int) -> Question | None:
    """Does attention or the feed-forward network add more to a token, measured against its own length?"""
    values = changes.relative[layer, :, token].tolist()
    best = clear_winner(values)
    if best is None:
        return None
    why = f"‖Δ‖ / ‖x‖ is {values[0]:.2f} for attention and {values[1]:.2f} for the feed-forward network."
    options = tuple(Option(name.capitalize(), why, correct=at == best) for at, name in enumerate(SUBLAYERS))
    prompt = f"Which changes the vector of {named(trace, token)} more in layer {layer + 1}, for its length?"
    return Question("larger-change", prompt, options)


def scaled_input(steps: NormSteps) -> Question | None:
    """What does LayerNorm do to a vector that is ten times as long?"""
    moved = float(np.abs(steps.of(10).output - steps.output).max())
    if moved >= 1e-3 or not steps.centred.any():
        return None  # ε is not small beside this variance, or there is nothing to divide
    why = f"Mean and √variance grow ten times, too, and divide out: no number of the output moves by {_above(moved)}."
    return Question(
        "scaled-input",
        "Multiply the vector that goes into this LayerNorm by 10. What comes out?",
        (
            Option("The same as before", why, correct=True),
            Option("Ten times as much", f"Dividing by √variance takes the factor away. {why}"),
            Option("The same, moved by a constant", f"The mean grows ten times and is taken away whole. {why}"),
        ),
    )


def _above(number: float) -> str:
    return "more than 1e-9" if number < 1e-9 else f"more than {number * 1.01:.0e}"


def neuron_activation(trace: Trace, steps: NeuronSteps, token: int, neuron: int) -> Question | None:
    """From the dot product and the bias to the activation."""
    z, share = steps.hidden, steps.share
    name = activation_name(steps.activation)
    gate = "it is above 0" if steps.activation == "relu" else f"GELU multiplies it with {share:.4f}"
    wrong = {
        z: "This is the hidden value, before the activation.",
        steps.product * share: "The bias was left out of the sum.",
        share: "This is only what the sum is multiplied with.",
        -steps.output: "The sign was lost.",
        0.0: "GELU is not a switch: only ReLU gives exactly 0, and only below 0.",
    }
    if steps.activation == "relu":
        wrong = {steps.product: "The bias was left out.", -z: "The sign was lost.", 0.0: "ReLU gives 0 only below 0."}
    why = f"{steps.product:.3f} {steps.bias:+.3f} = {z:.3f}; {gate}: {steps.output:.3f}."
    prompt = (
        f"At {named(trace, token)}, x · w of neuron {neuron + 1} is {steps.product:.3f} and its bias {steps.bias:.3f}. "
        + ("" if steps.activation == "relu" else f"{name} multiplies the sum with {share:.4f}. ")
        + "What is its activation?"
    )
    return numeric("neuron-activation", prompt, (steps.output, why), wrong, "{:.3f}".format, apart=MARGIN)


def normalized_value(steps: NormSteps, dimension: int) -> Question | None:
    """From one number, the mean and the variance to LayerNorm's output, with γ and β."""
    x, gamma, beta = (float(v[dimension]) for v in (steps.x, steps.gamma, steps.beta))
    answer = float(steps.output[dimension])
    wrong = {
        (x - steps.mean) / steps.variance * gamma + beta if steps.variance else answer: "Divided by the variance, "
        "not by its root.",
        float(steps.standard[dimension]): "γ and β still wait.",
        float(steps.scaled[dimension]): "β still has to be added.",
        x / steps.deviation * gamma + beta: "The mean was not taken away.",
    }
    why = (
        f"({x:.3f} − {steps.mean:.3f}) ÷ {steps.deviation:.3f} = {steps.standard[dimension]:.3f}; "
        f"× {gamma:.3f} + {beta:.3f} = {answer:.3f}."
    )
    prompt = (
        f"A vector has the mean {steps.mean:.3f} and the variance {steps.variance:.3f}. Its dimension {dimension + 1} "
        f"is {x:.3f}; there γ is {gamma:.3f} and β {beta:.3f}. What does LayerNorm give there?"
    )
    return numeric("normalized-value", prompt, (answer, why), wrong, "{:.3f}".format, apart=MARGIN)


def most_changed(trace: Trace, changes: SublayerChanges, layer: int) -> Question | None:
    """Which token does the feed-forward network of a layer change most?"""
    values = changes.relative[layer, 1].tolist()

    def why(place: int, best: int) -> str:
        tail = ", the most of this text." if place == best else f"; the most is {values[best]:.3f}."
        return f"‖Δ‖ / ‖x‖ is {values[place]:.3f}{tail}"

    prompt = f"For which token is ‖Δ‖ / ‖x‖ of the feed-forward network in layer {layer + 1} largest?"
    return ranked("most-changed", prompt, values, lambda place: named(trace, place), why)


def shapes(config: ModelConfig) -> Question | None:
    """How many weights, without biases, do the two matrices hold?"""
    d, d_ff = config.width, config.ffn_width
    sizes: Sequence[tuple[tuple[int, ...], str]] = (
        ((d, d_ff), f"{d:,} × {d_ff:,} is one of the two matrices."),
        ((d, d), f"{d:,} × {d:,} is the size of one of attention’s matrices."),
        ((2, d_ff, d_ff), f"No neuron meets another: there is no matrix of {d_ff:,} × {d_ff:,}."),
    )
    right = f"{d:,} × {d_ff:,} in and {d_ff:,} × {d:,} out, the same for every token."
    options = {f"{2 * d * d_ff:,}": Option(f"{2 * d * d_ff:,}", right, correct=True)}
    for factors, why in sizes:
        options.setdefault(f"{prod(factors):,}", Option(f"{prod(factors):,}", why))
    prompt = f"The network goes from {d:,} to {d_ff:,} and back. How many weights are in W₁ and W₂ together?"
    return shuffled("shapes", prompt, list(options.values())) if len(options) >= 3 else None
