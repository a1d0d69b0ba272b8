"""A way to ask: a function that makes a question about a place in a run, and says beside it when it may be asked.

A step's file marks such a function with :func:`asks`; the lesson's check, later lessons and rooms find it there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lab.questions.basis import Basis
from lab.questions.question import Question, hashed
from lab.questions.returning import Spot

# The places of a spot, as a link names them.
PLACES = ("layer", "head", "token", "key_token")


@dataclass(frozen=True)
class Asking:
    """A question that a step can ask of any run.

    Attributes
    ----------
    make
        Makes the question about a spot; None if the run does not decide it clearly.
    of
        The places that decide the answer, beside the run; some of :data:`PLACES`.
    basis
        What the answer rests on: a figure that was shown, beliefs, or what the learner makes.
    hint
        What to look at, or to think of, after a first wrong answer: never the answer, nor a number in it.
    returns
        Whether a later lesson may ask it again, about another sentence, and how soon: 0 never, 1 before the others.
    always
        Whether the question and its answer are the same for every run: who has answered it, has answered it for all.
    for_a_class
        Whether a class may be asked it although no later lesson asks it: then another sentence is in sight, not the
        figure.
    figure
        Draws the figure from which a class can answer, about any spot; it does not show the answer itself. None: the
        question needs no figure, or it is asked only where its figure is on screen.
    """

    make: Callable[[Spot], Question | None]
    of: tuple[str, ...]
    basis: Basis
    hint: str = ""
    returns: int = 0
    for_a_class: bool = False
    figure: Callable[[Spot], Any] | None = None
    always: bool = False

    def __call__(self, spot: Spot) -> Question | None:
        """Ask about ``spot``; None if the run does not decide the question clearly."""
        asked = self.make(spot)
        if asked is None:
            return None
        if self.always:
            return replace(asked, hint=self.hint, subject="always")
        where = dict(zip(PLACES, (spot.layer, spot.head, spot.query, spot.key), strict=True))
        run = (spot.trace.model.id, spot.trace.text, spot.trace.pair)
        return replace(asked, hint=self.hint, subject=hashed(*run, *(where[each] for each in self.of)))


def asks(
    *of: str,
    basis: Basis,
    hint: str = "",
    returns: int = 0,
    for_a_class: bool = False,
    figure: Callable[[Spot], Any] | None = None,
    always: bool = False,
) -> Callable[[Callable[[Spot], Question | None]], Asking]:
    """Mark a function that asks about a spot; the arguments are the fields of :class:`Asking`.

    >>> from lab.questions.basis import derivable
    >>> @asks("layer", "head", basis=derivable("self-attention", "map", "the map"), returns=1)
    ... def never(spot: Spot) -> Question | None:
    ...     return None
    >>> never.returns, never.for_a_class
    (1, False)
    """
    if unknown := [each for each in of if each not in PLACES]:
        raise ValueError(f"A question is asked about some of {', '.join(PLACES)}, not about {', '.join(unknown)}.")
    return lambda make: Asking(make, of, basis, hint, returns, for_a_class, figure, always)
