"""A way to ask: a function that makes a question about a spot in a run, and says beside it when it may be asked.

A step's file marks such a function with :func:`asks`; the lesson's check, later lessons and rooms find it there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any

from lab.analysis.heads.first_look import heaviest_key
from lab.analysis.heads.one_row import AttentionRow, attention_row
from lab.course.sentences.looks import STORY_HEAD, is_story, is_story_blank, look
from lab.questions.question import ALWAYS, Basis, Question, hashed

if TYPE_CHECKING:
    from lab.models.layer_trace import LayerTrace
    from lab.models.trace import Trace


@dataclass(frozen=True)
class Spot:
    """A run, and the place in the run that questions are about: layer, head, query and key, all from 0."""

    trace: Trace
    layer: int
    head: int
    query: int
    key: int

    @classmethod
    def of(cls, trace: Trace) -> Spot:
        """The spot of the row at which the lab looks first."""
        found = look(trace)
        layer, head, query = found.layer, found.head, found.query
        return cls(trace, layer, head, query, heaviest_key(trace, layer, head, query))

    @property
    def in_story_head(self) -> bool:
        """Whether this is the head of the course's story, in its sentence."""
        return is_story(self.trace) and (self.layer, self.head) == STORY_HEAD

    @property
    def in_story_row(self) -> bool:
        """Whether the course is written about this row: from the blank, in the head of its story."""
        return self.in_story_head and is_story_blank(self.trace, self.query)

    @property
    def traced(self) -> LayerTrace:
        return self.trace.layer(self.layer)

    @property
    def row(self) -> AttentionRow:
        """The row of the query, from its vectors to its context."""
        return attention_row(self.traced, self.head, self.query)


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

    >>> from lab.questions.question import derivable
    >>> @asks("layer", "head", basis=derivable("self-attention", "map", "the map"))
    ... def never(spot: Spot) -> Question | None:
    ...     return None
    >>> never.always, never.of
    (False, ('layer', 'head'))
    """
    if unknown := [each for each in of if each not in PLACES]:
        raise ValueError(f"A question is asked about some of {', '.join(PLACES)}, not about {', '.join(unknown)}.")
    return lambda make: Asking(make, of, basis, hint, figure)
