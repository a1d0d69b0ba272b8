"""The door of a room: open or closed, and how fast new people come in.

A class comes in at once, while a crowd has to wait.
"""

from __future__ import annotations

from dataclasses import dataclass

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
