"""A class's answers: the share of each option in each round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from lab.course.words import number_of, unmarked
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


@dataclass(frozen=True)
class Votes:
    """The answers of one round.

    name      the round's name
    counts    the number of answers for each option
    """

    name: str
    counts: tuple[int, ...]


def votes(options: Sequence[str], rounds: Sequence[Votes], *, right: int | None = None) -> str:
    """HTML for the shares of each option in each round, as a table that a screen reader reads.

    ``options`` are plain texts. ``right``, from 0, marks the right option by colour and by a tick, and puts it first;
    without it, nothing tells the options apart. Raises ValueError for a round with another number of options, or
    without answers.
    """
    for each in rounds:
        if len(each.counts) != len(options) or sum(each.counts) == 0:
            raise ValueError(f"votes: {len(options)} options, and answers to them, in each round.")
    order = sorted(range(len(options)), key=lambda place: place != right)
    said = [f"{escape(each.name)}: {number_of(sum(each.counts), 'answer')}" for each in rounds]
    head = "".join(f'<th scope="col">{each}</th>' for each in said)
    rows = "".join(_row(options[place], [_cell(each, place) for each in rounds], place == right) for place in order)
    return f'<table class="votes"><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _row(option: str, cells: Sequence[str], right: bool) -> str:
    tick = '<span class="tick" aria-label="right">✓ </span>' if right else ""
    mark = ' class="right"' if right else ""
    return f'<tr{mark}><th scope="row"><bdi>{tick}{escape(option)}</bdi></th>{"".join(cells)}</tr>'


def _cell(found: Votes, place: int) -> str:
    share = found.counts[place] / sum(found.counts)
    return (
        f'<td data-round="{escape(found.name, quote=True)}">'
        f'<span class="bar"><i style="width:{100 * share:.1f}%"></i></span>'
        f'<span class="share">{share:.0%}</span></td>'
    )
