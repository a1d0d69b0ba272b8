"""The gain in knowledge between two tests."""

from __future__ import annotations


def normalised_gain(before: float, after: float) -> float | None:
    """g = (after − before) / (1 − before): the share of the missing points gained (Hake 1998); None if ``before`` is 1.

    >>> round(normalised_gain(0.52, 0.73), 2)
    0.44
    """
    return (after - before) / (1 - before) if before < 1 else None
