"""Teach a classifier by examples: what it says of all sentences, how good it is with how many, and why it answers so.

The model does not change. Only a weight for each number of a sentence's vector is learned (logistic regression).

A class teaches half of the sentences of each label, and tests the classifier on the other half.

The attention of [CLS] is given beside the reason for an answer. It is often taken for a reason, but it shows none
(Jain & Wallace 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.analysis.flow.cuts import Cuts, Way, cut_run
from lab.analysis.tasks.logistic import Array, centred, fit, folds, probability
from lab.analysis.tasks.sentence_vectors import mark_of
from lab.analysis.tasks.tuning import Tuned
from lab.models.trace import Trace

_DRAWS, _SEED = 16, 0
_FIRST = 2  # the fewest examples: one of each label


@dataclass(frozen=True)
class Examples:
    """N sentences, some of them labelled.

    Attributes
    ----------
    marks
        For each sentence the learner's label (true for the first label), or None.
    truth
        For each sentence the label that counts as right, or None if nobody knows it.
    groups
        A number for each sentence; sentences with one number are about one thing.
    """

    marks: tuple[bool | None, ...]
    truth: tuple[bool | None, ...]
    groups: tuple[int, ...]

    @property
    def labelled(self) -> NDArray[np.intp]:
        return np.array([i for i, mark in enumerate(self.marks) if mark is not None], dtype=np.intp)

    @property
    def ready(self) -> bool:
        """Whether both labels were given, so that a classifier can learn."""
        return {mark for mark in self.marks if mark is not None} == {True, False}

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which sentences have a label that counts as right: the truth or, without it, the learner's."""
        return np.array([each is not None for each in self._right])

    @property
    def right(self) -> NDArray[np.bool_]:
        """The label that counts as right, (N,); false where nobody knows it."""
        return np.array([bool(each) for each in self._right])

    @property
    def _right(self) -> list[bool | None]:
        return [mark if truth is None else truth for mark, truth in zip(self.marks, self.truth, strict=True)]


def products_of(vectors: NDArray[np.float32]) -> Array:
    """Return the dot products of all sentences' vectors (N, d), centred and of length 1 on average: (N, N)."""
    x = centred(vectors)
    found: Array = x @ x.T
    return found


def learned(products: Array, examples: Examples) -> Array | None:
    """Return the probability of the first label for every sentence, (N,), after all labelled ones were learned.

    None if there are not examples of both labels.
    """
    return _said(products, products, examples) if examples.ready else None


def of_new(vectors: NDArray[np.float32], examples: Examples, fresh: NDArray[np.float32]) -> float:
    """Return the probability of the first label for a new sentence with the vector ``fresh`` (d,).

    The classifier of :func:`learned` gives it, and the new sentence does not change this classifier. Raises ValueError
    if there are not examples of both labels.
    """
    x = centred(vectors)
    return float(_said(x @ x.T, centred(vectors, fresh[None]) @ x.T, examples)[0])


def _said(products: Array, asked: Array, examples: Examples) -> Array:
    """Let the classifier learn all labelled sentences; return its probabilities for others with products ``asked``."""
    marks = np.array([bool(mark) for mark in examples.marks])
    return probability(fit(products, marks, examples.labelled[None]).scores(asked)[0])


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """How good a classifier is with so many examples: the share right among sentences that it has not seen.

    ``mean``, ``low`` and ``high``, each (sizes,), are over draws of the examples: their mean, and four fifths of them.
    """

    sizes: tuple[int, ...]
    mean: Array
    low: Array
    high: Array


def sizes_to(count: int) -> tuple[int, ...]:
    """Numbers of examples: 2, 4, 8 … and ``count``."""
    doubled = [_FIRST << power for power in range(12)]
    return (*(each for each in doubled if each < count), count) if count >= _FIRST else ()


def rise(products: Array, examples: Examples) -> LearningCurve | None:
    """Learn from 2, 4, 8 … of the labelled sentences, drawn again and again; test on all others with a known label.

    A draw takes whole groups as far as it can, and both labels. None if there is nothing to learn from, or to test on.
    """
    if not examples.ready:
        return None
    known, right = examples.known, examples.right
    marks = np.array([bool(mark) for mark in examples.marks])
    sizes, rows = [], []
    for size in sizes_to(len(examples.labelled)):
        drawn = _draws(examples, size)
        if drawn is None:
            continue
        tested = np.repeat(known[None], len(drawn), 0)
        np.put_along_axis(tested, drawn, False, axis=1)
        if not tested.any(1).all():
            continue
        hits = (fit(products, marks, drawn).scores(products) > 0) == right
        sizes.append(size)
        rows.append((hits & tested).sum(1) / tested.sum(1))
    if not sizes:
        return None
    low, high = (np.array([np.quantile(row, share) for row in rows]) for share in (0.1, 0.9))
    return LearningCurve(tuple(sizes), np.array([row.mean() for row in rows]), low, high)


def _draws(examples: Examples, size: int) -> NDArray[np.intp] | None:
    """Draw ``size`` labelled sentences, several times, (draws, size): group after group, with both labels in each.

    The whole set is one draw. None if no draw has both labels.
    """
    labelled = examples.labelled
    if size == len(labelled):
        return labelled[None]
    generator = np.random.Generator(np.random.PCG64((_SEED, size)))
    found = []
    for _ in range(4 * _DRAWS):
        order = _by_group(labelled, examples.groups, generator)[:size]
        if len({examples.marks[i] for i in order}) == 2:
            found.append(order)
        if len(found) == _DRAWS:
            break
    return np.array(found, dtype=np.intp) if found else None


def _by_group(labelled: NDArray[np.intp], groups: Sequence[int], generator: np.random.Generator) -> list[int]:
    """The labelled sentences in an order of chance in which the sentences of a group follow each other."""
    of: dict[int, list[int]] = {}
    for i in labelled.tolist():
        of.setdefault(groups[i], []).append(i)
    return [i for place in generator.permutation(len(of)) for i in list(of.values())[place]]


@dataclass(frozen=True)
class Standing:
    """How the classifier stands now: the labelled sentences, and how many of the others it gets right.

    ``tested`` is the number of sentences that it has not learned from and whose label is known. ``left_out`` says that
    these are the labelled sentences themselves, each judged by a classifier that has learned others.
    """

    labelled: int
    right: int
    tested: int
    left_out: bool = False

    @property
    def share(self) -> float:
        return self.right / self.tested if self.tested else 0.0


def standing(products: Array, examples: Examples) -> Standing | None:
    """Count what the classifier that has learned all labelled sentences says rightly of the others.

    If all known sentences are labelled, each is judged by a classifier that has learned others.
    """
    said = learned(products, examples)
    if said is None:
        return None
    labelled = examples.labelled
    rest = examples.known.copy()
    rest[labelled] = False
    if rest.any():
        hits = ((said > 0.5) == examples.right)[rest]
        return Standing(len(labelled), int(hits.sum()), int(rest.sum()))
    return _left_out(products, examples)


def _left_out(products: Array, examples: Examples) -> Standing:
    """Judge the labelled sentences in tenths, by classifiers that have learned the others; groups stay together."""
    labelled = examples.labelled
    marks = np.array([bool(mark) for mark in examples.marks])
    fold = folds([examples.groups[i] for i in labelled])
    right = tested = 0
    for each in np.unique(fold):
        own, others = labelled[fold == each], labelled[fold != each]
        if len(set(marks[others].tolist())) == 2:
            scores = fit(products, marks, others[None]).scores(products[own])[0]
            right += int(((scores > 0) == marks[own]).sum())
            tested += len(own)
    return Standing(len(labelled), right, tested, left_out=True)


def partners(examples: Examples) -> NDArray[np.bool_]:
    """Return which sentences have no label, but are about a thing of which another sentence has one, (N,)."""
    marked = {group for group, mark in zip(examples.groups, examples.marks, strict=True) if mark is not None}
    pairs = zip(examples.groups, examples.marks, strict=True)
    return np.array([mark is None and group in marked for group, mark in pairs])


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


_MOST = 24  # words that are cut: each is a run of its own


@dataclass(frozen=True, eq=False)
class Turning:
    """What a classifier says of a text, and what it says when one token is cut off from all others.

    Attributes
    ----------
    score
        Of the plain text; above 0 for the first label.
    places
        The tokens that were cut, from 0: all that are not special, at most so many as are affordable.
    without
        (places,), the score without each.
    attention
        (places,), the share that [CLS] gives to each in the last layer, as a mean over the heads.
    """

    score: float
    places: tuple[int, ...]
    without: NDArray[np.float64]
    attention: NDArray[np.float64]

    @property
    def turns(self) -> tuple[int, ...]:
        """The tokens whose cut turns the answer."""
        pairs = zip(self.places, self.without, strict=True)
        return tuple(place for place, score in pairs if (score > 0) != (self.score > 0))

    @property
    def matters(self) -> int:
        """The token whose cut changes the score most against the answer."""
        against = (self.score - self.without) * np.sign(self.score)
        return self.places[int(against.argmax())]

    @property
    def looked_at(self) -> int:
        """The token to which [CLS] gives most."""
        return self.places[int(self.attention.argmax())]


def score_of(trace: Trace, tuned: Tuned) -> float:
    """Return the classifier's score of a run: above 0 for the first label."""
    return float(tuned.head.score(trace.output[mark_of(trace.encoding, trace.model.config.causal)]))


def turning(trace: Trace, tuned: Tuned) -> Turning | None:
    """Cut each word of a run off from all others, in all layers; None for a text without a word.

    ``trace`` is the run of the text through the trained model.
    """
    mark = mark_of(trace.encoding, trace.model.config.causal)
    places = tuple(i for i, special in enumerate(trace.encoding.special) if not special and i != mark)[:_MOST]
    if not places:
        return None
    cuts = (cut_run(trace, mark, Cuts().cut(place, Way.BOTH)) for place in places)
    without = np.array([score_of(each, tuned) for each in cuts])
    attention = trace.attention[-1].mean(0)[mark].numpy().astype(np.float64)
    return Turning(score_of(trace, tuned), places, without, attention[list(places)])
