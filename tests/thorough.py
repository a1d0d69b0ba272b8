"""What ``make test`` tries by day, and what ``make test-all`` adds before an issue is resolved (``THOROUGH=1``).

A test that walks over many texts, models or steps walks by day over some of them, always the same; which of them is
chosen beside the test. What a page, a figure or a number is tested for is tested by day, too. Where pages are run, or
models, each test has two of its cases by day, or one if a case takes long: other tests have other cases, so that
together they meet all of them.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

K = TypeVar("K")
T = TypeVar("T")

THOROUGH = os.environ.get("THOROUGH", "") not in ("", "0")
# Marks a test that runs only in make test-all: tests/conftest.py leaves it out by day, and says how many it left out.
at_night = pytest.mark.thorough
# Marks a test of which one case runs by day: each takes a second or so, and they differ in the model or the text alone.
one_by_day = pytest.mark.one_by_day


def some(values: Sequence[T], count: int) -> list[T]:
    """All values, or by day ``count`` of them, evenly spread from the first to the last."""
    if THOROUGH or count >= len(values):
        return list(values)
    return [values[round(place * (len(values) - 1) / max(1, count - 1))] for place in range(count)]


def these(values: Mapping[K, T], *by_day: K) -> dict[K, T]:
    """All values, or by day only those with these names. Raises KeyError for a name that does not exist."""
    return dict(values) if THOROUGH else {name: values[name] for name in by_day}


def examples(count: int) -> int:
    """So many examples of Hypothesis, or by day a third of them: the first ones, so always the same."""
    return count if THOROUGH else -(-count // 3)


# The folders whose tests have a few of their cases by day: they run pages or models. All others have all their cases.
_SLOW = ("pages", "lessons", "experiments", "figures", "charts", "toy", "models", "training", "benches")
_CASES = 2


def _is_slow(item: pytest.Item) -> bool:
    folder = Path(item.nodeid.partition("::")[0]).parts
    return len(folder) > 2 and folder[1] in _SLOW


def _count(item: pytest.Item) -> int | None:
    """How many of its cases a test has by day; None if it has all."""
    if item.get_closest_marker(one_by_day.name) is not None:
        return 1
    return _CASES if _is_slow(item) else None


def a_few(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests, of each slow one only a few cases: evenly spread, from a place that its name decides."""
    tests = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    kept = set[pytest.Item]()
    for name, cases in tests.items():
        count = _count(cases[0])
        if count is None or len(cases) <= count:
            kept.update(cases)
            continue
        first = zlib.crc32(name.encode()) % len(cases)
        kept.update(cases[(first + place * len(cases) // count) % len(cases)] for place in range(count))
    return [item for item in items if item in kept]
