"""The claims of an experiment as one table, on its page, as a frame, in docs/reproduced.md; cases of two kinds."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pandas as pd
import streamlit as st

from lab.course.words import in_html, unmarked, with_minus
from lab.evidence.reasons import IN_SHORT, LABELS, why
from lab.evidence.verdicts import Judged, Verdict

NOTHING = "–"
Lines = list[str]
# A head’s name, such as 5-11, whose hyphen ends no line in a narrow cell.
_HEAD, _UNBROKEN = re.compile(r"\b\d+-\d+\b"), r'<span class="head">\g<0></span>'
_HEADINGS = ("claim", "published", "here", "untrained twin", "n", "verdict", "why")
# How a verdict is coloured: the claim holds, it does not, or the result does not say; a claim that holds no better than
# a rule may hold for another reason.
_HOLDS = {Verdict.SAME, Verdict.LARGER, Verdict.SMALLER}
_OPEN = {Verdict.INCONCLUSIVE, Verdict.NOT_TESTABLE, Verdict.NO_BETTER_THAN_A_RULE}


@dataclass(frozen=True)
class ClaimLine:
    """A published claim and its test on a model; the texts are the lab's Markdown.

    Attributes
    ----------
    claim
        The claim, in a few words.
    published
        The paper's figure; :data:`NOTHING` if it reports none on this scale.
    here, twin
        The figures of the model and of its untrained twin, with their 95 % intervals.
    count
        The number of cases; 0 if nothing was measured.
    judged
        The verdict.
    reason
        The reason of the verdict if the experiment alone knows it; "" for the reason that the rule gives.
    """

    claim: str
    published: str
    here: str
    twin: str
    count: int
    judged: Judged
    reason: str = ""

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return LABELS[self.judged.verdict]

    @property
    def cells(self) -> tuple[str, ...]:
        """The line's texts, in the order of the table's columns."""
        told = self.reason or why(self.judged)
        return (
            self.claim,
            self.published,
            self.here,
            self.twin,
            f"{self.count:,}" if self.count else NOTHING,
            self.verdict,
            with_minus(told),
        )


def number(value: float, digits: int = 2) -> str:
    """Write a number with a true minus sign, and none before a rounded 0."""
    return with_minus(f"{value:z.{digits}f}")


def with_ends(value: float, low: float, high: float, digits: int = 2) -> str:
    """Write a number with the ends of its interval."""
    return f"{number(value, digits)} ({number(low, digits)} to {number(high, digits)})"


def frame(lines: Iterable[ClaimLine]) -> pd.DataFrame:
    """Return the table for a file."""
    return pd.DataFrame([[unmarked(each) for each in line.cells] for line in lines], columns=list(_HEADINGS))


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Lines:
    """Return the lines of a table in Markdown."""
    told = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", "| --- " * len(head) + "|", *told]


def reproduced(lines: Iterable[ClaimLine]) -> Lines:
    """Return the table as docs/reproduced.md has it."""
    return markdown(_HEADINGS, (line.cells for line in lines))


def show_claims(lines: Sequence[ClaimLine], note: str) -> None:
    """Draw the table, the meaning of each verdict in it, and a ``note``; on a phone, each claim is a block.

    A column is left out if no paper has a figure for it.
    """
    named = [name for name in _HEADINGS if name != "published" or any(line.published != NOTHING for line in lines)]
    head = "".join(f"<th>{each}</th>" for each in named)
    rows = "".join(_row(line, named) for line in lines)
    st.html(f'<table class="claims"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>')
    given = dict.fromkeys(line.judged.verdict for line in lines)
    told = " ".join(f"*{LABELS[each].capitalize()}* means {IN_SHORT[each]}." for each in given)
    st.caption(f"{note} {told}")


def _row(line: ClaimLine, named: Sequence[str]) -> str:
    kind = "holds" if line.judged.verdict in _HOLDS else "open" if line.judged.verdict in _OPEN else "fails"
    texts = (_HEAD.sub(_UNBROKEN, in_html(text)) for text in line.cells)
    cells = [
        f'<td class="{kind if name == "verdict" else ""}" data-name="{html.escape(name)}">{text}</td>'
        for name, text in zip(_HEADINGS, texts, strict=True)
        if name in named
    ]
    return f"<tr>{''.join(cells)}</tr>"


Case = TypeVar("Case")
AT_ONCE = 3  # cases of each kind


def two_kinds(
    kinds: Mapping[str, Sequence[Case]], draw: Callable[[Case, str], None], others: str, none: str = "There are none."
) -> list[Case]:
    """Draw :data:`AT_ONCE` cases of each kind under the kind's title, in their order; returns the cases drawn.

    ``draw`` gets a case, and a prefix that makes the keys of the case's widgets unique. A button, labelled ``others``,
    turns to the next cases if a kind has more cases; ``none`` is shown under the title of a kind without cases.
    """
    name, shown = f"_experiment_turns.{others}", []
    first = st.session_state.get(name, 0) * AT_ONCE
    for column, (title, cases) in zip(st.columns(len(kinds)), kinds.items(), strict=True):
        here = [cases[(first + at) % len(cases)] for at in range(min(AT_ONCE, len(cases)))]
        with column:
            st.subheader(title)
            if not here:
                st.markdown(none)
            for at, case in enumerate(here):
                draw(case, f"{title}.{at}")
        shown += here
    if any(len(cases) > AT_ONCE for cases in kinds.values()):
        st.button(others, icon=":material/refresh:", key="_experiment_others", on_click=_turn, args=(name,))
    return shown


def _turn(name: str) -> None:
    st.session_state[name] = st.session_state.get(name, 0) + 1
