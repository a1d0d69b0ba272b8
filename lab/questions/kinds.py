"""The kinds of question: which outcome holds, and which of many numbers is the largest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lab.course.words import with_minus
from lab.questions.question import MARGIN, Option, Question, clear_winner, shuffled


def which_holds(id: str, prompt: str, why: str, outcomes: Mapping[str, bool], *, mixed: bool = False) -> Question:
    """Ask which of ``outcomes`` is true; one explanation serves all options.

    Outcomes that have an order keep it. All others must be ``mixed``, so that the right one is not always the first.
    """
    options = tuple(Option(text, why, correct=right) for text, right in outcomes.items())
    return shuffled(id, prompt, options) if mixed else Question(id, prompt, options)


def rises_or_falls(change: float) -> dict[str, bool]:
    """The possible outcomes of a change of a probability, for :func:`which_holds`."""
    rises, falls = change > MARGIN, change < -MARGIN
    same = not (rises or falls)
    return {"It rises by more than 0.05": rises, "It stays within 0.05": same, "It falls by more than 0.05": falls}


def ranked(
    id: str,
    prompt: str,
    values: Sequence[float],
    name: Callable[[int], str],
    why: Callable[[int, int], str],
) -> Question | None:
    """Ask which of ``values`` is the largest; the wrong options are the next three.

    ``name(index)`` names a value, and ``why(index, best)`` explains it. None without a clear winner, so that no two
    options are right.
    """
    if clear_winner(values) is None:
        return None
    order = sorted(range(len(values)), key=lambda i: -values[i])[:4]
    options = [Option(name(i), with_minus(why(i, order[0])), correct=i == order[0]) for i in order]
    return shuffled(id, prompt, options)
