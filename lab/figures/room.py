"""A class's answers: the share of each option in each round."""

from __future__ import annotations

from collections.abc import Sequence

from lab.charts.marks.votes import Votes, votes
from lab.course.words import unmarked
from lab.questions.question import Question, letter
from lab.rooms.counts import Counts

NAMES = {1: "Round 1", 2: "Round 2"}


def votes_of(found: Sequence[Counts], question: Question, revealed: bool) -> str:
    """The rounds of ``question`` side by side, as HTML; the right option is marked if it is ``revealed``."""
    rounds = [Votes(NAMES[each.turn], each.options) for each in found]
    return votes(options_of(question), rounds, right=found[0].answer if revealed else None)


def options_of(question: Question) -> list[str]:
    """The options in plain text with their letters."""
    return [f"{letter(place)} · {unmarked(option.text)}" for place, option in enumerate(question.options)]
