"""What the figures of the feed-forward lesson mean, in sentences that the learner’s numbers choose."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from lab.analysis.layers.excitation import Commonest
from lab.analysis.layers.feed_forward import Array, nearly_silent
from lab.analysis.layers.neurons_off import aimed_at, best_word, neuron_off, neurons_off, words_without
from lab.analysis.layers.sublayers import NormSteps, sublayer_changes
from lab.course.words import named, quoted, share, signed
from lab.models.encoding import word_of
from lab.models.trace import Trace

# A sublayer adds much to a token when Δ is that many times as long as x.
MUCH = 10.0
# A cosine this near to 0 is nearly a right angle, this near to 1 nearly the same direction.
_RIGHT_ANGLE = 0.2
# Of a neuron's strongest tokens so many are the same token, or it has none in common.
_HALF = 0.5
# Of the pairs of words so many must go as a neuron's vector points, for the vector to explain most of it.
_MOST = 0.8
# So many of the tokens that excite it are this token, or so many of these excite it: nearly all.
_NEARLY_ALL = 0.8
# In the order of the analysis.
_SUBLAYERS = ("attention", "the feed-forward network")
# A neuron that is above 0 at more of all tokens than that answers to much of the text.
_OFTEN = 0.4
# A probability that changes by less has not changed; by that much or more, the neuron matters.
_UNCHANGED, _MATTERS = 0.0005, 0.01
# A difference that two decimals show; and what a probability of 0 counts as in a ratio.
SEEN, _LEAST = 0.01, 1e-30


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


def much_added(trained: Array, untrained: Array | None, cosine: Array) -> str | None:
    """Which layers add far more than there was, where training made it so; None where no layer does.

    ``cosine`` is that of x and x + Δ, (L,), see :class:`SublayerChanges`.
    """
    before = np.zeros(len(trained)) if untrained is None else untrained
    layers = [int(i) for i in np.flatnonzero((trained > MUCH) & (before < MUCH))]
    if not layers:
        return None
    learned = "With random weights no layer adds that much. " if untrained is not None and before.max() < MUCH else ""
    return (
        f"**This is odd.** {layers_named(layers)} add{'s' if len(layers) == 1 else ''} more than {MUCH:.0f} times the "
        f"length of what was there. So x + Δ points nearly where Δ points; x is in the sum, but short beside Δ. "
        f"{_turned(cosine[layers])} {learned}This "
        "model does it; others need not."
    )


def _turned(cosine: Array) -> str:
    """How far the vector is turned where much is added to it."""
    low, high = (signed(float(value)) for value in (cosine.min(), cosine.max()))
    told = f"The cosine of x + Δ with x is {low}" + ("" if low == high else f" to {high}")
    if np.abs(cosine).max() < _RIGHT_ANGLE:
        return f"{told}: the old direction is nearly gone."
    if cosine.min() > 1 - _RIGHT_ANGLE:
        return f"{told}: the direction hardly changes, as Δ points where x did."
    return f"{told}, where 1 is the old direction and 0 a right angle to it."


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


def about_its_tokens(neuron: int, share: float, base: float, found: Commonest, token: str) -> str:
    """What a neuron's strongest tokens allow to be said; ``share`` is at how many of all tokens it is above 0.

    ``base`` is the same for the neurons of its layer, the mean over all of them.
    """
    if found.repeats >= _HALF * found.strongest:
        return (
            f"{found.repeats} of these {found.strongest} tokens are {token}. In all, neuron {neuron + 1:,} is above 0 "
            f"at {found.excited} tokens; {found.hits} of them are {token}, which stands {found.stands} times. "
            f"{_pattern(found, token)}"
        )
    often = f"above 0 at {share:.1%} of all tokens (the mean over the layer’s neurons is {base:.1%})"
    if share > _OFTEN:
        return (
            f"Neuron {neuron + 1:,} is {often}. So it answers to much of any text, and its {found.strongest} strongest "
            "tokens say little about it."
        )
    return (
        f"Neuron {neuron + 1:,} is {often}. No token makes up half of its {found.strongest} strongest. Whether they "
        "have something else in common is for you to judge."
    )


def _pattern(found: Commonest, token: str) -> str:
    """Whether a neuron answers to one token only, and to each of them."""
    if found.hits < _NEARLY_ALL * found.excited:
        return "So it answers to other tokens, too: its strongest tokens show only a part of them."
    if found.hits < _NEARLY_ALL * found.stands:
        return f"So it answers to hardly any other token, but not to every {token}. What stands around it counts, too."
    return "So it answers to this token nearly everywhere, and to hardly any other."


def _at(values: Array, layer: int) -> str:
    return f"{values[layer]:.2f} (layer {layer + 1})"


def most_added(trace: Trace) -> str:
    """At which token, in which layer and by which sublayer most is added, measured against what was there."""
    relative = sublayer_changes(trace).relative
    layer, sublayer, token = np.unravel_index(int(relative.argmax()), relative.shape)
    return (
        f"Of all cells, the largest addition is that of {_SUBLAYERS[sublayer]} to {named(trace, int(token))} in layer "
        f"{layer + 1}: {relative.max():.1f} times as long as what was there."
    )


def layers_named(layers: list[int]) -> str:
    """Layers, given from 0, as text names them: "Layer 2", "Layers 1, 2 and 4"."""
    names = [str(i + 1) for i in layers]
    return f"Layer {names[0]}" if len(names) == 1 else f"Layers {', '.join(names[:-1])} and {names[-1]}"


def layer_order(trace: Trace, layer: int, token: int) -> str:
    """How much the two halves of a layer add to a token, and whether the layer ends with a LayerNorm."""
    name = quoted(trace.labels[token])
    attention, network = sublayer_changes(trace).relative[layer, :, token].tolist()
    more = "the same length" if round(attention, 2) == round(network, 2) else "more" if network > attention else "less"
    compared = "adds a vector of the same length" if more == "the same length" else f"adds {more} than attention"
    return (
        f"In layer {layer + 1}, the feed-forward network {compared} to {name}: {network:.2f} times the length of what "
        f"was there, attention {attention:.2f} times."
        + " That is much: the step **Residual** looks at all layers."
        * (network > MUCH)
    )


def active_neurons(trace: Trace, layer: int, token: int) -> str:
    """How many neurons a token excites, and whether its most active one is that of other tokens, too."""
    active = trace.layer(layer).ffn_activation
    best = active.argmax(dim=1)
    neuron, others = int(best[token]), int((best == best[token]).sum()) - 1
    if float(active[token].max()) <= 0:
        return f"No neuron of layer {layer + 1} has an activation above 0 at {quoted(trace.labels[token])}."
    alone = {0: "of no other token", 1: "of one other token, too"}.get(others, f"of {others} other tokens, too")
    most = float(active[token, neuron])
    near = int((active[:, neuron] > most / 2).sum())
    about = (
        "At every other token it is less than half as active"
        if near == 1
        else f"At {near} of {len(active)} tokens it is more than half as active"
        + (f", so it says little about {quoted(trace.labels[token])}" if near > len(active) / 2 else "")
    )
    return (
        f"At {quoted(trace.labels[token])}, {int((active[token] > 0).sum()):,} of {active.shape[1]:,} neurons have an "
        f"activation above 0. The most active one is neuron {neuron + 1:,}, with {most:.2f}. It is the most active one "
        f"{alone}. {about}."
    )


def neuron_in_blank(trace: Trace, place: int, layer: int, neuron: int) -> str:
    """What becomes of the best word without a neuron, and how many others of its layer do as much."""
    found, every = neuron_off(trace, place, layer, neuron), neurons_off(trace, place, layer)
    word = quoted(word_of(trace.model.tokenizer, best_word(trace, place)))
    if abs(found.change) < _UNCHANGED:
        told = f"the probability of {word} stays at {_probability(found.before)}"
        so = f"In this sentence, the neuron hardly matters for {word}."
    else:
        verb = "falls" if found.change < 0 else "rises"
        digits = 2 if abs(found.change) >= _MATTERS else 4
        told = f"the probability of {word} {verb} from {found.before:.{digits}f} to {found.after:.{digits}f}"
        so = f"So in this sentence, the neuron makes {word} {'more' if found.change < 0 else 'less'} probable."
    moved = sum(abs(each.change) >= _MATTERS for each in every)
    many = {0: "none changes", 1: "one changes"}.get(moved, f"{moved} change")
    return (
        f"Without neuron {neuron + 1:,} of layer {layer + 1}, {told}. {so} Of the {len(every)} neurons that add most "
        f"at this place, {many} this probability by {_MATTERS} or more."
    )


def words_aimed_at(trace: Trace, place: int, layer: int, neuron: int, k: int) -> tuple[str, str]:
    """Why a neuron moves words differently: to which of the ``k`` likeliest its vector points, and how far that goes.

    The story, and the numbers behind it. Every pair of words is asked, so that none is picked because it fits.
    """
    words, aims = words_without(trace, place, layer, neuron, k), aimed_at(trace, place, layer, neuron, k)
    names = [quoted(each.word) for each in words]
    most, least = int(aims.argmax()), int(aims.argmin())
    moved = max(words, key=lambda each: abs(each.after - each.before))
    told = (
        f"Of these {len(words)} words, {quoted(moved.word)} changes most: {_probability(moved.before)} with the "
        f"neuron, {_probability(moved.after)} without it. Why does it move some words more than others? The neuron "
        "adds one vector at this place."
    )
    how = (
        "The vector is the neuron’s row of W₂ times its activation. To compare it with a word: their dot product "
        f"(lesson 9). {', '.join(f'{name} {signed(aim)}' for name, aim in zip(names, aims.tolist(), strict=True))}."
    )
    if aims[most] - aims[least] < SEEN:
        return f"{told} It points at none of the words more than at another.", how
    # With the neuron minus without it: how much each word gains, up to what all of them share.
    gains = np.log([max(each.before, _LEAST) / max(each.after, _LEAST) for each in words])
    pairs = [(i, j) for i, j in permutations(range(len(words)), 2) if aims[i] - aims[j] >= SEEN]
    fit = sum(bool(gains[i] > gains[j]) for i, j in pairs)
    rest = "The neuron is off at every token, and the layers above change what it adds."
    verdict = (
        f"So where the vector points explains most of it here. {rest}"
        if fit >= _MOST * len(pairs)
        else f"So where the vector points does not explain it here. {rest}"
        if fit <= len(pairs) / 2
        else f"So where the vector points explains only a part of it here. {rest}"
    )
    return (
        f"{told} Of the {len(words)} words it points most at {names[most]}, least at {names[least]}. If nothing came "
        f"after it, the neuron would help a word against every word that it points at less. That is so in {fit} of "
        f"{len(pairs)} pairs of these words. {verdict}"
    ), how


def _probability(value: float) -> str:
    return f"{value:.2f}" if value >= _MATTERS else share(value)


def normalized(where: str, steps: NormSteps) -> str:
    """What a LayerNorm makes of the length of one vector, before and after γ and β."""
    first, between, last = (float(np.linalg.norm(each)) for each in (steps.x, steps.standard, steps.output))
    root = math.sqrt(len(steps.x))
    size = (
        f"√{len(steps.x)} = {root:.2f}, like every other token’s: {len(steps.x)} numbers with the mean 0 and the "
        "variance 1 have this length"
        if root - between < SEEN
        else f"{between:.2f}, less than √{len(steps.x)}: beside so small a variance, ε counts"
    )
    return (
        f"The LayerNorm {where} reads a vector of the length {first:.2f}. Before γ it has the length {size}. γ and β "
        f"then make it {'longer' if last > between else 'shorter'}, {last:.2f}."
    )


def held_back(hidden: Array, active: Array) -> str:
    """What the function does to the neurons of a token whose sum is below 0, and to the others; both (d_ff,)."""
    below = hidden < 0
    if not below.any():
        return "No sum is below 0 at this token, so there is nothing that the function holds back."
    means = [
        signed(float(values[which].mean())) for which in (below, ~below) for values in (hidden, active) if which.any()
    ]
    told = f"On average, the {below.sum():,} sums below 0 go from {means[0]} to {means[1]}"
    others = f"; the other {(~below).sum():,} go from {means[2]} to {means[3]}" if len(means) > 2 else ""
    return f"The function holds back what is below 0. {told}{others}."
