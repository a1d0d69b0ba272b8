"""The phases of a room, and the steps between them: peer instruction, one question at a time.

Mazur 1997 ("Peer Instruction"): everybody answers alone, the class discusses, everybody answers again.
"""

from __future__ import annotations

from collections.abc import Mapping
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
