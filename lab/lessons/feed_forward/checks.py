"""Predictions and checks of the feed-forward lesson, computed from the learner's own trace."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from lab.analysis.layers.excitation import Commonest
from lab.analysis.layers.feed_forward import Array, NeuronSteps, activation_name
from lab.analysis.layers.sublayers import SUBLAYERS, NormSteps, SublayerChanges
from lab.course.words import named
from lab.models.config import ModelConfig
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.questions.kinds import Quantity, how_many, numeric, ranked, which_holds
from lab.questions.question import MARGIN, Option, Question, clear_winner, shuffled

# "About half" runs between these shares; nearer than _BLUR to a border, nothing is asked.
_BORDERS = (0.4, 0.6)
_BLUR = 0.02
# Two numbers nearer than this share of the smaller are not told apart.
_NEAR = 0.1
# Of the tokens that excite a neuron: nearly all, and half. Nearer than _CLOSE to one of them, nothing is asked.
_NEARLY_ALL, _HALF, _CLOSE = 0.8, 0.5, 0.03


def feed_forward_parameters(config: ModelConfig) -> tuple[int, int]:
    """(in the feed-forward network, in attention) of one layer, weights and biases."""
    d, d_ff = config.width, config.ffn_width
    biases = (d_ff + d, 4 * d) if config.biases else (0, 0)
    return (3 if config.gated else 2) * d * d_ff + biases[0], 4 * d * d + biases[1]


def parameter_share(config: ModelConfig) -> Question:
    """Which sublayer holds more parameters?"""
    ffn, attention = feed_forward_parameters(config)
    d, d_ff = config.width, config.ffn_width
    why = f"Feed-forward: {ffn:,}. Attention: {attention:,}."
    ratio = ffn / attention
    names = ("Attention holds more", "Both hold about as many", "The feed-forward network holds more")
    outcomes = dict(zip(names, (ratio < 0.9, 0.9 <= ratio <= 1.1, ratio > 1.1), strict=True))
    prompt = (
        f"Attention has four matrices of {d:,} × {d:,}: for queries, keys, values and the output. "
        f"The feed-forward network has {'three' if config.gated else 'two'}, each of "
        f"{d:,} × {d_ff:,} or {d_ff:,} × {d:,}. Which half of a layer holds more of its parameters?"
    )
    return which_holds("parameter-share", prompt, why, outcomes)


def hidden_numbers(n: int, config: ModelConfig) -> Question | None:
    """How many numbers does the hidden layer hold for this text?"""
    d, d_ff = config.width, config.ffn_width
    wrong = {
        n * d: f"{n} × {d:,} is the size of what comes in and of what goes out again.",
        d_ff: "One set of neurons serves all tokens, but each token excites it anew.",
        n * n * config.heads: "That is the attention of all heads. Here no token meets another.",
    }
    right = (n * d_ff, f"{n} tokens × {d_ff:,} neurons, each token on its own.")
    prompt = (
        f"Each of the {n} tokens comes in with {d:,} numbers, and the network has {d_ff:,} neurons. How many "
        "activations does it compute for your text?"
    )
    return how_many("hidden-numbers", prompt, right, wrong)


def below_zero(share: float, name: str, d_ff: int) -> Question | None:
    """How many of a token's neurons get a negative number before the activation?"""
    prompt = (
        f"Each neuron first makes a weighted sum of the numbers of a token, then applies a function to it. At {name}, "
        "how many of the neurons have a sum below 0?"
    )
    return _banded("below-zero", prompt, share, f"{share:.1%} of the {d_ff:,} hidden values of {name} are below 0.")


def only_there(found: Commonest, neuron: int, token: str) -> Question | None:
    """A neuron's strongest tokens are mostly the same one. Is that so of all that excite it?

    None where nothing excites it, or little more than the strongest do, and near a border.
    """
    if not found.excited:
        return None
    share = found.hits / found.excited
    if found.excited < 1.2 * found.strongest or min(abs(share - _HALF), abs(share - _NEARLY_ALL)) < _CLOSE:
        return None
    why = f"{found.hits} of {found.excited} are. {token} stands {found.stands} times in all."
    outcomes = {
        "More than 8 in 10": share > _NEARLY_ALL,
        "5 to 8 in 10": _HALF < share < _NEARLY_ALL,
        "Fewer than 5 in 10": share < _HALF,
    }
    prompt = (
        f"{found.repeats} of the {found.strongest} tokens that excite neuron {neuron + 1:,} most are {token}. In all, "
        f"it is above 0 at {found.excited} tokens. How many of these are {token}?"
    )
    return which_holds("only-there", prompt, why, outcomes)


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
    names = ("Fewer than 4 in 10", "About half, 4 to 6 in 10", "More than 6 in 10")
    outcomes = dict(zip(names, (share < low, low <= share <= high, share > high), strict=True))
    return which_holds(id, prompt, why, outcomes)


def most_exciting_token(trace: Trace, layer: LayerTrace, neuron: int) -> Question | None:
    """Which token of the text excites a neuron most?"""
    values = layer.ffn_activation[:, neuron].tolist()

    def why(place: int, best: int) -> str:
        tail = ", the largest of this text." if place == best else f"; the largest is {values[best]:z.3f}."
        return f"There its activation is {values[place]:z.3f}{tail}"

    prompt = f"Which token of your text excites neuron {neuron + 1} of layer {layer.index + 1} most?"
    return ranked("most-exciting-token", prompt, values, lambda place: named(trace, place), why, of=trace.labels)


def more_than_untrained(name: str, trained: Array, untrained: Array) -> Question | None:
    """In how many layers does training make the feed-forward network add more to a token? Both are ‖Δ‖ / ‖x‖, (L,)."""
    layers = len(trained)
    surely = int((trained > (1 + _NEAR) * untrained).sum())
    ranges = [(int(part[0]), int(part[-1])) for part in np.array_split(np.arange(layers + 1), min(layers + 1, 5))]
    right = next(part for part in ranges if part[0] <= surely <= part[1])
    if layers < 2 or not right[0] <= int((trained > (1 - _NEAR) * untrained).sum()) <= right[1]:
        return None
    values = ", ".join(f"{value:.2f}" for value in trained)
    why = f"After training ‖Δ‖ / ‖x‖ is {values} in layers 1 to {layers}; before, it was {_span(untrained)}."
    outcomes = {_count(*part, layers): part == right for part in ranges}
    prompt = (
        f"With random weights, the feed-forward network of each layer adds to {name} a vector {_span(untrained)} times "
        f"as long as what was there. After training, in how many of the {layers} layers does it add more than that?"
    )
    return which_holds("more-than-untrained", prompt, why, outcomes)


def _span(values: Array) -> str:
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else f"{low} to {high}"


def _count(low: int, high: int, layers: int) -> str:
    if low == high:
        return "In none" if low == 0 else "In all of them" if low == layers else f"In {low}"
    return f"In {low} to {high}"


def larger_change(trace: Trace, changes: SublayerChanges, layer: int, token: int) -> Question | None:
    """Does attention or the feed-forward network add more to a token, measured against its own length?"""
    values = changes.relative[layer, :, token].tolist()
    best = clear_winner(values)
    if best is None:
        return None
    why = f"‖Δ‖ / ‖x‖ is {values[0]:.2f} for attention and {values[1]:.2f} for the feed-forward network."
    options = tuple(Option(name.capitalize(), why, correct=at == best) for at, name in enumerate(SUBLAYERS))
    prompt = f"Which adds a longer vector to {named(trace, token)} in layer {layer + 1}?"
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
    bent = "it is above 0, so it stays" if steps.activation == "relu" else f"times {share:.4f}"
    gated = f", times the gate {steps.gate:z.3f}" if steps.gate is not None else ""
    wrong = {
        z: "This is the hidden value, before the activation.",
        steps.product * share: "The bias was left out of the sum.",
        share: "This is only the factor: the sum is multiplied by it.",
        -steps.output: "The sign was lost.",
        0.0: f"{name} gives exactly 0 only where the sum is 0.",
    }
    if steps.activation == "relu":
        wrong = {steps.product: "The bias was left out.", -z: "The sign was lost.", 0.0: "ReLU gives 0 only below 0."}
    if steps.gate is not None:
        wrong = {z * share: "The gate was left out.", **wrong}
    total = f"{steps.product:z.3f} {steps.bias:+z.3f} = {z:z.3f}" if steps.biased else f"{z:z.3f}"
    why = f"{total}; {bent}{gated}: {steps.output:z.3f}."
    bias = f", its bias {steps.bias:z.3f}" if steps.biased else ""
    summed = "their sum" if steps.biased else "it"
    prompt = (
        f"At {named(trace, token)}, x · w of neuron {neuron + 1} is {steps.product:z.3f}{bias}. "
        + (
            f"Its function keeps {summed} above 0, and gives 0 below. "
            if steps.activation == "relu"
            else f"Its function, {name}, multiplies {summed} by {share:.4f}. "
        )
        + (f"Its gate is {steps.gate:z.3f}. " if steps.gate is not None else "")
        + "What is its activation?"
    )
    return numeric("neuron-activation", prompt, (steps.output, why), wrong, Quantity("{:z.3f}".format, apart=MARGIN))


def normalized_value(steps: NormSteps, dimension: int) -> Question | None:
    """From one number, the mean and the variance to LayerNorm's output, with γ and β."""
    x, gamma, beta = (float(v[dimension]) for v in (steps.x, steps.gamma, steps.beta))
    answer = float(steps.output[dimension])
    wrong = {
        (x - steps.mean) / steps.variance * gamma + beta if steps.variance else answer: "Divided by the variance, "
        "not by its root.",
        float(steps.standard[dimension]): "γ and β are missing.",
        float(steps.scaled[dimension]): "β is missing.",
        x / steps.deviation * gamma + beta: "The mean was not taken away.",
    }
    why = (
        f"({x:z.3f} − {steps.mean:z.3f}) ÷ {steps.deviation:.3f} = {steps.standard[dimension]:z.3f}; "
        f"× {gamma:z.3f} + {beta:z.3f} = {answer:z.3f}."
    )
    prompt = (
        f"A vector has the mean {steps.mean:z.3f} and the variance {steps.variance:.3f}. Its dimension {dimension + 1} "
        f"is {x:z.3f}; there γ is {gamma:z.3f} and β {beta:z.3f}. What does LayerNorm give there?"
    )
    return numeric("normalized-value", prompt, (answer, why), wrong, Quantity("{:z.3f}".format, apart=MARGIN))


def most_changed(trace: Trace, changes: SublayerChanges, layer: int) -> Question | None:
    """Which token does the feed-forward network of a layer change most?"""
    values = changes.relative[layer, 1].tolist()

    def why(place: int, best: int) -> str:
        tail = ", the most of this text." if place == best else f"; the most is {values[best]:.3f}."
        return f"‖Δ‖ / ‖x‖ is {values[place]:.3f}{tail}"

    prompt = f"For which token is ‖Δ‖ / ‖x‖ of the feed-forward network in layer {layer + 1} largest?"
    return ranked("most-changed", prompt, values, lambda place: named(trace, place), why, of=trace.labels)


def shapes(config: ModelConfig) -> Question | None:
    """How many weights, without biases, do the two matrices hold, or the three where neurons have gates?"""
    d, d_ff = config.width, config.ffn_width
    count, names = (3, "W₁, W_gate and W₂") if config.gated else (2, "W₁ and W₂")
    sizes: Sequence[tuple[tuple[int, ...], str]] = (
        ((d, d_ff), f"{d:,} × {d_ff:,} is one of the {'three' if config.gated else 'two'} matrices."),
        ((d, d), f"{d:,} × {d:,} is the size of one of attention’s matrices."),
        ((2, d_ff, d_ff), f"No neuron meets another: there is no matrix of {d_ff:,} × {d_ff:,}."),
    )
    again = f", as many for the gates, and {d_ff:,}" if config.gated else f" and {d_ff:,}"
    right = f"{d:,} × {d_ff:,} in{again} × {d:,} out, the same for every token."
    options = {f"{count * d * d_ff:,}": Option(f"{count * d * d_ff:,}", right, correct=True)}
    for factors, why in sizes:
        options.setdefault(f"{prod(factors):,}", Option(f"{prod(factors):,}", why))
    wide = "W₁ and W_gate each make" if config.gated else "Its matrix W₁ makes"
    prompt = (
        f"{wide} {d_ff:,} numbers of a token’s {d:,}, and W₂ makes {d:,} of the {d_ff:,} again. How many weights "
        f"are in {names} together?"
    )
    return shuffled("shapes", prompt, list(options.values())) if len(options) >= 3 else None
