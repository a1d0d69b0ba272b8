"""Which layer knows a label: a linear classifier on each layer's vectors of whole sentences (Alain & Bengio 2017).

Tested on sentences that the classifier has not seen: they are split into tenths, and groups that belong together (the
two sentences of a pair) are never split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.analysis.tasks.logistic import fit

Array = NDArray[np.float64]
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
