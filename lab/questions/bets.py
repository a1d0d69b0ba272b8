"""The one question before an experiment: two or three beliefs, between which the measurement decides.

A bet has no score. Whoever expected something else reads the finding that would have proved them right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab.questions.question import Question, Right, open_question


@dataclass(frozen=True)
class Belief:
    """One answer to a bet.

    Attributes
    ----------
    text
        The option, a few words.
    reason
        A sentence that says why somebody may believe it.
    finding
        The finding if the belief were right, after "then": "most cells of the map would be pale".
    """

    text: str
    reason: str
    finding: str


@dataclass(frozen=True)
class Bet:
    """A question about an experiment's result, before anybody has seen the result.

    Raises ValueError for another number of beliefs than two or three.
    """

    id: str
    prompt: str
    beliefs: tuple[Belief, ...]

    def __post_init__(self) -> None:
        if not 2 <= len(self.beliefs) <= 3:
            raise ValueError(f"{self.id}: a bet is between two or three beliefs, not {len(self.beliefs)}.")

    @cached_property
    def question(self) -> Question:
        """The question whose options are the beliefs; it is open, because only the measurement knows the answer."""
        return open_question(self.id, self.prompt, [belief.text for belief in self.beliefs])

    def told(self, decided: Right, choice: int | None = None) -> str:
        """Say what was measured, and what the other belief would have led to.

        The other belief is the learner's ``choice`` if it was wrong; after a right choice, it is the first of the
        others. Without a choice, only the finding is said.
        """
        right, measured = decided
        said = f"**{self.beliefs[right].text}.** {measured}"
        if choice is None:
            return said
        if choice != right:
            return f"{said} You expected “{self.beliefs[choice].text}”. In that case, {self.beliefs[choice].finding}."
        other = next(belief for at, belief in enumerate(self.beliefs) if at != right)
        return f"{said} If “{other.text}” were right, {other.finding}."


def between(interval: tuple[float, float], edges: Sequence[float]) -> int | None:
    """The gap between two edges, from 0, that holds the whole interval; None if the interval reaches over an edge."""
    low, high = (int(at) for at in np.searchsorted(edges, interval))
    return low if low == high else None
