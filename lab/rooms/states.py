"""What a room does now, and what it can do next: peer instruction, one question at a time.

Mazur 1997 ("Peer Instruction"): everybody answers alone, the class discusses, everybody answers again. Smith et al.
2009 ("Why Peer Discussion Improves Student Performance on In-Class Concept Questions") add a third question of the same
kind, answered alone: it shows whether the discussion taught anything, or whether a neighbour's answer was copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class Phase(Enum):
    """What a room does now."""

    LOBBY = "lobby"  # waits for a question
    OPEN = "open"  # round 1
    CLOSED = "closed"  # counted; only the teacher knows how it came out
    DISCUSS = "discuss"
    OPEN_AGAIN = "open again"  # round 2, the same question
    REVEALED = "revealed"
    THIRD = "third"  # round 3, a question of the same kind about another sentence
    THIRD_REVEALED = "third revealed"


# What may follow what. A question that nearly all or hardly any answer right needs no discussion (Crouch & Mazur 2001),
# and some questions have no third one.
NEXT: Mapping[Phase, tuple[Phase, ...]] = {
    Phase.LOBBY: (Phase.OPEN,),
    Phase.OPEN: (Phase.CLOSED,),
    Phase.CLOSED: (Phase.DISCUSS, Phase.REVEALED),
    Phase.DISCUSS: (Phase.OPEN_AGAIN,),
    Phase.OPEN_AGAIN: (Phase.REVEALED,),
    Phase.REVEALED: (Phase.THIRD, Phase.LOBBY),
    Phase.THIRD: (Phase.THIRD_REVEALED,),
    Phase.THIRD_REVEALED: (Phase.LOBBY,),
}
# The round that can be voted in; in every other phase none can.
ROUND: Mapping[Phase, int] = {Phase.OPEN: 1, Phase.OPEN_AGAIN: 2, Phase.THIRD: 3}
# From here on everybody may see how these rounds came out, and which option was right.
SHOWN: Mapping[Phase, tuple[int, ...]] = {
    Phase.REVEALED: (1, 2),
    Phase.THIRD: (1, 2),
    Phase.THIRD_REVEALED: (1, 2, 3),
}
# There is a question, and its answer is not shown yet.
ASKS = frozenset(Phase) - {Phase.LOBBY, Phase.REVEALED, Phase.THIRD_REVEALED}
# Between these shares of right answers a discussion is worth its time (Crouch & Mazur 2001).
WORTH_DISCUSSING = (0.35, 0.70)
