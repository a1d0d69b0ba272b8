"""The sentences of a text in other orders, again by loops over runs of the model."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import lab
from lab.analysis.sentences.orders import ORDERS, orders
from lab.analysis.sentences.split import split

THREE = ("The girl lost her dog.", "It barked in the park.", "She was glad.")


def shares(model: str, texts: tuple[str, ...]) -> np.ndarray:
    """Attention between sentences as multiples of an even spread, from the mean of all maps, without special tokens."""
    trace = lab.trace(lab.load_model(model), " ".join(texts))
    found = split(trace)
    assert found.texts == texts
    own = [list(found.places(number)) for number in range(len(texts))]
    causal = trace.model.config.causal
    if causal:
        own[0].remove(0)  # the first token is left out
    kept = sorted(place for places in own for place in places)
    mean = trace.attention.numpy().astype(np.float64).mean(axis=(0, 1))
    n = len(trace)
    even = np.tril(np.ones((n, n))) if causal else np.ones((n, n))
    result = np.full((len(texts),) * 2, np.nan)
    for a, b in np.ndindex(result.shape):
        if not causal or b < a:
            sums = [[m[i, own[b]].sum() / m[i, kept].sum() for i in own[a]] for m in (mean, even)]
            result[a, b] = np.mean(sums[0]) / np.mean(sums[1])
    return result


@pytest.mark.parametrize("model", ["lab-minilm", "lab-gpt2"])
def test_the_means_are_those_of_every_order(model: str) -> None:
    found = orders(lab.trace(lab.load_model(model), " ".join(THREE)))
    groups: dict[tuple[bool, bool], list[float]] = {}
    for order in permutations(range(3)):
        values = shares(model, tuple(THREE[place] for place in order))
        for x, y in np.ndindex(values.shape):
            if x != y and np.isfinite(values[x, y]):
                groups.setdefault((abs(order[x] - order[y]) == 1, abs(x - y) == 1), []).append(float(values[x, y]))
    assert found is not None and found.count == 6
    expected = [np.mean(groups[key]) for key in ((True, True), (True, False), (False, True), (False, False))]
    assert [found.beside, found.away, found.others_beside, found.others_away] == pytest.approx(expected, abs=1e-5)
    assert found.by_nearness == pytest.approx((expected[0] + expected[2] - expected[1] - expected[3]) / 2, abs=1e-5)


def test_only_a_few_sentences_are_put_into_other_orders() -> None:
    model = lab.load_model("lab-bert")
    assert orders(lab.trace(model, " ".join(THREE[:2]))) is None
    assert orders(lab.trace(model, " ".join(THREE), "And a second text.")) is None
    assert orders(lab.trace(model, " ".join(THREE * 3))) is None
    five = orders(lab.trace(model, " ".join((*THREE, "He ran home.", "They ate bread."))))
    assert five is not None and five.count == ORDERS
