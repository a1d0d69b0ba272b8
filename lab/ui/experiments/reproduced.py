"""Tables in Markdown, as docs/reproduced.md has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NOTHING = "–"
Lines = list[str]


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> Lines:
    """Return the lines of a table."""
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return [f"| {' | '.join(head)} |", "| --- " * len(head) + "|", *rows]


def two(number: float) -> str:
    """Write a number with two decimals."""
    return f"{number:.2f}".replace("-", "−")


def with_ends(number: float, low: float, high: float) -> str:
    """Write a number with the ends of its interval."""
    return f"{two(number)} ({two(low)} to {two(high)})"


def percent(share: float) -> str:
    """Write a share in percent, with one decimal."""
    return f"{100 * share:.1f}".replace("-", "−")
