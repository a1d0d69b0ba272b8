"""A class as teacher and as test: a classifier learns half of the sentences of each label, the rest is the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.analysis.tasks.few_examples import Examples, LearningCurve, Standing, products_of, rise, standing


@dataclass(frozen=True, eq=False)
class Halves:
    """N sentences with their labels: of each label, every other sentence is learned, and the rest is the test.

    Attributes
    ----------
    vectors
        (N, d), a vector for each sentence.
    labels
        For each sentence, true for the first label.
    """

    vectors: NDArray[np.float32]
    labels: tuple[bool, ...]

    @property
    def examples(self) -> Examples:
        """The sentences as a classifier learns them; the label that somebody gave counts as right."""
        ranks = (self.labels[:place].count(label) for place, label in enumerate(self.labels))
        marks = tuple(label if rank % 2 == 0 else None for rank, label in zip(ranks, self.labels, strict=True))
        return Examples(marks, self.labels, tuple(range(len(self.labels))))

    def learned(self) -> tuple[LearningCurve, Standing] | None:
        """Return the learning curve of the classifier, and its score on the other half.

        None if all sentences have one label, or if no sentence is left for the test.
        """
        products = products_of(self.vectors)
        found, now = rise(products, self.examples), standing(products, self.examples)
        return None if found is None or now is None or now.left_out else (found, now)


def halves(vectors: NDArray[np.float32], labels: Sequence[bool]) -> Halves:
    """Make :class:`Halves`. Raises ValueError if there is not one label for each vector."""
    if len(vectors) != len(labels):
        raise ValueError(f"{len(vectors)} vectors and {len(labels)} labels.")
    return Halves(vectors, tuple(labels))
