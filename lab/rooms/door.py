"""The door of a room: open or closed, and how fast new people come in. A class comes in at once, a crowd waits."""

from __future__ import annotations

from dataclasses import dataclass

AT_ONCE = 50  # new people who come in at one moment
EVERY = 0.5  # seconds for each one after them: in half a minute 110 come in, in whatever order they arrive
# A class of a hundred that comes in within half a minute uses 0.9 of this; beyond it the teacher is told.
_UNUSUAL = 0.92


@dataclass(frozen=True)
class Door:
    """How a door is now.

    Attributes
    ----------
    is_open
        Whether the teacher lets new people in.
    busy_until
        When nobody would be counted as new any more if nobody else came: ``EVERY`` seconds for each who came in.
    """

    is_open: bool
    busy_until: float

    def wait(self, now: float) -> float:
        """Seconds until the next new person may come in; 0 if they may now. Times are seconds since 1970."""
        return max(0.0, self.busy_until - now - (AT_ONCE - 1) * EVERY)

    def after_one_more(self, now: float) -> float:
        """``busy_until`` once somebody has come in."""
        return max(self.busy_until, now) + EVERY

    def is_crowded(self, now: float) -> bool:
        """Whether people come in so fast that others wait, or soon will."""
        return self.busy_until - now > _UNUSUAL * AT_ONCE * EVERY
