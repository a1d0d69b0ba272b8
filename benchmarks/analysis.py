"""The statistics over all heads beside loops that follow their formulas, on the same random 12 × 12 heads.

Both sides give the same numbers, checked before they are timed; the loops are what one writes first: numpy
for one head, one formula after the other. Ours for the sentences also says where each maximum is and what
the mean mass is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Comparison, time_ratio
from lab.analysis.heads.metrics import attention_metrics
from lab.analysis.heads.specialization import CONTENT_WORDS, FAR, FUNCTION_WORDS, PUNCTUATION, specialization_of
from lab.analysis.sentences.between_sentences import between_sentences
from lab.course.words import in_words

LAYERS = HEADS = 12
LENGTHS = (32, 128, 512)
ROUNDS = {32: 21, 128: 9, 512: 3}
SENTENCES = 8
UPOS = (None, "DET", "NOUN", "VERB", "PUNCT", "ADP", "PROPN", "X")

Weights = NDArray[np.float32]
Values = NDArray[np.float64]
Two = tuple[np.floating, np.floating]


def random_heads(tokens: int) -> Weights:
    """(12, 12, n, n), the softmax of normal scores with standard deviation 2, as trained heads have."""
    weights = np.random.default_rng(0).normal(0, 2, size=(LAYERS, HEADS, tokens, tokens)).astype(np.float32)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def _twice(value: np.floating) -> Two:
    return value, value


def _entropies(a: Weights) -> Two:
    entropy = -(a * np.log(np.maximum(a, 1e-30))).sum(axis=1)
    return entropy.sum(), (entropy / np.log(len(a))).mean()


# The raw and the corrected value of one head, by the metric's id. A metric without a formula here is not compared.
FORMULAS: Mapping[str, Callable[[Weights], Two]] = {
    "confidence_max": lambda a: _twice(a.max()),
    "confidence_avg": lambda a: _twice(a.max(axis=1).mean()),
    "spread": _entropies,
    "sparsity": lambda a: ((a < 0.01).mean(), (a < 1 / len(a)).mean()),
    "distribution": lambda a: (np.median(a), np.median(len(a) * a)),
    "unevenness": lambda a: (a.std(), (len(a) * a).std()),
}


def our_metrics(heads: Weights) -> Values:
    """(layers, metrics, 2, heads): the raw and the corrected values, in the order of FORMULAS."""
    found = [attention_metrics(layer, causal=False) for layer in heads]
    return np.array([[[m.values(id, corrected) for corrected in (False, True)] for id in FORMULAS] for m in found])


def loop_metrics(heads: Weights) -> Values:
    """The same, head by head and one formula after the other."""
    found = np.array([[[formula(head) for formula in FORMULAS.values()] for head in layer] for layer in heads])
    return np.moveaxis(found, 1, -1)


def tags(tokens: int) -> tuple[list[str | None], list[str | None]]:
    """A part of speech for each token, and an entity every seventh."""
    return [UPOS[i % len(UPOS)] for i in range(tokens)], ["GPE" if i % 7 == 0 else None for i in range(tokens)]


def our_specialization(heads: Weights) -> Values:
    """(layers, heads, 14): seven raw values, then the seven corrected."""
    found = specialization_of(heads, *tags(heads.shape[-1]), causal=False)
    return np.concatenate([found.raw, found.corrected], axis=-1)


def loop_specialization(heads: Weights) -> Values:
    """The same, head by head from the formulas."""
    n = heads.shape[-1]
    upos, entities = tags(n)
    kinds = [[j for j in range(n) if upos[j] in kind] for kind in (FUNCTION_WORDS, CONTENT_WORDS, PUNCTUATION)]
    named = [j for j in range(n) if entities[j]]
    far = np.abs(np.arange(n)[:, None] - np.arange(n)) >= FAR

    def measure(a: Weights) -> tuple[list[float], list[float]]:
        function_words, content_words, punctuation = (a[:, kind].sum() / a.sum() for kind in kinds)
        first = [function_words, content_words, a[:, 0].mean(), punctuation, a[:, named].sum() / a.sum()]
        own = np.diag(a).mean()
        return [*first, a[far].mean(), own], [*first, (a * far).sum(axis=1).mean(), own]

    uniform = np.array(measure(np.full((n, n), 1 / n, dtype=np.float32))[1])
    found = np.empty((LAYERS, HEADS, 14))
    for layer, head in product(range(LAYERS), range(HEADS)):
        raw, mass = measure(heads[layer, head])
        found[layer, head] = np.concatenate([raw, np.array(mass) / uniform])
    return found


def sentence_of(tokens: int) -> list[int | None]:
    """Eight sentences between [CLS] and [SEP]."""
    return [None, *(i * SENTENCES // (tokens - 2) for i in range(tokens - 2)), None]


def members(tokens: int) -> list[list[int]]:
    """The places of each sentence's tokens."""
    own = sentence_of(tokens)
    return [[i for i in range(tokens) if own[i] == sentence] for sentence in range(SENTENCES)]


def our_maxima(heads: Weights) -> Values:
    """(8, 8), the largest weight between each two sentences."""
    return between_sentences(iter(heads), sentence_of(heads.shape[-1]), causal=False).maximum


def token_pair_maxima(heads: Weights) -> Values:
    """The same, one pair of tokens after the other over all 144 heads."""
    places = members(heads.shape[-1])
    return np.array([[max(heads[:, :, i, j].max() for i in a for j in b) for b in places] for a in places])


def comparisons() -> Iterator[Comparison]:
    """All comparisons of the analyses. Raises AssertionError where the two sides differ."""
    jobs = (
        (f"{in_words(len(FORMULAS))} metrics raw and corrected / loop over heads", our_metrics, loop_metrics, 0.25),
        ("seven specializations / loop over heads", our_specialization, loop_specialization, 0.25),
        ("attention between 8 sentences / token pairs", our_maxima, token_pair_maxima, 0.05),
    )
    for tokens in LENGTHS:
        heads = random_heads(tokens)
        for work, ours, theirs, target in jobs:
            np.testing.assert_allclose(ours(heads), theirs(heads), rtol=1e-3, atol=1e-5)
            measure = partial(time_ratio, partial(ours, heads), partial(theirs, heads), ROUNDS[tokens])
            # Below the longest text nothing was promised but not to be slower.
            promised = target if tokens == max(LENGTHS) else 1.0
            yield Comparison(work, tokens, promised, measure)
