"""What was learned between two tests."""

from __future__ import annotations


def normalised_gain(before: float, after: float) -> float | None:
    """g = (after − before) / (1 − before), Hake 1998: how much of what was missing is there; None where nothing was.

    >>> round(normalised_gain(0.52, 0.73), 2)
    0.44
    """
    return (after - before) / (1 - before) if before < 1 else None
