"""Sentences about the vectors that both halves of each layer add, chosen by the numbers. Nothing here draws."""

from __future__ import annotations

import numpy as np

from lab.analysis.layers.feed_forward import Array, nearly_silent
from lab.analysis.layers.sublayers import sublayer_changes
from lab.course.words import named, signed
from lab.models.trace import Trace

# A sublayer adds much to a token if Δ is this many times as long as x.
MUCH = 10.0
# A cosine this near to 0 is nearly a right angle, this near to 1 nearly the same direction.
RIGHT_ANGLE = 0.2
# The names of the sublayers, in the order of the analysis.
SUBLAYER_NAMES = ("attention", "the feed-forward network")


def beside_untrained(name: str, trained: Array, untrained: Array | None) -> str:
    """Compare ‖Δ‖ / ‖x‖ of the feed-forward networks at a token, (L,), with the same model with random weights."""
    after = f"from {_at(trained, int(trained.argmin()))} to {_at(trained, int(trained.argmax()))}"
    if len(trained) == 1:
        after = f"{trained[0]:.2f}"
    if untrained is None:
        return (
            f"The vectors that the feed-forward networks add to {name} are {after} times as long as the vectors to "
            "which they are added."
        )
    low, high = (f"{value:.2f}" for value in (untrained.min(), untrained.max()))
    before = low if low == high else f"{low} to {high}"
    return (
        f"With random weights, the vectors that the feed-forward networks of this model add to {name} are {before} "
        f"times as long as the vectors to which they are added. After training, they are {after} times as long."
    )


def _at(values: Array, layer: int) -> str:
    return f"{values[layer]:.2f} (layer {layer + 1})"


def much_added(trained: Array, untrained: Array | None, cosine: Array) -> str | None:
    """Name the layers whose Δ is far longer than x, if training made it so; None if there are no such layers.

    ``cosine`` (L,) compares x with x + Δ, see :class:`SublayerChanges`.
    """
    before = np.zeros(len(trained)) if untrained is None else untrained
    layers = [int(i) for i in np.flatnonzero((trained > MUCH) & (before < MUCH))]
    if not layers:
        return None
    learned = "With random weights, no layer adds that much. " if untrained is not None and before.max() < MUCH else ""
    return (
        f"**This is odd.** {layers_named(layers)} add{'s' if len(layers) == 1 else ''} more than {MUCH:.0f} times the "
        "length of the old vector. So x + Δ points nearly where Δ points, because x is short compared with Δ. "
        f"{_turned(cosine[layers])} {learned}Other models may not do this."
    )


def _turned(cosine: Array) -> str:
    """Say how far a token's vector is turned in the layers that add much to it."""
    low, high = (signed(float(value)) for value in (cosine.min(), cosine.max()))
    told = f"The cosine of x + Δ with x is {low}" + ("" if low == high else f" to {high}")
    if np.abs(cosine).max() < RIGHT_ANGLE:
        return f"{told}: the old direction is nearly gone."
    if cosine.min() > 1 - RIGHT_ANGLE:
        return f"{told}: the direction hardly changes, because Δ points the same way as x."
    return f"{told}, where 1 is the old direction and 0 is a right angle to it."


def most_added(trace: Trace) -> str:
    """Say at which token, in which layer and by which sublayer the longest Δ, relative to x, is added."""
    relative = sublayer_changes(trace).relative
    layer, sublayer, token = np.unravel_index(int(relative.argmax()), relative.shape)
    return (
        f"The largest cell is at {named(trace, int(token))}: in layer {layer + 1}, {SUBLAYER_NAMES[sublayer]} adds a "
        f"vector {relative.max():.1f} times as long as x."
    )


def silent_for_words(shares: Array) -> str | None:
    """Name the layers that hardly respond to words; for ``shares`` (L,) see :func:`active_on_words`."""
    found = nearly_silent(shares)
    if not found:
        return None
    others = np.delete(shares, found)
    names = f"{layers_named(found)} {'is' if len(found) == 1 else 'are'}"
    return (
        f"**{names} nearly silent for words**: at an average word of this text, {shares[found].mean():.1%} of the "
        f"activations are above 0. In the other layers, this share is {others.min():.0%} to {others.max():.0%}."
    )


def layers_named(layers: list[int]) -> str:
    """Layers, given from 0, as text names them: "Layer 2", "Layers 1, 2 and 4"."""
    names = [str(i + 1) for i in layers]
    return f"Layer {names[0]}" if len(names) == 1 else f"Layers {', '.join(names[:-1])} and {names[-1]}"
