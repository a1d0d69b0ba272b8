"""The data for claims about single heads: some pairs with and without each head, in a model and its untrained twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.analysis.heads.values import Values
from lab.evidence.intervals import drawn_means, p_above
from lab.evidence.pairs import MinimalPair, shared_words
from lab.evidence.verdicts import ALPHA
from lab.experiments.needed_heads.ablations import Ablation

# The two ablations that a verdict needs: heads write 0, or their mean over the sentence.
ZERO: Ablation = "zero"
TO_MEAN: Ablation = "sentence"
ABLATED = (ZERO, TO_MEAN)


def gains(changed: ArrayLike, plain: Values) -> Values:
    """(…, pairs) 1 if the good form wins only with the change, −1 if it wins only without it, else 0."""
    return (np.asarray(changed) > 0).astype(np.float64) - (plain > 0)


@dataclass(frozen=True, eq=False)
class Sample:
    """Some pairs of a result, such as one template's pairs, on which the claims about single heads are tested.

    Attributes
    ----------
    pairs
        (P,) the pairs.
    groups
        (P,) a group number, equal for pairs that the model reads as the same tokens.
    plain, twin_plain
        (P,) logit of the good form minus logit of the bad form, in the model and in its untrained twin.
    changed, twin_changed
        By ablation, (layers, heads, P) the difference without each head, in the model and in its untrained twin.
    """

    pairs: tuple[MinimalPair, ...]
    groups: NDArray[np.int64]
    plain: Values
    changed: Mapping[Ablation, Values]
    twin_plain: Values
    twin_changed: Mapping[Ablation, Values]

    @cached_property
    def b(self) -> NDArray[np.bool_]:
        """(P,), true for pairs of half B."""
        return np.array([pair.half == 1 for pair in self.pairs], dtype=bool)

    @cached_property
    def shared(self) -> tuple[NDArray[np.int64], ...]:
        """The nouns and the verbs of the pairs, (P,) each."""
        return shared_words(self.pairs)

    def shared_in(self, here: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
        """Return the nouns and the verbs of some of the pairs."""
        return tuple(words[here] for words in self.shared)

    def different(self, here: NDArray[np.bool_] | None = None) -> int:
        """Return the number of different sentences that the model reads in these pairs."""
        return len(np.unique(self.groups if here is None else self.groups[here]))

    def without(self, ablation: Ablation) -> Values:
        """(layers, heads, P) the change of accuracy without each head."""
        return gains(self.changed[ablation], self.plain)

    def twin_without(self, ablation: Ablation) -> Values:
        """(layers, heads, P) the change of the twin's accuracy without each of its heads."""
        return gains(self.twin_changed[ablation], self.twin_plain)

    @property
    def right(self) -> Values:
        """(P,) 1 if the good form wins with all heads, else 0."""
        return (self.plain > 0).astype(np.float64)

    @property
    def beyond_guessing(self) -> bool:
        """True if the model with all heads is clearly right more often than a model that guesses."""
        return bool(p_above(drawn_means(self.right, *self.shared), 0.5) < ALPHA)
