"""What the figures of the multi-head lesson mean, in sentences that the numbers choose.

Layers, heads, places and word ids count from 0 here and from 1 in the sentences.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from lab.analysis.flow.arriving import arriving
from lab.analysis.heads.ablation import head_off
from lab.analysis.heads.comparing import head_sum, layer_divergence
from lab.analysis.heads.values import Values
from lab.course.heads import head_name, listed
from lab.course.parking import parked_in
from lab.course.words import named, percent, quoted, share
from lab.models.interventions import Head
from lab.models.trace import Trace

_ONE = "This layer has one head, so there is nothing to compare it with."
_ALONE = "A single token can attend to nothing but itself. Write a longer sentence."
_NOTHING = 0.01  # a change of ln P that is next to none: 1 % of the probability
_PALE = 0.05  # a change by less than this share of the probability is pale in the map


def side_by_side(trace: Trace, layer: int, query: int) -> str:
    """At how many tokens the heads look from ``query``, which heads look alike, which differ, and how many park."""
    apart = layer_divergence(trace, layer)
    if len(apart) < 2:
        alike = _ONE
    elif np.isnan(apart).any():
        return _ALONE
    else:
        pairs = sorted(combinations(range(len(apart)), 2), key=lambda pair: float(apart[pair]))
        (a, b), (c, d) = pairs[0], pairs[-1]
        alike = f"Over all rows, heads {a + 1} and {b + 1} look most alike"
        if len(pairs) > 1 and apart[c, d] > apart[a, b]:
            alike += f", and heads {c + 1} and {d + 1} differ most"
        alike += ". The next step says how that is measured."
    return f"{_favourites(trace, layer, query)}{alike} {parked_in(trace, layer)}".strip()


def _favourites(trace: Trace, layer: int, query: int) -> str:
    """At which tokens the heads of a layer look most from one; "" for a layer of one head."""
    favourites = trace.layer(layer).attention[:, query].argmax(dim=-1).tolist()
    if len(favourites) < 2:
        return ""
    tokens, me = sorted(set(favourites), key=lambda key: (-favourites.count(key), key)), named(trace, query)
    if len(tokens) == 1:
        return f"From {me}, all {len(favourites)} heads look most at {named(trace, tokens[0])}. "
    told = [
        f"{_numbered([at for at, own in enumerate(favourites) if own == key])} at {named(trace, key)}" for key in tokens
    ]
    return f"The framed row is that of {me}. Its largest weight is, in {'; in '.join(told)}. "


def _numbered(heads: list[int]) -> str:
    """Heads by their numbers from 1: "heads 1, 4 and 7"."""
    return f"head{'s' if len(heads) > 1 else ''} {listed([str(head + 1) for head in heads])}"


def two(trace: Trace, layer: int, head: int, other: int) -> str:
    """How far two heads are apart, among all pairs of the layer."""
    apart = layer_divergence(trace, layer)
    if np.isnan(apart).any():
        return _ALONE
    pairs = np.array([apart[pair] for pair in combinations(range(len(apart)), 2)])
    own = float(apart[head, other])
    closer, farther = int((pairs < own).sum()), int((pairs > own).sum())
    said = f"Heads {head + 1} and {other + 1} are {own:.2f} nats apart (0: equal rows, 0.69: no key in common)."
    if len(pairs) == 1:
        return f"{said} They are the only two of this layer."
    if not closer:
        return f"{said} No pair of this layer is more alike."
    if not farther:
        return f"{said} No pair of this layer differs more."
    return f"{said} Of the {len(pairs)} pairs of this layer, {closer} are more alike and {farther} differ more."


def least_like(trace: Trace, layer: int, head: int) -> int:
    """The head of the layer that differs most from ``head``; the layer has two at least, and no nan."""
    return int(layer_divergence(trace, layer)[head].argmax())


def put_together(trace: Trace, layer: int, token: int) -> str:
    """Whose part of the concatenation is the longest."""
    lengths = trace.layer(layer).context[:, token].norm(dim=-1).numpy()
    if len(lengths) < 2:
        return f"{_ONE} The concatenation is what it brings."
    long, short = int(lengths.argmax()), int(lengths.argmin())
    return (
        f"In the strip no head has met another: each keeps its own place. For {named(trace, token)}, head {long + 1} "
        f"brings the longest vector ({lengths[long]:.2f}, the root of the sum of its squares), and head {short + 1} "
        f"the shortest ({lengths[short]:.2f})."
    )


def added(trace: Trace, layer: int, token: int) -> str:
    """Which head changes the token most through W_O."""
    lengths = head_sum(trace.layer(layer)).norms[:, token]
    if len(lengths) < 2:
        return f"{_ONE} Through $W_O$ it adds a vector of length {lengths[0]:.2f}."
    long, short = int(lengths.argmax()), int(lengths.argmin())
    return (
        f"$W_O$ writes what every head found into the same {trace.model.config.width} dimensions, and there they add "
        f"up. To {named(trace, token)}, head {long + 1} adds the longest vector ({lengths[long]:.2f}), head "
        f"{short + 1} the shortest ({lengths[short]:.2f})."
    )


def through_layers(trace: Trace, token: int) -> str:
    """From which other word most arrives at ``token``, in which layer, and what that word has become by then."""
    row = arriving(trace, token).row.copy()
    no_words = [place for place, label in enumerate(trace.labels) if not any(map(str.isalnum, label))]
    special = [place for place, is_special in enumerate(trace.encoding.special) if is_special]
    row[:, [*no_words, *special, token]] = 0
    layer, source = (int(each) for each in np.unravel_index(int(row.argmax()), row.shape))
    if row[layer, source] <= 0:
        return f"No other word brings anything to {named(trace, token)}. Write a longer sentence."
    said = (
        f"Of all words, {named(trace, source)} brings most to {named(trace, token)}: "
        f"{percent(float(row[layer, source]))} of what attention brings to it in layer {layer + 1}."
    )
    if layer == 0:
        return f"{said} The picture shows what arrives; only a cut shows what matters."
    layers = "layer 1" if layer == 1 else f"layers 1 to {layer}"
    return f"{said} By then it is no longer the word alone: {layers} brought something from others to it, too."


def one_off(trace: Trace, head: Head, place: int | None, word: tuple[int, str] | None, to_mean: bool = False) -> str:
    """What changes without one head: for a ``word`` (id, text) at ``place``, else for the last vectors."""
    off = head_off(trace, *head, place if word else None, to_mean)
    name = head_name(head)
    if place is None or word is None or off.logits is None:
        return (
            f"Without {name}, the vectors of the last layer move by {off.moved[-1].mean():.0%} of their length. "
            f"{_measured(to_mean)}"
        )
    before = float(trace.logits(place)[0].double().softmax(-1)[word[0]])
    after = float(np.exp(off.logits - off.logits.max())[word[0]] / np.exp(off.logits - off.logits.max()).sum())
    if abs(np.log(after / before)) < _NOTHING:
        return f"Without {name}, {quoted(word[1])} stays as probable as it was, to within 1 %. {_measured(to_mean)}"
    way = "less" if after < before else "more"
    factor = max(before, after) / min(before, after)
    times = f" by a factor of {factor:.2f}" if factor < 100 else ""
    return (
        f"Without {name}, {quoted(word[1])} becomes {way} probable{times}, from {share(before)} to {share(after)}. "
        f"{_measured(to_mean)}"
    )


def each_off(word: str, before: float, after: Values) -> str:
    """What the map of all heads shows: the largest change, and how many hardly change anything. ``after`` (L, H)."""
    sizes = np.abs(np.log(after / before))
    most = np.unravel_index(int(sizes.argmax()), sizes.shape)
    at: Head = (int(most[0]), int(most[1]))
    if sizes.max() < _NOTHING:
        return f"No single head changes the probability of {quoted(word)} by more than 1 %."
    pale = int((np.abs(after / before - 1) < _PALE).sum())
    return (
        f"Most changes without {head_name(at)}: {quoted(word)} goes from {share(before)} to {share(float(after[at]))}. "
        f"Taken away one at a time, {pale} of the {sizes.size} heads change it by less than 5 % each. Such a head may "
        "matter in another text, or another head may do what it did."
    )


def _measured(to_mean: bool) -> str:
    """How far a change with a head off may be trusted."""
    how = "their mean over the text" if to_mean else "0"
    return (
        f"That is one measurement: one text, and the head’s numbers set to {how}. Another text, or another "
        "replacement, can give another change."
    )
