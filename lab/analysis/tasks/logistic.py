"""Logistic regression on few sentences with many numbers each; and which layer knows a label (Alain & Bengio 2017).

Minimizes ½‖w‖² + C · Σ c ln(1 + e^(−y(w·x + b))), y = ±1, as scikit-learn's ``LogisticRegression`` does; the bias b is
not penalized. Both labels count alike, however many sentences have them: c = n / (2 · those with the same label).
Otherwise a sentence that is left out of a balanced set would get the other label, which then has more sentences. At the
optimum w is a sum of the training vectors, w = Σ aᵢxᵢ, so a fit of n sentences needs only their dot products (n × n),
however many numbers a vector has (Kimeldorf & Wahba 1971; Newton's steps: Hastie et al. 2009, §4.4.1 and §12.3.3).

A layer is tested on sentences that the classifier has not seen: they are split into tenths, and groups that belong
together (the two sentences of a pair) are never split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.models.cores import breathe

Array = NDArray[np.float64]
STRENGTH = 1.0  # C of scikit-learn, its default
_STEPS, _CLOSE = 60, 1e-10
_FLAT = 1e-9  # the least curvature of a sentence that is classified with certainty
_AT_ONCE = 64  # fits in one batch, so that no core is held for long


@dataclass(frozen=True, eq=False)
class Fits:
    """Several classifiers, each fitted on other sentences of one set of N.

    Attributes
    ----------
    trained
        (fits, n), the sentences that each was fitted on, by number.
    parts
        (fits, n), the factor aᵢ of each of these sentences in w.
    bias
        (fits,).
    """

    trained: NDArray[np.intp]
    parts: Array
    bias: Array

    def scores(self, products: Array) -> Array:
        """Return w·x + b for every sentence, (fits, M), from its dot products (M, N) with the N sentences."""
        return np.einsum("fn,mfn->fm", self.parts, products[:, self.trained]) + self.bias[:, None]


def probability(scores: Array) -> Array:
    """1 / (1 + e^(−score)), the probability of the label 1."""
    exponential = np.exp(-np.abs(scores))
    return np.where(scores >= 0, 1.0, exponential) / (1.0 + exponential)


def fit(products: Array, labels: NDArray[np.bool_], trained: NDArray[np.intp], strength: float = STRENGTH) -> Fits:
    """Fit one classifier on each row of ``trained`` (fits, n).

    Parameters
    ----------
    products
        (N, N), the dot products of all sentences' vectors.
    labels
        (N,), true for the label 1.
    trained
        The sentences of each fit, by number; each fit needs both labels.
    strength
        C: how much the sentences count against the penalty ½‖w‖².

    Raises
    ------
    ValueError
        If a fit has sentences of one label only.
    """
    counts = labels[trained].sum(1)
    if ((counts == 0) | (counts == trained.shape[1])).any():
        raise ValueError("a classifier needs sentences of both labels.")
    parts, bias = np.empty(trained.shape), np.empty(len(trained))
    for start in range(0, len(trained), _AT_ONCE):
        breathe()
        rows = slice(start, start + _AT_ONCE)
        chosen = trained[rows]
        kernel = products[chosen[:, :, None], chosen[:, None, :]]
        parts[rows], bias[rows] = _newton(kernel, labels[chosen].astype(np.float64), strength)
    return Fits(trained, parts, bias)


def _counted(wanted: Array, strength: float) -> Array:
    """How much each sentence counts against the penalty, (fits, n): both labels alike."""
    n, first = wanted.shape[1], wanted.sum(1, keepdims=True)
    weight: Array = strength * n / (2 * np.where(wanted == 1, first, n - first))
    return weight


def _newton(kernel: Array, wanted: Array, strength: float) -> tuple[Array, Array]:
    """Return the parts (fits, n) and the biases (fits,) for kernels (fits, n, n) and labels 0 or 1 (fits, n).

    A step that would make the loss larger is halved until it does not.
    """
    fits, n = wanted.shape
    parts, bias, counted = np.zeros((fits, n)), np.zeros(fits), _counted(wanted, strength)
    loss = _loss(kernel, parts, bias, wanted, counted)
    for _ in range(_STEPS):
        new_parts, new_bias = _step(kernel, parts, bias, wanted, counted)
        length = np.ones(fits)
        while True:
            tried = parts + length[:, None] * (new_parts - parts), bias + length * (new_bias - bias)
            after = _loss(kernel, *tried, wanted, counted)
            worse = after > loss + _CLOSE * np.abs(loss)
            if not worse.any() or length.min() < 1e-6:
                break
            length = np.where(worse, length / 2, length)
        gained = loss - after
        parts, bias, loss = tried[0], tried[1], after
        if (gained <= _CLOSE * np.abs(loss)).all():
            break
    return parts, bias


def _step(kernel: Array, parts: Array, bias: Array, wanted: Array, counted: Array) -> tuple[Array, Array]:
    """Return where Newton's step leads: the weighted least squares problem of Hastie et al. 2009, equation 4.27."""
    fits, n = wanted.shape
    scores = np.einsum("fij,fj->fi", kernel, parts) + bias[:, None]
    guessed = probability(scores)
    curve = np.maximum(guessed * (1 - guessed), _FLAT)
    system = np.zeros((fits, n + 1, n + 1))
    system[:, :n, :n] = kernel
    system[:, np.arange(n), np.arange(n)] += 1 / (counted * curve)
    system[:, :n, n] = system[:, n, :n] = 1.0
    target = np.concatenate([scores + (wanted - guessed) / curve, np.zeros((fits, 1))], axis=1)
    found = np.linalg.solve(system, target[:, :, None])[:, :, 0]
    return found[:, :n], found[:, n]


def _loss(kernel: Array, parts: Array, bias: Array, wanted: Array, counted: Array) -> Array:
    inner = np.einsum("fij,fj->fi", kernel, parts)
    scores = (inner + bias[:, None]) * (2 * wanted - 1)
    wrong = np.maximum(-scores, 0) + np.log1p(np.exp(-np.abs(scores)))
    penalty: Array = 0.5 * (parts * inner).sum(1) + (counted * wrong).sum(1)
    return penalty


_FOLDS = 10
_RESAMPLED, _SEED = 1000, 0


@dataclass(frozen=True, eq=False)
class LabelledTask:
    """Sentences with one of two labels.

    Attributes
    ----------
    labels
        The names of the labels: of 1 (true), then of 0.
    texts, marks
        The sentences, and whether each has the first label.
    groups
        A number for each sentence; sentences with one number are never split between learning and testing.
    """

    name: str
    labels: tuple[str, str]
    texts: tuple[str, ...]
    marks: tuple[bool, ...]
    groups: tuple[int, ...]

    def __post_init__(self) -> None:
        if not len(self.texts) == len(self.marks) == len(self.groups):
            raise ValueError(f"{self.name}: each sentence needs a label and a group.")

    @property
    def truth(self) -> NDArray[np.bool_]:
        return np.array(self.marks)


@dataclass(frozen=True)
class Accuracy:
    """A share of sentences, with a 95 % interval by drawing groups of them."""

    share: float
    low: float
    high: float


def centred(vectors: NDArray[np.float32], fresh: NDArray[np.float32] | None = None) -> Array:
    """Return the vectors (N, d) without their mean, and of length 1 on average: one scale for all layers.

    With ``fresh`` (M, d), return these vectors in its place, moved and scaled as ``vectors`` are.
    """
    own = vectors.astype(np.float64)
    if not len(own):
        return own
    mean = own.mean(0)
    scale = np.sqrt(((own - mean) ** 2).sum(1).mean()) or 1.0
    moved: Array = (own if fresh is None else fresh.astype(np.float64)) - mean
    return moved / scale


def folds(groups: Sequence[int], count: int = _FOLDS) -> NDArray[np.intp]:
    """Return the number of each sentence's fold, (N,): groups are dealt out in turn, in an order of chance."""
    names = np.unique(groups)
    order = np.random.Generator(np.random.PCG64(_SEED)).permutation(len(names))
    place = dict(zip(names.tolist(), (order % count).tolist(), strict=True))
    return np.array([place[each] for each in groups])


def right(task: LabelledTask, vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which sentences are classified rightly, (N,), each by a classifier that has not seen its group.

    ``vectors`` (N, d) are the sentences'. Raises ValueError if a fold leaves only one label to learn from.
    """
    x = centred(vectors)
    products, fold, found = x @ x.T, folds(task.groups), np.zeros(len(x), dtype=bool)
    for each in range(fold.max() + 1):
        tested = fold == each
        if tested.any():
            learned = np.flatnonzero(~tested)[None]
            scores = fit(products, task.truth, learned).scores(products[tested])[0]
            found[tested] = (scores > 0) == task.truth[tested]
    return found


def accuracy(task: LabelledTask, found: NDArray[np.bool_]) -> Accuracy:
    """Return the share that is right, and its interval when groups are drawn again and again, with replacement."""
    names, place = np.unique(task.groups, return_inverse=True)
    sums, sizes = np.bincount(place, found.astype(np.float64)), np.bincount(place)
    generator = np.random.Generator(np.random.PCG64(_SEED))
    drawn = generator.integers(len(names), size=(_RESAMPLED, len(names)))
    means = sums[drawn].sum(1) / sizes[drawn].sum(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Accuracy(float(found.mean()), float(low), float(high))
