"""How often each head names the right word of each relation: Clark et al. 2019 ("What Does BERT Look At?"), table 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.values import Values
from lab.evidence.relation_cases import Pieces, best_offset, find_cases
from lab.evidence.treebank import Sentence
from lab.models.loading import LoadedModel


@dataclass(frozen=True, eq=False)
class HeadAccuracies:
    """The share of cases in which each head names the right word, by relation; the commonest relation first.

    Attributes
    ----------
    relations
        The names of the R relations.
    counts
        (R,) the number of cases.
    accuracy
        (R, layers, heads, 2) the share of cases in which a head names the right word: [..., 0] from the dependent to
        its head, [..., 1] from the head to its dependent.
    offset
        (R,) the fixed distance that is right most often, head − dependent in words, at most
        :data:`lab.evidence.relation_cases.FARTHEST`; 0 if all cases are farther apart.
    offset_accuracy
        (R,) the share of cases in which ``offset`` is right: a head that knows places but no grammar can reach it.
    """

    relations: tuple[str, ...]
    counts: NDArray[np.int64]
    accuracy: Values
    offset: NDArray[np.int64]
    offset_accuracy: Values

    def of(self, relation: str) -> int:
        """Return the place of ``relation`` in the arrays.

        Raises ValueError if the sentences have no case of the relation.
        """
        return self.relations.index(relation)


def head_accuracies(
    model: LoadedModel,
    sentences: Iterable[Sentence],
    pieces: Pieces = "mean",
    punctuation: bool = False,
) -> HeadAccuracies:
    """Let every head of ``model`` name the other word of every dependency, and count the right words.

    The naming is done by :func:`lab.evidence.relation_cases.find_cases`.

    Raises
    ------
    ValueError
        If there is no dependency to find.
    """
    found = find_cases(model, sentences, pieces, punctuation)
    if not found.relations:
        raise ValueError("there is no dependency in these sentences.")
    counts = Counter(found.relations)
    common = tuple(sorted(counts, key=lambda relation: (-counts[relation], relation)))
    each = [found.of(relation) for relation in common]
    offsets = [best_offset(cases.distance.tolist()) for cases in each]
    return HeadAccuracies(
        relations=common,
        counts=np.array([counts[relation] for relation in common]),
        accuracy=np.stack([cases.right.mean(0) for cases in each]),
        offset=np.array([offset for offset, _ in offsets]),
        offset_accuracy=np.array([share for _, share in offsets]),
    )
