"""Sentences about the figures of the feed-forward lesson, chosen by the numbers."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from lab.analysis.heads.ablation import head_off
from lab.analysis.layers.excitation import Commonest
from lab.analysis.layers.feed_forward import Array, nearly_silent
from lab.analysis.layers.neurons_off import NeuronOff, aimed_at, best_word, neuron_off, neurons_off, words_without
from lab.analysis.layers.sublayers import NormSteps, sublayer_changes
from lab.course.words import head_name, named, quoted, share, signed, told_apart
from lab.models.encoding import word_of
from lab.models.interventions import Head
from lab.models.trace import Trace

# A sublayer adds much to a token if Δ is this many times as long as x.
MUCH = 10.0
# A cosine this near to 0 is nearly a right angle, this near to 1 nearly the same direction.
_RIGHT_ANGLE = 0.2
# If at least this share of a neuron's strongest tokens are equal, the neuron has a favourite token.
_HALF = 0.5
# Share of word pairs that must move the way the vector points before we say that it explains them.
_MOST = 0.8
# If a neuron fires at this share of its favourite token's occurrences, we say that it fires at nearly all of them.
_NEARLY_ALL = 0.8
# The names of the sublayers, in the order of the analysis.
_SUBLAYERS = ("attention", "the feed-forward network")
# If a neuron is above 0 at a larger share of all tokens, it responds to much of every text.
_OFTEN = 0.4
# Changes of a probability: below the first, nothing has changed; from the second on, the neuron matters.
_UNCHANGED, _MATTERS = 0.0005, 0.01
# The smallest difference that is visible in two decimals; the number used for a probability of 0 in a ratio.
SEEN, _LEAST = 0.01, 1e-30


def beside_untrained(name: str, trained: Array, untrained: Array | None) -> str:
    """Compare ‖Δ‖ / ‖x‖ of the feed-forward networks at a token, (L,), with the same model with random weights."""
    after = f"from {_at(trained, int(trained.argmin()))} to {_at(trained, int(trained.argmax()))}"
    if len(trained) == 1:
        after = f"{trained[0]:.2f}"
    if untrained is None:
        return f"The vectors that the feed-forward networks add to {name} are {after} times as long as the old ones."
    low, high = (f"{value:.2f}" for value in (untrained.min(), untrained.max()))
    before = low if low == high else f"{low} to {high}"
    return (
        f"With random weights, the vectors that the feed-forward networks of this model add to {name} are {before} "
        f"times as long as the old ones. After training, they are {after} times as long."
    )


def much_added(trained: Array, untrained: Array | None, cosine: Array) -> str | None:
    """Name the layers whose Δ is far longer than x, if training made it so; None if there are no such layers.

    ``cosine`` (L,) compares x with x + Δ, see :class:`SublayerChanges`.
    """
    before = np.zeros(len(trained)) if untrained is None else untrained
    layers = [int(i) for i in np.flatnonzero((trained > MUCH) & (before < MUCH))]
    if not layers:
        return None
    learned = "With random weights no layer adds that much. " if untrained is not None and before.max() < MUCH else ""
    return (
        f"**This is odd.** {layers_named(layers)} add{'s' if len(layers) == 1 else ''} more than {MUCH:.0f} times the "
        "length of the old vector. So x + Δ points nearly where Δ points; x is part of the sum, but it is short "
        f"compared with Δ. {_turned(cosine[layers])} {learned}This model does it; other models may not."
    )


def _turned(cosine: Array) -> str:
    """Say how far a token's vector is turned in the layers that add much to it."""
    low, high = (signed(float(value)) for value in (cosine.min(), cosine.max()))
    told = f"The cosine of x + Δ with x is {low}" + ("" if low == high else f" to {high}")
    if np.abs(cosine).max() < _RIGHT_ANGLE:
        return f"{told}: the old direction is nearly gone."
    if cosine.min() > 1 - _RIGHT_ANGLE:
        return f"{told}: the direction hardly changes, because Δ points the same way as x."
    return f"{told}, where 1 is the old direction and 0 a right angle to it."


def silent_for_words(shares: Array) -> str | None:
    """Name the layers that hardly respond to words; for ``shares`` (L,) see :func:`active_on_words`."""
    found = nearly_silent(shares)
    if not found:
        return None
    others = np.delete(shares, found)
    names = f"{layers_named(found)} {'is' if len(found) == 1 else 'are'}"
    return (
        f"**{names} nearly silent for words**: at an average word of this text, {shares[found].mean():.1%} of its "
        f"neurons are above 0. In the other layers the share is {others.min():.0%} to {others.max():.0%}."
    )


def about_its_tokens(neuron: int, share: float, base: float, found: Commonest, token: str) -> str:
    """Say what a neuron's strongest tokens tell about it; ``share`` is the share of all tokens at which it is above 0.

    ``base`` is the mean of this share over the neurons of its layer.
    """
    if found.repeats >= _HALF * found.strongest:
        return _about_one(found, token)
    often = f"above 0 at {share:.1%} of all tokens (the mean over the layer’s neurons is {base:.1%})"
    if share > _OFTEN:
        return (
            f"Neuron {neuron + 1:,} responds to much of every text, so its {found.strongest} strongest tokens say "
            f"little about it. It is {often}."
        )
    return (
        f"Neuron {neuron + 1:,} has no favourite: of its {found.strongest} strongest tokens, no single one makes up "
        f"half. It is {often}."
    )


def _about_one(found: Commonest, token: str) -> str:
    """Say whether a neuron fires only at one token, and whether it fires at each occurrence of this token."""
    silent = found.occurs - found.hits
    if found.hits < _NEARLY_ALL * found.excited:
        return (
            f"Its strongest tokens are {token}, but others excite it, too: {found.hits} of the {found.excited} tokens "
            f"that excite it are {token}."
        )
    fires = f"It fires at {token}: {found.hits} of the {found.excited} tokens that excite it."
    if found.hits < _NEARLY_ALL * found.occurs:
        return f"{fires} But at {silent} other {token} it stays silent, so the token alone is not enough."
    return f"{fires} Of the {found.occurs} {token} in the texts, it misses {silent or 'none'}."


def _at(values: Array, layer: int) -> str:
    return f"{values[layer]:.2f} (layer {layer + 1})"


def most_added(trace: Trace) -> str:
    """Say at which token, in which layer and by which sublayer the longest Δ, relative to x, is added."""
    relative = sublayer_changes(trace).relative
    layer, sublayer, token = np.unravel_index(int(relative.argmax()), relative.shape)
    return (
        f"The largest addition in the map comes from {_SUBLAYERS[sublayer]}, at {named(trace, int(token))} in layer "
        f"{layer + 1}: {relative.max():.1f} times as long as the old vector."
    )


def layers_named(layers: list[int]) -> str:
    """Layers, given from 0, as text names them: "Layer 2", "Layers 1, 2 and 4"."""
    names = [str(i + 1) for i in layers]
    return f"Layer {names[0]}" if len(names) == 1 else f"Layers {', '.join(names[:-1])} and {names[-1]}"


def layer_order(trace: Trace, layer: int, token: int) -> str:
    """Compare the lengths of the vectors that the two halves of a layer add to a token."""
    inside = trace.layer(layer)
    attention, network = (float(each[token].norm()) for each in (inside.attention_output, inside.ffn_output))
    alike = round(attention, 2) == round(network, 2)
    longer = "an equally long one" if alike else "a longer one" if network > attention else "a shorter one"
    lot = float(sublayer_changes(trace).relative[layer, 1, token]) > MUCH
    much = " That is a lot: the step **Residual and LayerNorm** looks at all layers." * lot
    return (
        f"In layer {layer + 1}, attention adds to {told_apart(trace, token)} a vector of the length "
        f"{attention:.2f}, and the feed-forward network {longer}, {network:.2f}.{much}"
    )


def active_neurons(trace: Trace, layer: int, token: int) -> str:
    """Say how many neurons a token excites, and whether other tokens share its most active neuron."""
    active = trace.layer(layer).ffn_activation
    best = active.argmax(dim=1)
    neuron, others = int(best[token]), int((best == best[token]).sum()) - 1
    if float(active[token].max()) <= 0:
        return f"No neuron of layer {layer + 1} has an activation above 0 at {told_apart(trace, token)}."
    alone = {0: "of no other token", 1: "of one other token, too"}.get(others, f"of {others} other tokens, too")
    most = float(active[token, neuron])
    near = int((active[:, neuron] > most / 2).sum())
    about = (
        "At every other token it is less than half as active"
        if near == 1
        else f"At {near} of {len(active)} tokens it is more than half as active"
        + (f", so it says little about {told_apart(trace, token)}" if near > len(active) / 2 else "")
    )
    return (
        f"At {told_apart(trace, token)}, {int((active[token] > 0).sum()):,} of {active.shape[1]:,} neurons have an "
        f"activation above 0. The most active one is neuron {neuron + 1:,}, with {most:.2f}. It is the most active "
        f"neuron {alone}. {about}."
    )


def neuron_in_blank(trace: Trace, place: int, layer: int, neuron: int) -> str:
    """Say which word the model predicts without a neuron, and how many neurons of its layer change the best word."""
    found, every = neuron_off(trace, place, layer, neuron), neurons_off(trace, place, layer)
    best, tokenizer = best_word(trace, place), trace.model.tokenizer
    word = quoted(word_of(tokenizer, best))
    before, after = probability(found.before), probability(found.after)
    without = f"Without neuron {neuron + 1:,} of layer {layer + 1}, the model"
    if found.then != best:
        told = f"{without} says {quoted(word_of(tokenizer, found.then))}; {word} goes from {before} to {after}."
    elif abs(found.change) < _UNCHANGED:
        told = f"{without} still says {word}, and its probability stays at {before}."
    else:
        told = f"{without} still says {word}; its probability {_moves(found)}."
    turned = sum(each.then != best for each in every)
    many = f"{turned} of the {len(every)}" if turned else f"None of the {len(every)}"
    return f"{told} {many} neurons that add most here {'change' if turned > 1 else 'changes'} the best word."


def _moves(found: NeuronOff) -> str:
    digits = 2 if abs(found.change) >= _MATTERS else 4
    verb = "falls" if found.change < 0 else "rises"
    return f"{verb} from {found.before:.{digits}f} to {found.after:.{digits}f}"


def beside_the_head(trace: Trace, place: int, head: Head) -> str:
    """Say what the model predicts without one head, as a head can change a word that no single neuron changes."""
    logits = head_off(trace, *head, place).logits
    assert logits is not None
    best, tokenizer = best_word(trace, place), trace.model.tokenizer
    then = int(logits.argmax())
    without = f"Lesson 4 took a head away in this sentence: without {head_name(head)}, the model"
    if then == best:
        return f"{without} still says {quoted(word_of(tokenizer, best))}."
    return f"{without} says {quoted(word_of(tokenizer, then))}."


def words_aimed_at(trace: Trace, place: int, layer: int, neuron: int, k: int) -> tuple[str, str]:
    """Say whether the direction of a neuron's vector explains which of the ``k`` likeliest words it helps.

    Returns the story, and the numbers behind it. Every pair of words counts, so that no pair is picked only because it
    fits.
    """
    words, aims = words_without(trace, place, layer, neuron, k), aimed_at(trace, place, layer, neuron, k)
    names = [quoted(each.word) for each in words]
    products = [f"{name} {signed(aim)}" for name, aim in zip(names, aims.tolist(), strict=True)]
    most, least = int(aims.argmax()), int(aims.argmin())
    moved = max(words, key=lambda each: abs(each.after - each.before))
    told = (
        f"Of these {len(words)} words, {quoted(moved.word)} changes most: {probability(moved.before)} with the "
        f"neuron, {probability(moved.after)} without it. The neuron adds one vector at this place. Does its direction "
        "tell which words it helps?"
    )
    how = (
        "The vector is the neuron’s row of W₂ times its activation; its direction is compared with a word by their dot "
        f"product (lesson 9). {', '.join(products)}."
    )
    if aims[most] - aims[least] < SEEN:
        return f"{told} It does not point at any of these words more than at the others.", how
    # The gain of each word from the neuron, up to a constant that all words share.
    gains = np.log([max(each.before, _LEAST) / max(each.after, _LEAST) for each in words])
    pairs = [(i, j) for i, j in permutations(range(len(words)), 2) if aims[i] - aims[j] >= SEEN]
    fit = sum(bool(gains[i] > gains[j]) for i, j in pairs)
    verdict = (
        "Mostly, yes"
        if fit >= _MOST * len(pairs)
        else "Surprisingly, no"
        if fit <= len(pairs) / 2
        else "Only for a part of them"
    )
    return (
        f"{told} {verdict}: it points most at {names[most]} and least at {names[least]}, and in {fit} of {len(pairs)} "
        "pairs of words it helps the word at which it points more. The neuron is off at every token, and the layers "
        "above change what it adds."
    ), how


def probability(value: float) -> str:
    """Write a probability with two decimals, or with more if it is small."""
    return f"{value:.2f}" if value >= _MATTERS else share(value)


def added_to(trace: Trace, token: int) -> str:
    """Name the layer whose network adds the longest vector to a token; say how far this turns the token's vector."""
    found = sublayer_changes(trace)
    relative, cosines = found.relative[:, 1, token], found.cosine[:, 1, token]
    layer, name = int(relative.argmax()), told_apart(trace, token)
    cosine = float(cosines[layer])
    left = f"(its cosine with the new one is {signed(cosine)})"
    so = (
        f"hardly anything of the old direction is left {left}"
        if abs(cosine) < _RIGHT_ANGLE
        else f"the direction hardly changes {left}"
        if cosine > 1 - _RIGHT_ANGLE
        else f"the old direction is turned {left}"
    )
    most = "adds" if len(relative) == 1 else "adds most"
    return (
        f"The network {most} to {name} in layer {layer + 1}, a vector {relative[layer]:.1f} times as long as the "
        f"vector "
        f"after attention, and {so}."
    )


def one_scale(layer: int, where: str, steps: NormSteps) -> str:
    """Say how long a LayerNorm makes a vector, before γ and β and after them."""
    first, between, last = (float(np.linalg.norm(each)) for each in (steps.x, steps.standard, steps.output))
    scaled = "the learned scale and shift make it" if steps.beta.any() else "the learned scale makes it"
    return (
        f"In layer {layer + 1}, LayerNorm {where} first makes this vector √{len(steps.x)} ≈ {between:.2f} long, like "
        f"every "
        f"other one (it was {first:.2f} long); then {scaled} {last:.2f}."
    )


def normalized(where: str, steps: NormSteps) -> str:
    """Say how the length of one vector changes in a LayerNorm, before and after γ and β."""
    first, between, last = (float(np.linalg.norm(each)) for each in (steps.x, steps.standard, steps.output))
    root = math.sqrt(len(steps.x))
    size = (
        f"√{len(steps.x)} = {root:.2f}, like every other token’s: {len(steps.x)} numbers with the mean 0 and the "
        "variance 1 have this length"
        if root - between < SEEN
        else f"{between:.2f}, less than √{len(steps.x)}: beside so small a variance, ε counts"
    )
    return (
        f"The LayerNorm {where} reads a vector of the length {first:.2f}. Before γ is applied, the vector has the "
        f"length {size}. γ and β then make it {'longer' if last > between else 'shorter'}, {last:.2f}."
    )


def held_back(name: str, hidden: Array, active: Array) -> str:
    """Say how the function changes sums below and above 0 of the token called ``name``; both arrays are (d_ff,)."""
    below = hidden < 0
    if not below.any():
        return f"No sum is below 0 at {name}, so the function holds nothing back."
    means = [
        signed(float(values[which].mean())) for which in (below, ~below) for values in (hidden, active) if which.any()
    ]
    held = "Most neurons are held back" if below.mean() > _HALF else "Some neurons are held back"
    others = f", and the other {(~below).sum():,} from {means[2]} to {means[3]}" if len(means) > 2 else ""
    return (
        f"{held} at {name}: {below.sum():,} of {len(below):,} have a sum below 0. On average, the function changes "
        f"these sums from {means[0]} to {means[1]}{others}."
    )
