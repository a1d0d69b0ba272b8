"""The effect of cuts on the best word, and the ways in which a token's words reach the watched token.

A cut shows what happens without a way, and not where information is: a word that is not lost without one way may still
be lost without two. So three cuts of a token are compared: of its direct way, of the ways around, and of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from lab.analysis.flow.cuts import Cuts, Way, cut_run
from lab.analysis.words.predictions import prediction_at
from lab.models.memo import once
from lab.models.trace import Trace

# Shares of the best word's probability: lost by a cut that matters, lost with the first place, hardly a change.
_HALF, _FIFTH, _TENTH = 0.5, 0.2, 0.1


@dataclass(frozen=True)
class CutEffect:
    """The effect of cuts on the word that was the best one before them.

    Attributes
    ----------
    word, was
        The vocabulary id of that word, and its probability without the cuts.
    kept
        Its probability with the cuts.
    best, leads
        The vocabulary id of the best word with the cuts, and its probability.
    """

    word: int
    was: float
    kept: float
    best: int
    leads: float

    @property
    def changed(self) -> bool:
        return self.word != self.best

    @property
    def lost(self) -> float:
        """The share of its probability that the word has lost; below 0 if it has gained."""
        return 1 - self.kept / self.was

    @property
    def matters(self) -> bool:
        """True if the word has lost half of its probability, or the first place together with a fifth of it."""
        return self.lost >= _HALF or (self.changed and self.lost >= _FIFTH)

    @property
    def is_little(self) -> bool:
        """True if the word is still the best one, and has lost and gained less than a tenth of its probability."""
        return not self.changed and abs(self.lost) < _TENTH


class Needed(Enum):
    """The ways that a word needs from a token to the watched token, as three cuts tell them."""

    DIRECT = "the direct way"
    AROUND = "a way around"
    EITHER = "either way"
    BOTH = "both ways"


@dataclass(frozen=True)
class Ways:
    """The effects of cutting one token off: its direct way, the ways around, and both."""

    direct: CutEffect
    around: CutEffect
    both: CutEffect

    @property
    def needed(self) -> Needed | None:
        """The ways that are needed; None if the word does without both, so that nothing follows for one of them."""
        if not self.both.matters:
            return None
        return {
            (True, False): Needed.DIRECT,
            (False, True): Needed.AROUND,
            (False, False): Needed.EITHER,
            (True, True): Needed.BOTH,
        }[self.direct.matters, self.around.matters]

    @property
    def costlier(self) -> Way | None:
        """The way whose cut takes at least a fifth of the probability more than the other's; None if there is none."""
        apart = self.direct.lost - self.around.lost
        if abs(apart) < _FIFTH:
            return None
        return Way.DIRECT if apart > 0 else Way.AROUND


@once
def effect(trace: Trace, watched: int, cuts: Cuts) -> CutEffect:
    """Return the effect of ``cuts`` on the best word at ``watched``.

    Raises ValueError for a model without a vocabulary head.
    """
    before, after = (prediction_at(run, watched, None) for run in (trace, cut_run(trace, watched, cuts)))
    word, best = int(before.best(1)[0]), int(after.best(1)[0])
    was, kept, leads = before.probabilities[word], after.probabilities[word], after.probabilities[best]
    return CutEffect(word, float(was), float(kept), best, float(leads))


def ways(trace: Trace, watched: int, token: int) -> Ways:
    """Return the effects of the three cuts of ``token``, with the errors of :func:`effect`."""
    return Ways(*(effect(trace, watched, Cuts().cut(token, way)) for way in (Way.DIRECT, Way.AROUND, Way.BOTH)))
