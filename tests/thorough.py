"""What ``make test`` tries by day, and what ``make test-all`` adds before an issue is resolved (``THOROUGH=1``).

A test that walks over many texts, models or steps walks by day over some of them, always the same; which of them is
chosen beside the test. What a page, a figure or a number is tested for is tested by day, too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeVar

import pytest

K = TypeVar("K")
T = TypeVar("T")

THOROUGH = os.environ.get("THOROUGH", "") not in ("", "0")
# Marks a test that runs only in make test-all: tests/conftest.py leaves it out by day, and says how many it left out.
at_night = pytest.mark.thorough


def some(values: Sequence[T], count: int) -> list[T]:
    """All values, or by day ``count`` of them, evenly spread from the first to the last."""
    if THOROUGH or count >= len(values):
        return list(values)
    return [values[round(place * (len(values) - 1) / max(1, count - 1))] for place in range(count)]


def these(values: Mapping[K, T], *by_day: K) -> dict[K, T]:
    """All values, or by day only those with these names. Raises KeyError for a name that does not exist."""
    return dict(values) if THOROUGH else {name: values[name] for name in by_day}
