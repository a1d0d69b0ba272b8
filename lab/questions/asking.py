"""A way to ask: a function that makes a question about a place in a run, and says beside it when it may be asked.

A step's file marks such a function with :func:`asks`; the lesson's check, later lessons and rooms find it there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from lab.questions.basis import Basis
from lab.questions.question import ALWAYS, Question, hashed
from lab.questions.spot import Spot

# The places of a spot, as a link names them.
PLACES = ("layer", "head", "token", "key_token")


@dataclass(frozen=True)
class Asking:
    """A question that a step can ask of any run.

    Attributes
    ----------
    make
        Makes the question. A function of a spot asks about a run; it returns None if the run does not decide it
        clearly. A function without arguments asks the same of every run: see :attr:`always`.
    of
        The places that decide the answer, beside the run; some of :data:`PLACES`.
    basis
        What the answer rests on: a figure that was shown, beliefs, or what the learner makes.
    hint
        What to look at, or to think of, after a first wrong answer: never the answer, nor a number in it.
    figure
        Draws the figure from which a class can answer, about any spot; it does not show the answer itself. None: the
        question needs no figure, or it is asked only where its figure is on screen.
    """

    make: Callable[..., Question | None]
    of: tuple[str, ...]
    basis: Basis
    hint: str = ""
    figure: Callable[[Spot], Any] | None = None

    @property
    def always(self) -> bool:
        """Whether the question reads no run, so that who has answered it has answered it for all."""
        return not signature(self.make).parameters

    def __call__(self, spot: Spot | None = None) -> Question | None:
        """Ask about ``spot``, which a question about no run does not need; None if the run does not decide it clearly.

        Raises ValueError for a question about a run without a spot.
        """
        if self.always:
            asked = self.make()
            return None if asked is None else replace(asked, hint=self.hint, subject=ALWAYS)
        if spot is None:
            raise ValueError(f"{self.make.__name__} asks about a run, so it needs a spot.")
        asked = self.make(spot)
        if asked is None:
            return None
        where = dict(zip(PLACES, (spot.layer, spot.head, spot.query, spot.key), strict=True))
        run = (spot.trace.model.id, spot.trace.text, spot.trace.pair)
        return replace(asked, hint=self.hint, subject=hashed(*run, *(where[each] for each in self.of)))


def asks(
    *of: str,
    basis: Basis,
    hint: str = "",
    figure: Callable[[Spot], Any] | None = None,
) -> Callable[[Callable[..., Question | None]], Asking]:
    """Mark a function that asks; the arguments are the fields of :class:`Asking`.

    >>> from lab.questions.basis import derivable
    >>> @asks("layer", "head", basis=derivable("self-attention", "map", "the map"))
    ... def never(spot: Spot) -> Question | None:
    ...     return None
    >>> never.always, never.of
    (False, ('layer', 'head'))
    """
    if unknown := [each for each in of if each not in PLACES]:
        raise ValueError(f"A question is asked about some of {', '.join(PLACES)}, not about {', '.join(unknown)}.")
    return lambda make: Asking(make, of, basis, hint, figure)
