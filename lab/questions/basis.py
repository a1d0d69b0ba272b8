"""Why a question can be answered: one of three kinds, and what it rests on.

A question that rests on nothing can only be guessed, so a step's file cannot ask it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["derivable", "bet", "own"]


@dataclass(frozen=True)
class Basis:
    """What the answer to a question rests on. Made by :func:`derivable`, :func:`bet` or :func:`own`.

    Attributes
    ----------
    kind
        ``derivable``: what is on screen, or was in an earlier step, is enough. ``bet``: people believe two or three
        things, and the answer decides between them. ``own``: the learner makes something, and the lab looks at it.
    of
        Derivable: the ids of lesson and step, and the figure or the sentence there. A bet: the beliefs. The learner's
        own: what is wanted.
    """

    kind: Kind
    of: tuple[str, ...]


def derivable(lesson: str, step: str, shown: str) -> Basis:
    """The answer follows from what a step shows: ``shown`` names its figure or its sentence."""
    return Basis("derivable", (lesson, step, shown))


def bet(*beliefs: str) -> Basis:
    """The answer decides between two or three beliefs, each a sentence that somebody may hold.

    Raises ValueError for another number of beliefs.
    """
    if not 2 <= len(beliefs) <= 3:
        raise ValueError(f"A bet is between two or three beliefs, not {len(beliefs)}.")
    return Basis("bet", beliefs)


def own(wanted: str) -> Basis:
    """The learner makes something that shows what is ``wanted``, and the lab looks whether it does."""
    return Basis("own", (wanted,))
