"""Why a classifier gives its answer: cut one word after the other off from the rest, and see what turns the answer.

Beside it the attention of [CLS], which is often taken for a reason and is none (Jain & Wallace 2019).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.analysis.flow.cuts import Cuts, Way, cut_run
from lab.analysis.tasks.sentence_vectors import mark_of
from lab.analysis.tasks.tuning import Tuned
from lab.models.trace import Trace

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
