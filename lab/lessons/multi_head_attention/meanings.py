"""The meanings of the figures of the multi-head lesson, in sentences that the numbers choose.

Layers, heads, places and word ids count from 0 here and from 1 in the sentences.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from lab.analysis.flow.arriving import arriving
from lab.analysis.heads import comparing
from lab.analysis.heads.ablation import head_off
from lab.analysis.heads.comparing import head_sum, layer_divergence
from lab.analysis.heads.values import Values
from lab.analysis.words.predictions import Prediction, word_of
from lab.course.words import head_name, heads, listed, named, percent, quoted, share
from lab.models.interventions import Head
from lab.models.trace import Trace
from lab.questions.question import MARGIN

_ONE = "This layer has one head, so there is no other head to compare it with."
_ALONE = "A single token can attend only to itself. Write a longer sentence."
_NOTHING = 0.01  # a smaller change of ln P counts as hardly any; 1 % of the probability
_PALE = 0.05  # a change by less than this share of the probability is pale in the map
_NAMED = 3  # number of places that a sentence lists


def side_by_side(trace: Trace, layer: int, head: int, query: int) -> str:
    """Say whether other heads of the layer look at the same token as ``head`` from ``query``, or where they look."""
    at, me = trace.layer(layer), named(trace, query)
    key = comparing.favourite(at, head, query)
    weights, it = comparing.given(at, query, key), named(trace, key)
    if len(weights) < 2:
        return _ONE
    favourites = at.attention[:, query].argmax(dim=-1).tolist()
    same = favourites.count(key)
    others = np.delete(weights, head)
    if same == len(favourites):
        least, most = float(weights.min()), float(weights.max())
        return f"All {same} heads look most at {it} from {me}, with weights from {least:.2f} to {most:.2f}."
    if same > 1:
        told = f"From {me}, {same} of the {len(favourites)} heads look most at {it}."
        return f"{told} {_elsewhere(trace, favourites, key)}"
    return (
        f"Only head {head + 1} looks most at {it} from {me}: it gives {weights[head]:.2f}, and no other head of this "
        f"layer gives more than {others.max():.2f}. {_elsewhere(trace, favourites, key)}"
    )


def _elsewhere(trace: Trace, favourites: list[int], key: int) -> str:
    """Say where the heads look that do not look most at ``key``; the most frequent places come first."""
    rest = [each for each in favourites if each != key]
    places = sorted(set(rest), key=lambda place: (-rest.count(place), place))[:_NAMED]
    first, *others = [(heads(rest.count(place)), named(trace, place)) for place in places]
    verb = "looks" if first[0] == heads(1) else "look"
    told = [f"{first[0]} {verb} most at {first[1]}", *(f"{count} at {place}" for count, place in others)]
    return f"{listed(told)}."


def two(trace: Trace, layer: int, head: int, other: int) -> str:
    """Say how different two heads are, compared with all pairs of heads in the layer."""
    apart = layer_divergence(trace, layer)
    if np.isnan(apart).any():
        return _ALONE
    pairs = np.array([apart[pair] for pair in combinations(range(len(apart)), 2)])
    own = float(apart[head, other])
    closer, farther = int((pairs < own).sum()), int((pairs > own).sum())
    said = f"Heads {head + 1} and {other + 1} are {own:.2f} apart, on a scale from 0 (equal) to 0.69."
    if len(pairs) == 1:
        return f"{said} They are the only two heads of this layer."
    if not closer:
        return f"{said} No two heads of this layer are more alike."
    if not farther:
        return f"{said} No two heads of this layer differ more."
    which = "less" if closer > len(pairs) / 2 else "more"
    return (
        f"Heads {head + 1} and {other + 1} are {which} alike than most: of the {len(pairs)} pairs of heads in this "
        f"layer, {closer} are more alike. They are {own:.2f} apart, on a scale from 0 (equal) to 0.69."
    )


def least_like(trace: Trace, layer: int, head: int) -> int:
    """The head of the layer that differs most from ``head``, in a layer with at least two heads and without nan."""
    return int(layer_divergence(trace, layer)[head].argmax())


def added(trace: Trace, layer: int, token: int) -> str:
    """Say which head adds the longest vector to the token, and how long the sum is, as a share of all lengths."""
    found = head_sum(trace.layer(layer))
    lengths = found.norms[:, token]
    if len(lengths) < 2:
        return f"{_ONE} It adds a vector of length {lengths[0]:.2f}."
    long, short = int(lengths.argmax()), int(lengths.argmin())
    together, total = float(np.linalg.norm(found.parts[:, token].sum(axis=0))), float(lengths.sum())
    said = (
        f"To {named(trace, token)}, head {long + 1} adds the longest vector ({lengths[long]:.2f}), and head "
        f"{short + 1} the shortest ({lengths[short]:.2f})."
    )
    bias = ", before the bias," if trace.model.config.biases else ""
    if together > (1 - MARGIN) * total:
        return f"{said} All of them point nearly the same way."
    return (
        f"{said} Laid end to end they are {total:.2f} long, but their sum{bias} is only {together:.2f} long: they do "
        "not all point the same way."
    )


def through_layers(trace: Trace, token: int) -> str:
    """Say from which other word most attention arrives at ``token``, and in which layer."""
    row = arriving(trace, token).row.copy()
    no_words = [place for place, label in enumerate(trace.labels) if not any(map(str.isalnum, label))]
    special = [place for place, is_special in enumerate(trace.encoding.special) if is_special]
    row[:, [*no_words, *special, token]] = 0
    layer, source = (int(each) for each in np.unravel_index(int(row.argmax()), row.shape))
    if row[layer, source] <= 0:
        return f"No other word adds anything to {named(trace, token)}. Write a longer sentence."
    said = (
        f"Of all words, {named(trace, source)} brings most to {named(trace, token)}: "
        f"{percent(float(row[layer, source]))} of what attention brings to it in layer {layer + 1}, by length."
    )
    if layer == 0:
        return f"{said} The picture shows which vectors arrive; only a cut shows which ones matter."
    layers = "layer 1" if layer == 1 else f"layers 1 to {layer}"
    return f"{said} By then that token has already collected from others, in {layers}."


def one_off(trace: Trace, head: Head, place: int | None, word: tuple[int, str] | None, to_mean: bool = False) -> str:
    """Say how much changes without a head: the probability of ``word`` (id, text) at ``place``, or the last vectors."""
    off = head_off(trace, *head, place if word else None, to_mean)
    name = head_name(head)
    if place is None or word is None or off.logits is None:
        return f"Without {name}, the vectors after the last layer move by {off.moved[-1].mean():.0%} of their length."
    before, after = (
        Prediction(place, None, np.asarray(logits, dtype=np.float64)).probabilities
        for logits in (trace.logits(place)[0].numpy(), off.logits)
    )
    best, then = int(before.argmax()), int(after.argmax())
    tokenizer = trace.model.tokenizer
    if best != then:
        return (
            f"Without {name}, the model says **{quoted(word_of(tokenizer, then))}** ({share(float(after[then]))}) in "
            f"place of {quoted(word_of(tokenizer, best))} ({share(float(before[best]))} with it, "
            f"{share(float(after[best]))} without)."
        )
    now, later = float(before[word[0]]), float(after[word[0]])
    if abs(np.log(later / now)) < _NOTHING:
        return f"Without {name}, nothing changes for {quoted(word[1])}: its probability stays at {share(now)}."
    way = "less" if later < now else "more"
    still = f" The model still says {quoted(word_of(tokenizer, best))}."
    return f"Without {name}, {quoted(word[1])} becomes {way} probable: {share(later)} in place of {share(now)}.{still}"


def looks_from(trace: Trace, head: Head, place: int) -> str:
    """Say at which token a head looks most from a place."""
    row = trace.layer(head[0]).attention[head[1], place]
    key = int(row.argmax())
    return (
        f"From the blank, {head_name(head)} looks most at {named(trace, key)}, with the weight {float(row[key]):.2f}."
    )


def each_off(word: str, before: float, after: Values) -> str:
    """Name the largest change on the map of all heads, and count the heads that hardly change anything.

    ``after`` (L, H).
    """
    sizes = np.abs(np.log(after / before))
    most = np.unravel_index(int(sizes.argmax()), sizes.shape)
    at: Head = (int(most[0]), int(most[1]))
    if sizes.max() < _NOTHING:
        return f"No single head changes the probability of {quoted(word)} by more than 1 %."
    pale = pale_heads(before, after)
    return (
        f"{pale} of the {sizes.size} heads change the probability of {quoted(word)} by less than 5 % each. Switching "
        f"off {head_name(at)} changes it most: from {share(before)} to {share(float(after[at]))}."
    )


def each_moved(moved: Values) -> str:
    """Name the head without which the last vectors move farthest, and compare it with the median head.

    ``moved`` (L, H).
    """
    most = np.unravel_index(int(moved.argmax()), moved.shape)
    at: Head = (int(most[0]), int(most[1]))
    return (
        f"The vectors move most without {head_name(at)}: by {float(moved[at]):.0%} of their length. For half of the "
        f"heads, they move by {float(np.median(moved)):.0%} or less."
    )


def pale_heads(before: float, after: Values) -> int:
    """Count the heads that change a probability by less than a twentieth of it, taken away one at a time."""
    return int((np.abs(after / before - 1) < _PALE).sum())


def measured(to_mean: bool) -> str:
    """Say how far to trust a change that is measured with heads off."""
    how = "their mean over the text" if to_mean else "0"
    return (
        f"This is one word in one text, and the head’s numbers were set to {how}. In another text, this head may "
        "matter more, or another head may do its work."
    )
