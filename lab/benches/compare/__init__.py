"""Compare: two runs side by side, and their differences."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from lab.course.words import quoted
from lab.models.trace import Trace
from lab.ui import parameters
from lab.ui.bench import BenchParts
from lab.ui.page import BenchPage
from lab.ui.parameters import TOY
from lab.ui.texts import untouched

# Token 5 is the verb in both sentences: if it is hidden, its form depends on the noun before it. In GPT-2, the
# prediction for the next token changes.
EXAMPLE = ("The old dogs were sleeping in the garden.", "The old dog was sleeping in the garden.")


@dataclass(frozen=True)
class CompareView:
    """The page, and the run A, beside which the learner chooses another."""

    page: BenchPage
    a: Trace


def show_example(page: BenchPage) -> BenchPage:
    """Show the lab's example as A until the learner types a text, either in the sidebar or as B."""
    chosen = page.selection
    others = (chosen[parameters.OTHER_TEXT], chosen[parameters.OTHER_PAIR])
    if not untouched() or any(text.strip() for text in others) or chosen[parameters.MODE] == TOY:
        return page
    st.caption(
        f"**An example** is on screen: A is {quoted(EXAMPLE[0])} until you type a sentence of your own in the sidebar."
    )
    return replace(page, selection=chosen.but({parameters.TEXT: EXAMPLE[0], parameters.PAIR: ""}))


def look(page: BenchPage, trace: Trace, step: str) -> CompareView:
    """Take the run of the page as A."""
    return CompareView(page, trace)


PARTS: BenchParts[CompareView] = BenchParts(look=look, opened=show_example)
