"""The phases of a room (peer instruction, one question at a time), and its door, at which a crowd waits.

Mazur 1997 ("Peer Instruction"): everybody answers alone, the class discusses, everybody answers again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Phase(Enum):
    """The phase of a room."""

    LOBBY = "lobby"  # waits for a question
    OPEN = "open"  # round 1
    CLOSED = "closed"  # answers are counted; only the teacher sees the result
    DISCUSS = "discuss"
    OPEN_AGAIN = "open again"  # round 2, the same question
    CLOSED_AGAIN = "closed again"  # as after round 1: only the teacher sees the result
    REVEALED = "revealed"


# The phases that may follow each phase. A question that nearly everybody or hardly anybody answers right needs no
# discussion (Crouch & Mazur 2001). A round that was closed too early opens again, and a class that has written too
# little to teach a model goes on to something else.
NEXT: Mapping[Phase, tuple[Phase, ...]] = {
    Phase.LOBBY: (Phase.OPEN,),
    Phase.OPEN: (Phase.CLOSED,),
    Phase.CLOSED: (Phase.DISCUSS, Phase.REVEALED, Phase.OPEN, Phase.LOBBY),
    Phase.DISCUSS: (Phase.OPEN_AGAIN,),
    Phase.OPEN_AGAIN: (Phase.CLOSED_AGAIN, Phase.REVEALED),
    Phase.CLOSED_AGAIN: (Phase.REVEALED,),
    Phase.REVEALED: (Phase.LOBBY,),
}
# The round in which a phase takes answers; in the other phases, nobody can answer.
ROUND: Mapping[Phase, int] = {Phase.OPEN: 1, Phase.OPEN_AGAIN: 2}
# The phases in which no question waits for its answer, so that a new one may be asked.
DONE = (Phase.LOBBY, Phase.REVEALED)
# The phases with a clock: those in which the class works.
TIMED = (*ROUND, Phase.DISCUSS)
# The shares of right answers between which a discussion is worth its time (Crouch & Mazur 2001).
WORTH_DISCUSSING = (0.35, 0.70)


# Number of new people who may come in at one moment, and seconds for each person after them. A class of a hundred that
# arrives within twenty seconds comes in without a wait, and within ten seconds with a wait of six at most.
AT_ONCE, EVERY = 75, 0.5
_CLOCKS = 5.0  # seconds by which the clocks of two servers may differ
# A class of a hundred that comes in within half a minute reaches 0.9 of the limit; above this share, warn the teacher.
_UNUSUAL = 0.92


@dataclass(frozen=True)
class Door:
    """The state of a door.

    Attributes
    ----------
    is_open
        Whether the teacher lets new people in.
    busy_until
        The time until which newcomers count as recent; each newcomer adds ``EVERY`` seconds.
    """

    is_open: bool
    busy_until: float

    def wait(self, now: float) -> float:
        """Seconds until the next new person may come in; 0 if one may come in now. Times are seconds since 1970."""
        return max(0.0, self._busy_until(now) - now - (AT_ONCE - 1) * EVERY)

    def after_one_more(self, now: float) -> float:
        """The value of ``busy_until`` once one more person has come in."""
        return max(self._busy_until(now), now) + EVERY

    def is_crowded(self, now: float) -> bool:
        """Return whether people come in so fast that others wait, or soon will."""
        return self._busy_until(now) - now > _UNUSUAL * AT_ONCE * EVERY

    def _busy_until(self, now: float) -> float:
        """The value of ``busy_until``; the present if it lies further ahead than people can move it.

        Then the clock went back, and nobody may have to wait until it has caught up.
        """
        return self.busy_until if self.busy_until <= now + AT_ONCE * EVERY + _CLOCKS else now
