"""What the feed-forward lesson may say about a model: sentences chosen by its numbers."""

from __future__ import annotations

import numpy as np

from lab.analysis.layers.excitation import Commonest
from lab.analysis.layers.feed_forward import Array, nearly_silent

# A sublayer adds much to a token when Δ is that many times as long as x.
MUCH = 10.0
# Of a neuron's strongest tokens so many are the same token, or it has none in common.
_HALF = 0.5
# A neuron that is above 0 at more of all tokens than that answers to much of the text.
_OFTEN = 0.4


def beside_untrained(name: str, trained: Array, untrained: Array | None) -> str:
    """‖Δ‖ / ‖x‖ of the feed-forward networks at a token, (L,), beside the same model with random weights."""
    after = f"from {_at(trained, int(trained.argmin()))} to {_at(trained, int(trained.argmax()))}"
    if len(trained) == 1:
        after = f"{trained[0]:.2f}"
    if untrained is None:
        return f"What the feed-forward networks add to {name} is {after} times as long as what was there."
    low, high = (f"{value:.2f}" for value in (untrained.min(), untrained.max()))
    before = low if low == high else f"{low} to {high}"
    return (
        f"With random weights, what the feed-forward networks of this model add to {name} is {before} times as long as "
        f"what was there. After training it is {after} times as long."
    )


def much_added(trained: Array, untrained: Array | None) -> str | None:
    """Which layers add far more than there was, where training made it so; None where no layer does."""
    before = np.zeros(len(trained)) if untrained is None else untrained
    layers = [int(i) for i in np.flatnonzero((trained > MUCH) & (before < MUCH))]
    if not layers:
        return None
    learned = (
        "With random weights no layer adds that much: training made it so. "
        if untrained is not None and before.max() < MUCH
        else ""
    )
    return (
        f"**This is odd.** {layers_named(layers)} add{'s' if len(layers) == 1 else ''} more than {MUCH:.0f} times the "
        f"length of what was there, so little is left of what the token was before. {learned}This "
        "model does it; other residual streams need not."
    )


def silent_for_words(shares: Array) -> str | None:
    """Which layers hardly answer to words; ``shares`` (L,): see :func:`active_on_words`."""
    found = nearly_silent(shares)
    if not found:
        return None
    others = np.delete(shares, found)
    names = f"{layers_named(found)} {'is' if len(found) == 1 else 'are'}"
    return (
        f"**{names} nearly silent for words**: at an average word of this text, {shares[found].mean():.1%} of its "
        f"neurons are above 0. In the other layers it is {others.min():.0%} to {others.max():.0%}."
    )


def about_its_tokens(neuron: int, share: float, found: Commonest, token: str) -> str:
    """What a neuron's strongest tokens allow to be said; ``share`` is at how many of all tokens it is above 0."""
    often = f"above 0 at {share:.1%} of all tokens"
    if found.repeats >= _HALF * found.strongest:
        beyond = (
            "So it is above 0 hardly anywhere else: this token is the pattern."
            if share <= 2 * found.share
            else f"That is {share / found.share:.0f} times as many: the strongest tokens show only a part of what it "
            "answers to."
        )
        return (
            f"{found.repeats} of these {found.strongest} tokens are {token}. Neuron {neuron + 1:,} is {often}, and "
            f"{token} is {found.share:.1%} of them. {beyond}"
        )
    if share > _OFTEN:
        return (
            f"Neuron {neuron + 1:,} is {often}. So it answers to much of any text, and its {found.strongest} strongest "
            "tokens say little about it."
        )
    return (
        f"Neuron {neuron + 1:,} is {often}. No token makes up half of its {found.strongest} strongest. Whether they "
        "have something else in common is for you to judge."
    )


def _at(values: Array, layer: int) -> str:
    return f"{values[layer]:.2f} (layer {layer + 1})"


def layers_named(layers: list[int]) -> str:
    """Layers, given from 0, as text names them: "Layer 2", "Layers 1, 2 and 4"."""
    names = [str(i + 1) for i in layers]
    return f"Layer {names[0]}" if len(names) == 1 else f"Layers {', '.join(names[:-1])} and {names[-1]}"
